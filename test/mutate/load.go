package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is a package as the type checker sees it, without its tests.
type source struct {
	path  string // import path
	name  string // as a table shows it: the last element of the path
	dir   string
	fset  *token.FileSet
	files []*sourceFile
	types *types.Package
	info  *types.Info
}

type sourceFile struct {
	path   string
	text   []byte
	syntax *ast.File
	names  map[string]string // import path to the name it has in this file
}

type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// load parses and checks the packages named by the patterns, in the order of go list.
func load(ctx context.Context, root string, patterns []string) ([]*source, error) {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, patterns...)
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Stderr = root, os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	var wanted []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			wanted = append(wanted, p)
		}
	}
	var sources []*source
	for _, p := range wanted {
		s, err := check(p, exports)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func check(p listed, exports map[string]string) (*source, error) {
	s := &source{
		path: p.ImportPath, name: p.ImportPath[strings.LastIndexByte(p.ImportPath, '/')+1:],
		dir: p.Dir, fset: token.NewFileSet(),
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
			Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		},
	}
	var trees []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(s.fset, path, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
		s.files = append(s.files, &sourceFile{path: path, text: text, syntax: tree})
	}
	imports := importer.ForCompiler(s.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	var err error
	if s.types, err = (&types.Config{Importer: imports}).Check(p.ImportPath, s.fset, trees, s.info); err != nil {
		return nil, err
	}
	for _, f := range s.files {
		f.names = namesOf(f.syntax, s.types)
	}
	return s, nil
}

// namesOf are the names under which a file can write the types of other packages.
func namesOf(f *ast.File, p *types.Package) map[string]string {
	known := map[string]string{}
	for _, i := range p.Imports() {
		known[i.Path()] = i.Name()
	}
	names := map[string]string{}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		switch {
		case i.Name == nil:
			names[path] = known[path]
		case i.Name.Name != "_" && i.Name.Name != ".":
			names[path] = i.Name.Name
		}
	}
	return names
}

// typeName writes a type as the file can write it; false when the file cannot.
func (w *walk) typeName(t types.Type) (string, bool) {
	ok := true
	name := types.TypeString(t, func(p *types.Package) string {
		if p == w.src.types {
			return ""
		}
		if n := w.file.names[p.Path()]; n != "" {
			return n
		}
		ok = false
		return p.Name()
	})
	return name, ok && !strings.HasPrefix(name, "untyped")
}
