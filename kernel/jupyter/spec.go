package jupyter

import "errors"

// Spec is an installed kernel: the contents of a kernel.json and where it was found.
type Spec struct {
	Name          string            // the folder's name, as in `--kernel NAME`
	Dir           string            // the folder that holds kernel.json; {resource_dir} in Argv
	Argv          []string          // command line; {connection_file} and {resource_dir} are replaced
	DisplayName   string            // as shown in JupyterLab
	Language      string            // as in a notebook's metadata
	InterruptMode string            // "signal" or "message"
	Env           map[string]string // added to the environment; ${NAME} is expanded
	Metadata      map[string]any
}

// ErrNoKernel is what Find's error is if no kernel of that name is installed.
var ErrNoKernel = errors.New("no such kernel")

// Find returns the installed kernel of that name. Case does not matter. The error for an
// unknown name says which names there are.
func Find(name string) (Spec, error) { return Spec{}, ErrNoKernel }

// List returns all installed kernels, sorted by name. Of two with the same name the one
// that Jupyter would take is listed.
func List() ([]Spec, error) { return nil, nil }

// DataDir is the folder of the user's own Jupyter data: kernelspecs are in its subfolder
// kernels.
func DataDir() string { return "" }
