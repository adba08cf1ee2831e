package cli

import (
	"os"
	"path/filepath"
	"runtime"
)

// productFolder is the product's folder inside the system's own.
const productFolder = "rails"

// limitsFileName is the limits document inside the configuration folder.
const limitsFileName = "limits.yaml"

// dataFolder is where the journal and the paper ledger stand: --data, else the state
// folder of the XDG base directory specification.
func (a *app) dataFolder() (string, error) {
	if a.flags.data != "" {
		return filepath.Abs(a.flags.data)
	}
	dir, err := a.xdg("XDG_STATE_HOME", ".local/state", "LocalAppData")
	if err != nil {
		return "", usage("name a folder with --data", "no place for the data: %v", err)
	}
	return filepath.Join(dir, productFolder), nil
}

// limitsFile is the operator's document: --limits, else the XDG configuration folder.
func (a *app) limitsFile() (string, error) {
	if a.flags.limits != "" {
		return filepath.Abs(a.flags.limits)
	}
	dir, err := a.xdg("XDG_CONFIG_HOME", ".config", "AppData")
	if err != nil {
		return "", usage("name a file with --limits", "no place for the limits document: %v", err)
	}
	return filepath.Join(dir, productFolder, limitsFileName), nil
}

// xdg is a base folder: the variable's, unless it is relative, which the specification
// has ignored; else the folder under the user's home.
func (a *app) xdg(name, home, windows string) (string, error) {
	if dir := a.env(name); filepath.IsAbs(dir) {
		return dir, nil
	}
	if runtime.GOOS == "windows" {
		if dir := a.env(windows); dir != "" {
			return dir, nil
		}
	}
	dir := a.env("HOME")
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.UserHomeDir(); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, filepath.FromSlash(home)), nil
}
