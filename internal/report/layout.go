package report

// layout is the page's template. Shapes are drawn in SVG that stretches with the page;
// texts stand beside them in HTML, so that they keep their size on a telephone.
const layout = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>
:root{--ink:#1b2430;--dim:#5c6875;--line:#d8dee5;--paper:#ffffff;--soft:#f4f6f8;--curve:#1f6fb2;--cap:#b3261e;--second:#a85d00;--good:#1b6e3c;--heat:31,111,178}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf0;--dim:#9aa7b4;--line:#323c47;--paper:#12171d;--soft:#1a2129;--curve:#6db3f2;--cap:#ff8a80;--second:#f2b45c;--good:#7fd6a0;--heat:90,160,225}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1160px;margin:0 auto;padding:20px 16px 48px}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 6px}
h2{font-size:1.1rem;margin:36px 0 4px}
p{margin:0 0 10px;max-width:72ch}
.dim,figcaption small,.note{color:var(--dim)}
.verdict{display:inline-block;margin:8px 0 4px;padding:5px 12px;border:2px solid;border-radius:6px;font-weight:600}
.good{color:var(--good)}.bad{color:var(--cap)}
.stats{display:grid;grid-template-columns:repeat(4,1fr);gap:10px;margin:16px 0}
.stats div{background:var(--soft);border-radius:6px;padding:9px 12px}
.stats b{display:block;font-size:1.25rem;line-height:1.3;font-variant-numeric:tabular-nums}
.stats small{color:var(--dim);display:block;line-height:1.35}
figure{margin:18px 0 26px}
figcaption{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 16px;margin-bottom:12px;font-weight:600}
figcaption small{font-weight:400;font-size:.87rem}
.plot{display:grid;grid-template-columns:54px 1fr;column-gap:8px}
.ticks{display:flex;flex-direction:column;justify-content:space-between;text-align:right;font-size:12px;line-height:1;color:var(--dim);font-variant-numeric:tabular-nums}
.ticks span{height:0;display:flex;align-items:center;justify-content:flex-end}
.draw{position:relative;height:170px;border-left:1px solid var(--line);border-bottom:1px solid var(--line)}
.draw svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.draw i{position:absolute;top:0;bottom:0;border-left:1px dashed var(--line)}
.dates{grid-column:2;position:relative;height:18px;font-size:12px;color:var(--dim)}
.dates span{position:absolute;top:3px;white-space:nowrap;padding-left:3px}
path,line{vector-effect:non-scaling-stroke}
.curve{fill:none;stroke:var(--curve);stroke-width:1.6;stroke-linejoin:round}
.area{fill:var(--curve);opacity:.13;stroke:none}
.second{fill:none;stroke:var(--second);stroke-width:1.6;stroke-dasharray:5 3;stroke-linejoin:round}
.two{color:var(--second)}
.bars{display:grid;grid-template-columns:max-content 1fr;gap:3px 10px;margin:12px 0;font-size:13px;font-variant-numeric:tabular-nums}
.bars>span{grid-row:span 2;align-self:center}
.bars div{display:flex;align-items:center;gap:6px;line-height:1.15}
.bars i{height:11px;border-radius:2px;background:var(--curve);flex:none}
.bars i.b{background:repeating-linear-gradient(135deg,var(--second) 0 4px,transparent 4px 6px)}
.bars .end{margin-bottom:6px}
.legend{font-size:13px;margin:6px 0 0}
.legend b{font-weight:600}
.cap{stroke:var(--cap);stroke-width:1.5;stroke-dasharray:6 4}
.key{color:var(--cap)}
.scroll{overflow-x:auto;margin:10px 0 0}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:4px 8px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--dim);vertical-align:bottom}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--paper)}
.heat td,.heat th{padding:3px 6px}
.heat td:not(:first-child){min-width:34px;text-align:center}
.heat th:not(:first-child){text-align:center}
.heat td:last-child{font-weight:600}
tr.out td{color:var(--cap);font-weight:600}
footer{margin-top:40px;padding-top:12px;border-top:1px solid var(--line);color:var(--dim);font-size:13px;overflow-wrap:anywhere}
@media (max-width:560px){main{padding:14px 12px 40px}.stats{grid-template-columns:1fr 1fr}.draw{height:140px}th,td{padding:4px}table{font-size:12.5px}.thin{display:none}.bars{font-size:12px;grid-template-columns:minmax(0,50%) 1fr}.bars>span{overflow-wrap:anywhere}}
` + regionsStyle + `</style>
</head>
<body>
<main>
<h1>{{.Title}}</h1>
<p class="dim">{{.Lead}}</p>
<p class="verdict{{if .Neutral}}{{else if .Good}} good{{else}} bad{{end}}">{{if .Neutral}}{{else if .Good}}✓ {{else}}✗ {{end}}{{.Verdict}}</p>
<div class="stats">{{range .Stats}}
<div><small>{{.Name}}</small><b>{{.Value}}</b>{{if .Note}}<small>{{.Note}}</small>{{end}}</div>{{end}}
</div>
{{range .Parts}}<section>
<h2>{{.Title}}</h2>
{{if .Note}}<p class="note">{{.Note}}</p>{{end}}
{{range $c := .Curves}}<figure>
<figcaption><span>{{$c.Name}}</span><small>{{$c.Peak}}{{if $c.SecondName}} · <span class="two">- - {{$c.SecondName}}</span>{{end}}{{if $c.CapAt}} · <span class="key">- - limit {{$c.CapAt}}</span>{{end}}</small></figcaption>
<div class="plot">
<div class="ticks"><span>{{index $c.Tops 0}}</span><span>{{index $c.Tops 1}}</span><span>{{index $c.Tops 2}}</span></div>
<div class="draw">{{range $c.Breaks}}<i style="left:{{left $c .At}}%"></i>{{end}}
<svg viewBox="0 0 1000 200" preserveAspectRatio="none" role="img" aria-label="{{$c.Name}}: {{$c.Peak}}"><path class="area" d="{{area $c}}"/><path class="curve" d="{{line $c}}"/>{{if $c.Second}}<path class="second" d="{{second $c}}"/>{{end}}{{with capY $c}}<line class="cap" x1="0" x2="1000" y1="{{.}}" y2="{{.}}"/>{{end}}</svg>
</div>
<div class="dates">{{range $i, $b := $c.Breaks}}<span style="left:{{left $c $b.At}}%"{{if thin $i}} class="thin"{{end}}>{{$b.Label}}</span>{{end}}</div>
</div>
</figure>
{{end}}{{with .Bars}}{{$b := .}}<p class="legend"><b style="color:var(--curve)">■</b> {{.First}} &nbsp; <b class="two">▨</b> {{.Second}}</p>
<div class="bars">{{range .Rows}}
<span>{{.Name}}</span><div><i style="width:calc((100% - {{room $b}}ch)*{{wide $b .First}})"></i>{{digits .First}}</div><div class="end"><i class="b" style="width:calc((100% - {{room $b}}ch)*{{wide $b .Second}})"></i>{{digits .Second}}</div>{{end}}
</div>
{{end}}` + regionsLayout + `{{with .Heat}}{{$h := .}}<div class="scroll"><table class="heat">
<tr><th>{{.Corner}}</th>{{range .Cols}}<th>{{.}}</th>{{end}}<th>sum</th></tr>{{range .Rows}}
<tr><td>{{.Name}}</td>{{range .Cells}}<td style="background:rgba(var(--heat),{{shade $h .}})">{{if .}}{{.}}{{end}}</td>{{end}}<td>{{.Sum}}</td></tr>{{end}}
</table></div>
{{end}}{{$wrap := .Wrap}}{{with .Table}}{{$t := .}}<div class="scroll"><table{{if $wrap}} class="wrap"{{end}}>
<tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr>{{range $i, $r := .Rows}}
<tr{{if bad $t $i}} class="out"{{end}}>{{range $j, $c := $r}}<td{{if $wrap}} data-h="{{head $t $j}}"{{end}}>{{$c}}</td>{{end}}</tr>{{end}}
</table></div>
{{end}}</section>
{{end}}<footer>{{.Foot}}</footer>
</main>
</body>
</html>
`
