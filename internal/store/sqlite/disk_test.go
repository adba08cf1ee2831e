//go:build unix

package sqlite

import (
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	codes "modernc.org/sqlite/lib"
)

// operation is what a fault strikes.
type operation struct {
	name string // write, sync or truncate
	log  bool   // the write-ahead log; else the file
}

// fault makes the operation fail from its nth time on, for so many times. With late
// the operation takes effect and fails nevertheless.
type fault struct {
	operation
	nth, times int
	late       bool
	code       int32
}

// disk is a file system of SQLite's that does what the real one does, but for its
// faults.
type disk struct {
	name string

	mu    sync.Mutex // guards all below
	armed *fault
	seen  int // times that the armed operation was seen
	fired int
	kept  []any                  // functions that only SQLite's memory refers to
	table map[[2]uintptr]uintptr // replaced method tables by original and kind
}

// at gives the Go view of SQLite's memory at p.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// entryPoint is a function as SQLite calls it; the disk keeps it alive.
func entryPoint[F any](d *disk, f F) uintptr {
	kept := &struct{ f F }{f}
	d.kept = append(d.kept, kept)
	return *(*uintptr)(unsafe.Pointer(kept))
}

// original turns an entry point back into a function.
func original[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

type (
	openFunc  = func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	writeFunc = func(*libc.TLS, uintptr, uintptr, int32, int64) int32
	syncFunc  = func(*libc.TLS, uintptr, int32) int32
	cutFunc   = func(*libc.TLS, uintptr, int64) int32
)

// newDisk registers a disk without faults, until the test ends.
func newDisk(t testing.TB) *disk {
	t.Helper()
	d := &disk{name: fmt.Sprintf("disk-%s-%p", t.Name(), t), table: map[[2]uintptr]uintptr{}}
	tls := libc.NewTLS()
	real := codes.Xsqlite3_vfs_find(tls, 0)
	p := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(codes.Tsqlite3_vfs{})))
	name, err := libc.CString(d.name)
	if err != nil {
		t.Fatal(err)
	}
	vfs := at[codes.Tsqlite3_vfs](p)
	*vfs = *at[codes.Tsqlite3_vfs](real)
	open := original[openFunc](vfs.FxOpen)
	vfs.FzName, vfs.FpNext = name, 0
	vfs.FxOpen = entryPoint(d, func(tls *libc.TLS, _, path, file uintptr, flags int32, out uintptr) int32 {
		rc := open(tls, real, path, file, flags, out)
		if opened := at[codes.Tsqlite3_file](file); rc == codes.SQLITE_OK && opened.FpMethods != 0 {
			opened.FpMethods = d.methods(tls, opened.FpMethods, flags)
		}
		return rc
	})
	if rc := codes.Xsqlite3_vfs_register(tls, p, 0); rc != codes.SQLITE_OK {
		t.Fatal("register: ", rc)
	}
	t.Cleanup(func() {
		codes.Xsqlite3_vfs_unregister(tls, p)
		libc.Xfree(tls, name)
		libc.Xfree(tls, p)
		tls.Close()
	})
	return d
}

// methods returns a file's methods with those that may fail replaced.
func (d *disk) methods(tls *libc.TLS, real uintptr, flags int32) uintptr {
	kind := uintptr(flags & (codes.SQLITE_OPEN_WAL | codes.SQLITE_OPEN_MAIN_DB))
	if kind == 0 {
		return real
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p, ok := d.table[[2]uintptr{real, kind}]; ok {
		return p
	}
	log := kind == codes.SQLITE_OPEN_WAL
	p := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(codes.Tsqlite3_io_methods{})))
	m := at[codes.Tsqlite3_io_methods](p)
	*m = *at[codes.Tsqlite3_io_methods](real)
	write, sync, cut := original[writeFunc](m.FxWrite), original[syncFunc](m.FxSync), original[cutFunc](m.FxTruncate)
	m.FxWrite = entryPoint(d, func(tls *libc.TLS, f, buf uintptr, n int32, at int64) int32 {
		return d.strike(operation{"write", log}, func() int32 { return write(tls, f, buf, n, at) })
	})
	m.FxSync = entryPoint(d, func(tls *libc.TLS, f uintptr, flags int32) int32 {
		return d.strike(operation{"sync", log}, func() int32 { return sync(tls, f, flags) })
	})
	m.FxTruncate = entryPoint(d, func(tls *libc.TLS, f uintptr, size int64) int32 {
		return d.strike(operation{"truncate", log}, func() int32 { return cut(tls, f, size) })
	})
	d.table[[2]uintptr{real, kind}] = p
	return p
}

// strike does the operation, or what the armed fault makes of it.
func (d *disk) strike(op operation, do func() int32) int32 {
	d.mu.Lock()
	strikes := false
	if d.armed != nil && d.armed.operation == op {
		d.seen++
		strikes = d.seen >= d.armed.nth && d.fired < d.armed.times
	}
	if !strikes {
		d.mu.Unlock()
		return do()
	}
	d.fired++
	late, code := d.armed.late, d.armed.code
	d.mu.Unlock()
	if late {
		if rc := do(); rc != codes.SQLITE_OK {
			return rc
		}
	}
	return code
}

// arm sets the fault; nil heals the disk. It returns how often the one before struck.
func (d *disk) arm(f *fault) (fired int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fired = d.fired
	d.armed, d.seen, d.fired = f, 0, 0
	return fired
}
