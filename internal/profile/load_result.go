package profile

import (
	"github.com/broker-rails/broker-rails/internal/strict"
)

// outcome reads how a tool's replies are read, how our id goes in, and how an order whose
// fate is not known is looked up.
func (r *loader) outcome(f strict.Fields, rs *ruleset, path string) {
	if t := f.At("result"); t != nil {
		rs.result = r.result(t, path+".result")
	}
	if t := f.At("confirm"); t != nil {
		g := r.Fields(t, path+".confirm", "token", "issued_by", "bind")
		rs.confirm = &confirm{token: g.Need("token"), by: g.Texts("issued_by", 16), bind: g.Texts("bind", 8)}
		if len(rs.confirm.by) == 0 {
			g.Refuse("issued_by", "is missing", "name the tools whose calls issue the token")
		}
	}
	if t := f.At("inject"); t != nil {
		g := r.Fields(t, path+".inject", "argument", "form", "idempotent")
		rs.inject = inject{name: g.Need("argument"), form: g.Word("form", "uuid", "alnum20", "alnum32", "plain"), idempotent: g.Flag("idempotent")}
		if rs.inject.form == "" {
			g.Refuse("form", "is missing", "")
		}
	}
	if t := f.At("lookup"); t != nil {
		g := r.Fields(t, path+".lookup", "tool", "arguments", "list", "match", "result")
		l := &lookup{tool: g.Need("tool"), arguments: &value{kind: '{'}, list: g.Text("list"), match: g.Text("match")}
		for _, a := range g.Pairs("arguments", 16) {
			l.arguments.set(a.Key, r.literal(a.Value, path+".lookup.arguments."+a.Key))
		}
		if g.At("result") == nil {
			g.Refuse("result", "is missing", "say how the answer is read")
		} else {
			l.result = r.result(g.At("result"), path+".lookup.result")
		}
		rs.lookup = l
	}
}

// result reads the rules for a reply, or takes those that several tools share by name.
func (r *loader) result(t *strict.Tree, path string) *result {
	if t.Shape == strict.Scalar {
		shared := r.shared[r.Text(t, path)]
		if shared == nil {
			r.Refuse(t, path, "names no entry of results", "")
			return &result{}
		}
		return shared
	}
	f := r.Fields(t, path, "from", "items", "rules")
	out := &result{from: f.Word("from", "structured", "json", "lines", "text"), items: f.Text("items")}
	if out.from == "" {
		f.Refuse("from", "is missing", "name the one place in a reply that is read")
	}
	for _, item := range f.Items("rules", RulesMax) {
		out.rules = append(out.rules, r.resultRule(item, path+".rules"))
	}
	if len(out.rules) == 0 {
		f.Refuse("rules", "is missing", "without one every reply is in doubt")
	}
	return out
}

func (r *loader) resultRule(t *strict.Tree, path string) resultRule {
	g := r.Fields(t, path, "is_error", "has", "lacks", "is", "text_is", "text_prefix", "outcome", "id", "client_id",
		"token", "status", "filled", "average", "symbol", "side", "quantity", "each", "bind", "no_id")
	out := resultRule{
		isError: g.Flag("is_error"), has: g.Texts("has", 8), lacks: g.Texts("lacks", 8), textIs: g.Text("text_is"), prefix: g.Text("text_prefix"),
		outcome: Outcome(g.Word("outcome", string(InDoubt), string(Accepted), string(Rejected), string(PendingConfirmation),
			string(PendingApproval), string(Drafted), string(CancelRequested))),
		id: g.Text("id"), clientID: g.Text("client_id"), token: g.Text("token"), status: g.Text("status"), filled: g.Text("filled"),
		average: g.Text("average"), symbol: g.Text("symbol"), side: g.Text("side"), quantity: g.Text("quantity"), each: g.Flag("each"),
	}
	for _, p := range g.Pairs("is", 8) {
		words := []string{}
		if p.Value.Shape == strict.List {
			words = r.Texts(p.Value, path+".is."+p.Key, 32)
		} else {
			words = append(words, r.Text(p.Value, path+".is."+p.Key))
		}
		out.is = append(out.is, oneOf{p.Key, words})
	}
	out.bind, out.noID = r.words(g, "bind", nil), g.Text("no_id")
	if out.outcome == Accepted && (out.id == "") == (out.noID == "") {
		g.Refuse("id", "is missing", "say where the broker's id stands, or write no_id and why there is none")
	}
	if out.outcome == PendingConfirmation && out.token == "" {
		g.Refuse("token", "is missing", "a question without its token cannot be answered")
	}
	if out.outcome == "" {
		g.Refuse("outcome", "is missing", "")
	}
	bound := len(out.has) > 0 || len(out.is) > 0 || out.textIs != "" || out.prefix != ""
	if out.outcome != InDoubt && !bound {
		g.Refuse("has", "is missing", "a rule that matches every reply proves nothing")
	}
	return out
}
