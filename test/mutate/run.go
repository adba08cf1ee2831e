package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// suite is the tests of one package, built once with every mutant in it.
type suite struct {
	name  string
	path  string // import path; empty for a command
	dir   string // where its tests run
	bin   string
	flags []string
	// slowest is the plain time above which one of its tests is left out.
	slowest time.Duration
	command []string // instead of tests: one run that has to end well
}

// trial is one test of a suite, with what it reaches.
type trial struct {
	suite *suite
	name  string
	plain time.Duration
	hits  []byte // by mutant id
}

const (
	floor      = 10 * time.Second // no run is given less
	factor     = 20               // of the plain time: the machine may be busy
	chunkPlain = 150 * time.Millisecond
	plainMax   = 2 * time.Minute
)

// compileError finds the package and line of what the compiler refused.
func compileError() *regexp.Regexp {
	return regexp.MustCompile(`(?m)([^\s/:]+)/([^\s/:]+\.go):(\d+):\d+: `)
}

// buildTests compiles a suite's test binary; the text is the compiler's.
func (s *suite) build(ctx context.Context, root, overlay string) (string, error) {
	args := []string{"test", "-c", "-vet=off", "-overlay", overlay, "-o", s.bin}
	if s.command != nil {
		args = []string{"build", "-overlay", overlay, "-o", s.bin}
	}
	c := exec.CommandContext(ctx, "go", append(args, s.path)...)
	c.Dir = root
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	return string(out), err
}

// list names the suite's tests.
func (s *suite) list(ctx context.Context) ([]string, error) {
	if s.command != nil {
		return []string{strings.Join(s.command, " ")}, nil
	}
	c := exec.CommandContext(ctx, s.bin, "-test.list", ".")
	c.Dir = s.dir
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("list tests of %s: %w", s.name, err)
	}
	var names []string
	for _, n := range strings.Fields(string(out)) {
		if !strings.HasPrefix(n, "Benchmark") {
			names = append(names, n)
		}
	}
	return names, nil
}

type result uint8

const (
	passed result = iota
	failed
	timedOut
)

// run runs some of the suite's tests with one mutant alive; 0 is none.
func (s *suite) run(names []string, alive int, hits string, limit time.Duration) (result, string) {
	ctx, stop := context.WithTimeout(context.Background(), limit+2*time.Second)
	defer stop()
	args := s.command
	if args == nil {
		args = append([]string{
			"-test.run", "^(" + strings.Join(names, "|") + ")$", "-test.failfast",
			"-test.timeout", limit.String(),
		}, s.flags...)
	}
	c := exec.CommandContext(ctx, s.bin, args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "MUTATE_ALIVE="+strconv.Itoa(alive), "MUTATE_HITS="+hits)
	c.WaitDelay = time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	switch {
	case err == nil:
		return passed, ""
	case errors.Is(ctx.Err(), context.DeadlineExceeded), strings.Contains(out.String(), "panic: test timed out"):
		return timedOut, "time"
	}
	return failed, firstFailure(out.String(), names)
}

func firstFailure(out string, names []string) string {
	if m := regexp.MustCompile(`(?m)^--- FAIL: (\S+)`).FindStringSubmatch(out); m != nil {
		return m[1]
	}
	if len(names) == 1 {
		return names[0]
	}
	return "a crash"
}

// measure runs each test once with nothing alive: how long it takes and what it reaches.
func measure(dir string, suites []*suite, ids, parallel int) (trials []*trial, unusable []string, err error) {
	type job struct {
		s *suite
		n string
	}
	var jobs []job
	for _, s := range suites {
		names, err := s.list(context.Background())
		if err != nil {
			return nil, nil, err
		}
		for _, n := range names {
			jobs = append(jobs, job{s, n})
		}
	}
	var mu sync.Mutex
	var firstErr error
	each(len(jobs), parallel, func(i int) {
		s, n := jobs[i].s, jobs[i].n
		path := filepath.Join(dir, fmt.Sprintf("hits-%d", i))
		if err := os.WriteFile(path, make([]byte, ids+1), 0o600); err != nil {
			mu.Lock()
			firstErr = err
			mu.Unlock()
			return
		}
		start := time.Now()
		r, why := s.run([]string{n}, 0, path, plainMax)
		took := time.Since(start)
		hits, err := os.ReadFile(path)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			firstErr = err
		case r != passed:
			unusable = append(unusable, s.name+" "+n+": fails in the instrumented build ("+why+")")
		case took > s.slowest:
			unusable = append(unusable, fmt.Sprintf("%s %s: takes %s, over %s", s.name, n, took.Round(time.Millisecond), s.slowest))
		default:
			trials = append(trials, &trial{suite: s, name: n, plain: took, hits: hits})
		}
	})
	sort.Slice(trials, func(i, j int) bool {
		if trials[i].plain != trials[j].plain {
			return trials[i].plain < trials[j].plain
		}
		return trials[i].name < trials[j].name
	})
	sort.Strings(unusable)
	return trials, unusable, firstErr
}

// judge runs the tests that reach the mutant, those of its own package first, then the
// other suites in their order, the fastest first, until one fails.
func judge(m *mutant, suites []*suite, trials []*trial) {
	order := slices.Clone(suites)
	sort.SliceStable(order, func(i, j int) bool { return order[i].path == m.own && order[j].path != m.own })
	reached := false
	for _, s := range order {
		var chunk []string
		var plain time.Duration
		ended := false
		flush := func() {
			if len(chunk) == 0 || ended {
				return
			}
			r, by := s.run(chunk, m.ID, "", max(floor, factor*plain))
			chunk, plain = nil, 0
			switch r {
			case failed:
				m.Outcome, m.KilledBy, ended = "killed", s.name+"."+by, true
			case timedOut:
				m.Outcome, m.KilledBy, ended = "timeout", s.name, true
			}
		}
		for _, t := range trials {
			if t.suite != s || t.hits[m.ID] == 0 {
				continue
			}
			reached = true
			if plain > 0 && plain+t.plain > chunkPlain {
				flush()
			}
			chunk, plain = append(chunk, t.name), plain+t.plain
		}
		flush()
		if ended {
			return
		}
	}
	m.Outcome = "survived"
	if !reached {
		m.Outcome = "unreached"
	}
}

// each calls f for every number below n, so many at a time.
func each(n, parallel int, f func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
