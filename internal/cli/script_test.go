package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/broker-rails/broker-rails/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"rails":    func() { os.Exit(cli.Main(cli.Process())) },
		"agent":    func() { os.Exit(agent(os.Args[1:])) },
		"jsonhas":  func() { os.Exit(jsonHas(os.Args[1:])) },
		"paperhas": func() { os.Exit(paperHas(os.Args[1:])) },
		"paperdo":  func() { os.Exit(paperDo(os.Args[1:])) },
	})
}

// TestScripts runs the command line's documentation: each file is one command's, and
// its examples are the ones that people read. Most run one command after the other, each a
// process: shortened, only those with a server beside them are played.
func TestScripts(t *testing.T) {
	files := "*"
	if testing.Short() {
		files = "serve*"
	}
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", files+".txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	testscript.Run(t, testscript.Params{
		Files: scripts,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("HOME", e.WorkDir)
			e.Values["witnesses"] = &sync.Map{}
			// Whatever the umask: others may not write where limits documents stand.
			return os.Chmod(e.WorkDir, 0o755)
		},
		RequireUniqueNames: true,
		Cmds:               map[string]func(*testscript.TestScript, bool, []string){"code": code, "witnessing": witnessing},
	})
}

// code runs a command and holds its exit code against what is documented:
//
//	code 3 rails reload
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [argument ...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s did not run: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// agent is an MCP host that starts rails serve and calls one tool:
//
//	agent TOOL ARGUMENTS [rails' own flags]
//
// It prints the answer's text and ends with 1 if the answer is an error.
func agent(args []string) int {
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	text, refused, err := callTool(ctx, args[0], args[1], args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		return 2
	}
	fmt.Println(text)
	if refused {
		return 1
	}
	return 0
}

func callTool(ctx context.Context, tool, arguments string, flags []string) (text string, refused bool, err error) {
	command := exec.Command("rails", append([]string{"serve"}, flags...)...)
	command.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "script", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		return "", false, err
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return "", false, err
	}
	for _, part := range result.Content {
		if c, ok := part.(*mcp.TextContent); ok {
			text += c.Text
		}
	}
	return text, result.IsError, nil
}
