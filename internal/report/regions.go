package report

import (
	"fmt"
	"html/template"
)

// Regions is a map: a grid of cells, each of one of the keys. It is drawn with the first
// row at the bottom and the first column at the left.
type Regions struct {
	Name  string
	Note  string // what stands beside the name
	X, Y  string // what the axes are
	XTick []Tick
	YTick []Tick
	Cells [][]int // rows of indexes of Keys; all rows as long as the first
	Keys  []Region
}

// Tick is a labelled place on an axis, as an index of a column or row.
type Tick struct {
	At    int
	Label string
}

// Region is what one kind of cell means. Its mark stands on the map and in the key, so
// that nothing is told by colour alone.
type Region struct {
	Mark string // one or two letters; empty: left unmarked and unshaded
	Text string
}

// block is a run of equal cells in one row.
type block struct{ x, y, width, kind int }

// blocks are what is drawn: runs of equal cells that are shaded.
func blocks(r Regions) []block {
	var out []block
	for y, row := range r.Cells {
		for x := 0; x < len(row); {
			end := x + 1
			for end < len(row) && row[end] == row[x] {
				end++
			}
			if k := row[x]; k >= 0 && k < len(r.Keys) && r.Keys[k].Mark != "" {
				out = append(out, block{x, len(r.Cells) - 1 - y, end - x, k})
			}
			x = end
		}
	}
	return out
}

// Rect is one block in the coordinates of the picture, a unit a cell.
func (b block) Rect() template.HTMLAttr {
	return template.HTMLAttr(fmt.Sprintf(`x="%d" y="%d" width="%d" height="1.02" fill="%s"`, b.x, b.y, b.width, hue(b.kind)))
}

// hue is the colour of a region: seven steps round the wheel, then darker ones.
func hue(kind int) string {
	const turn, steps = 137, 360
	return fmt.Sprintf("hsl(%d 55%% 55%%)", (kind*turn+210)%steps)
}

func swatch(kind int) template.CSS { return template.CSS("background:" + hue(kind)) }

// view is the picture's own size.
func view(r Regions) string {
	if len(r.Cells) == 0 {
		return "0 0 1 1"
	}
	return fmt.Sprintf("0 0 %d %d", len(r.Cells[0]), len(r.Cells))
}

// label is where a region's mark stands, in percent from the left and the top.
type label struct {
	Left, Top, Mark string
}

// labels puts each mark into the cell of its region that is furthest from any other.
func labels(r Regions) []label {
	type place struct{ x, y, room int }
	best := map[int]place{}
	for y, row := range r.Cells {
		for x, k := range row {
			room := r.room(x, y)
			if had, ok := best[k]; !ok || room > had.room {
				best[k] = place{x, y, room}
			}
		}
	}
	var out []label
	for k := range r.Keys {
		p, ok := best[k]
		if !ok || r.Keys[k].Mark == "" {
			continue
		}
		height, width := float64(len(r.Cells)), float64(len(r.Cells[0]))
		out = append(out, label{
			Left: fmt.Sprintf("%.2f", (float64(p.x)+0.5)*100/width),
			Top:  fmt.Sprintf("%.2f", (height-float64(p.y)-0.5)*100/height), Mark: r.Keys[k].Mark,
		})
	}
	return out
}

// room is how far a cell is from one of another kind, along row and column.
func (r *Regions) room(x, y int) int {
	kind := r.Cells[y][x]
	same := func(x, y int) bool {
		return y >= 0 && y < len(r.Cells) && x >= 0 && x < len(r.Cells[y]) && r.Cells[y][x] == kind
	}
	for n := 1; ; n++ {
		if !same(x-n, y) || !same(x+n, y) || !same(x, y-n) || !same(x, y+n) {
			return n
		}
	}
}

func (r *Regions) across(at int) string {
	return fmt.Sprintf("%.2f", (float64(at)+0.5)*100/float64(max(1, len(r.Cells[0]))))
}

// xAt and yAt are where ticks stand, in percent from the left and the top.
func xAt(r Regions, at int) string {
	if len(r.Cells) == 0 {
		return "0"
	}
	return r.across(at)
}

func yAt(r Regions, at int) string {
	height := float64(max(1, len(r.Cells)))
	return fmt.Sprintf("%.2f", (height-float64(at)-0.5)*100/height)
}

// regionsLayout is the part of the page's template that draws them.
const regionsLayout = `{{range $g := .Regions}}<figure>
<figcaption><span>{{$g.Name}}</span><small>{{$g.Note}}</small></figcaption>
<small class="dim">{{$g.Y}}</small>
<div class="plot">
<div class="ticks at">{{range $g.YTick}}<span style="top:{{yAt $g .At}}%">{{.Label}}</span>{{end}}</div>
<div class="draw map"><svg viewBox="{{view $g}}" preserveAspectRatio="none" role="img" aria-label="{{$g.Name}}">{{range blocks $g}}<rect {{.Rect}}/>{{end}}</svg>{{range labels $g}}<b style="left:{{.Left}}%;top:{{.Top}}%">{{.Mark}}</b>{{end}}</div>
<div class="dates">{{range $i, $t := $g.XTick}}<span style="left:{{xAt $g .At}}%"{{if thin $i}} class="thin"{{end}}>{{.Label}}</span>{{end}}</div>
</div>
<small class="dim">{{$g.X}}</small>
<ul class="regions">{{range $i, $k := $g.Keys}}{{if $k.Mark}}<li><b style="{{swatch $i}}">{{$k.Mark}}</b> {{$k.Text}}</li>{{else}}<li><b></b> {{$k.Text}}</li>{{end}}{{end}}</ul>
</figure>
{{end}}`

// regionsStyle belongs to it.
const regionsStyle = `.wrap td,.wrap th{text-align:left;white-space:normal;vertical-align:top}.wrap td:not(:first-child){min-width:8em}.wrap td:nth-child(3){min-width:16em}
.map{height:340px}.map rect{opacity:.55}.map b{position:absolute;transform:translate(-50%,-50%);font-size:13px}
.ticks.at{position:relative}.ticks.at span{position:absolute;right:0}
.regions{list-style:none;margin:10px 0 0;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:4px 14px;font-size:13.5px}
.regions li{display:flex;gap:8px;align-items:baseline;overflow-wrap:anywhere}.regions b{flex:none;width:26px;text-align:center;border-radius:3px;border:1px solid var(--line);color:#101418;min-height:1.4em}
@media (max-width:560px){.map{height:260px}.wrap,.wrap tbody,.wrap tr,.wrap td:first-child{display:block}.wrap td:not(:first-child){display:inline-block}.wrap th:not(:only-child){display:none}.wrap tr{border-bottom:1px solid var(--line);padding:6px 0}.wrap td,.wrap td:nth-child(n){border:0;padding:1px 12px 1px 4px;min-width:0;overflow-wrap:anywhere}.wrap td:nth-child(n):empty{display:none}.wrap td:first-child:not(:last-child){font-weight:600}.wrap td:not(:first-child)::before{content:attr(data-h) ": ";color:var(--dim)}}
`
