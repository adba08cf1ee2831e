// Package archtest holds the architecture as rules that run: which package may import
// which and why, what the core may never touch, sizes, and what every rail and every
// key of the limits document must bring with it. Each rule has its reason, and a test
// that feeds it a bad source and sees it found.
//
// Two directives excuse one line each, with their reason:
//
//	//archtest:map-order-free REASON   above a range over a map in the core
//	//archtest:immutable REASON        above a package variable that nothing changes
package archtest
