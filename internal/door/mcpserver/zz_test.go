package mcpserver
import ("testing";"context";"fmt";"log/slog";"os"
"github.com/broker-rails/broker-rails/internal/gate"
"github.com/broker-rails/broker-rails/internal/order")
func TestZZ(t *testing.T){
 d:=newDesk(t)
 _ = slog.New(slog.NewTextHandler(os.Stderr,nil))
 for _, in := range []order.Intent{{Account:"paper",Action:order.ActionCancel,Target:"paper/99"},{Account:"paper",Action:order.ActionReplace,Target:"paper/99"}} {
 j:=d.gate.Decide(context.Background(), gate.Call{Intent:in,Door:"mcp"})
 fmt.Printf("%q %v %q %q %v\n", j.Fault, j.Decision.Verdict, j.Decision.Integrity, j.Decision.IntegrityText, j.ID)
 fmt.Println(d.journaled())
 }
}
