package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// ModulePath is the module that the rules are about.
const ModulePath = "github.com/broker-rails/broker-rails"

// File is one Go source, parsed with its comments.
type File struct {
	Rel    string // slash-separated, from the module's root
	Syntax *ast.File
	Lines  int
}

// Dir is the folder of the file's package, from the module's root.
func (f *File) Dir() string { return path.Dir(f.Rel) }

// Test reports whether the file is only built for tests.
func (f *File) Test() bool { return strings.HasSuffix(f.Rel, "_test.go") }

// Package is one package without its tests, with types.
type Package struct {
	Dir   string
	Files []*File
	Types *types.Package
	Info  *types.Info
}

// Module is everything that rules look at. Files are of all operating systems, and
// tests too; Packages are as built for this one.
type Module struct {
	Fset     *token.FileSet
	Files    []*File
	Packages []*Package
}

// Finding is one place that breaks a rule.
type Finding struct {
	Rule string
	At   token.Position
	Text string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.At.Filename, f.At.Line, f.Rule, f.Text)
}

// Root returns the module's folder: the nearest one above with a go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("working folder: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod above the working folder")
		}
		dir = up
	}
}

// Load reads the module in root: every source parsed, every package with its types. A
// source that does not parse or a package that does not type-check is an error, so that
// no rule passes for want of something to look at.
func Load(root string) (*Module, error) {
	m := &Module{Fset: token.NewFileSet()}
	if err := m.parse(root); err != nil {
		return nil, err
	}
	cfg := &packages.Config{Mode: packages.LoadSyntax, Dir: root, Fset: m.Fset}
	loaded, err := packages.Load(cfg, "./...")
	if err != nil {
		return nil, fmt.Errorf("load packages: %w", err)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, e)
		}
		m.Packages = append(m.Packages, typed(root, p))
	}
	if len(m.Packages) == 0 {
		return nil, errors.New("no packages found")
	}
	return m, nil
}

func typed(root string, p *packages.Package) *Package {
	out := &Package{
		Dir:   strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, ModulePath), "/"),
		Types: p.Types, Info: p.TypesInfo,
	}
	for _, syntax := range p.Syntax {
		name := p.Fset.Position(syntax.Pos()).Filename
		if rel, err := filepath.Rel(root, name); err == nil && !strings.HasPrefix(rel, "..") {
			out.Files = append(out.Files, &File{Rel: filepath.ToSlash(rel), Syntax: syntax})
		}
	}
	return out
}

// parse reads every Go source of the module, but those in folders that Go leaves out.
func (m *Module) parse(root string) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != root && leftOut(name) {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(name) != ".go":
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return m.add(filepath.ToSlash(rel), string(text))
	})
}

// leftOut reports whether a folder holds no sources of the module: as the go command
// decides, or a module of its own.
func leftOut(dir string) bool {
	base := filepath.Base(dir)
	if base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func (m *Module) add(rel, text string) error {
	syntax, err := parser.ParseFile(m.Fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	m.Files = append(m.Files, &File{Rel: rel, Syntax: syntax, Lines: strings.Count(text, "\n")})
	return nil
}

// imports returns what a file imports, as written.
func (f *File) imports() []*ast.ImportSpec { return f.Syntax.Imports }

// importing reports whether a file imports a package of the module.
func (f *File) importing(dir string) bool {
	return slices.ContainsFunc(f.imports(), func(s *ast.ImportSpec) bool { return importPath(s) == ModulePath+"/"+dir })
}

func importPath(s *ast.ImportSpec) string { return strings.Trim(s.Path.Value, "`\"") }

// within returns the folder of a package of the module, and whether it is one.
func within(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, ModulePath+"/")
}
