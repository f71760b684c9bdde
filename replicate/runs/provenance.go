package runs

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// Provenance says how a result was computed: enough to compute it again and to find out why two results differ. It is
// no part of a run's identity.
type Provenance struct {
	Config   map[string]string `json:"config,omitempty"` // settings as they were shown to the user
	Seed     int64             `json:"seed"`
	Commit   string            `json:"commit,omitempty"`   // of the last session; "" when unknown
	Dirty    bool              `json:"dirty,omitempty"`    // whether files differed from the commit
	Commits  []string          `json:"commits,omitempty"`  // of all sessions, those of changed files end in "-dirty"
	Command  []string          `json:"command,omitempty"`  // without folders, see NewProvenance
	Versions map[string]string `json:"versions,omitempty"` // "go", modules by path, and the caller's, as the plugin
	Backend  string            `json:"backend,omitempty"`  // as "xla:cpu"
	Platform string            `json:"platform,omitempty"` // operating system/architecture
	CPUs     int               `json:"cpus,omitempty"`
	Together int               `json:"together,omitempty"` // batched seeds, of the last session; 0 for one
	Start    time.Time         `json:"start"`              // of the first session
	Seconds  float64           `json:"seconds"`            // spent on the steps, over all sessions
}

// NewProvenance describes this process: commit, command line, and the versions of Go and of the modules built in. The
// caller adds what only it knows: the backend, and versions such as that of the backend's plugin. Results are published
// with their provenance, so it does not name the host, and of paths that are absolute or begin with ~ only the last
// part. Without git or build information the fields stay empty; it never fails.
func NewProvenance(backend string, versions map[string]string) Provenance {
	p := Provenance{
		Command:  withoutFolders(os.Args),
		Versions: map[string]string{"go": runtime.Version()},
		Backend:  backend,
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:     runtime.NumCPU(),
		Start:    time.Now().UTC(),
	}
	if len(p.Command) > 0 {
		p.Command[0] = filepath.Base(p.Command[0]) // `go run` builds into a folder that is gone tomorrow
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		maps.Copy(p.Versions, moduleVersions(info))
	}
	p.Commit, p.Dirty = programCommit()
	maps.Copy(p.Versions, versions)
	return p
}

// pathInArgument is an absolute path, or one below a home directory: the whole argument, or behind = , or :.
var pathInArgument = regexp.MustCompile(`(^|[=,:])(~[^/=,:]*)?/[^=,:]*`)

// withoutFolders returns arguments with only the last part of such paths.
func withoutFolders(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = pathInArgument.ReplaceAllStringFunc(arg, func(match string) string {
			at := strings.IndexAny(match, "~/")
			return match[:at] + path.Base(match[at:])
		})
	}
	return out
}

// ownModule is the module that computes, whichever module's program this is: a notebook's cell is a module of its own.
const ownModule = "tvps"

// moduleVersions returns the versions of the modules built into the program.
func moduleVersions(info *debug.BuildInfo) map[string]string {
	versions := map[string]string{}
	for _, module := range info.Deps {
		version := module.Version
		if module.Replace != nil {
			version = strings.TrimSpace(withoutFolders([]string{module.Replace.Path})[0] + " " + module.Replace.Version)
		}
		versions[module.Path] = version
	}
	return versions
}

// programCommit is the commit from which this program was built. It is found once: during a long run the working
// directory may be moved to another commit.
var programCommit = sync.OnceValues(func() (commit string, dirty bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	if commit, dirty = stampedCommit(info); commit != "" {
		return commit, dirty
	}
	return workingCommit(ownModule)
})

// stampedCommit returns the commit that `go build` wrote into the program.
func stampedCommit(info *debug.BuildInfo) (commit string, dirty bool) {
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			commit = setting.Value
		case "vcs.modified":
			dirty = setting.Value == "true"
		}
	}
	return commit, dirty
}

// workingCommit asks git for the working directory's commit, as `go run` stamps none. It returns none outside of the
// module's own repository.
func workingCommit(module string) (commit string, dirty bool) {
	root, ok := git("rev-parse", "--show-toplevel")
	if !ok {
		return "", false
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !slices.Contains(strings.Split(string(text), "\n"), "module "+module) {
		return "", false
	}
	commit, ok = git("rev-parse", "HEAD")
	if !ok {
		return "", false
	}
	changes, ok := git("status", "--porcelain")
	return commit, !ok || changes != ""
}

// git returns the output of a git command; ok is false without git, outside of a repository, or after 10 seconds.
func git(args ...string) (output string, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, "git", args...).Output()
	return strings.TrimSpace(string(text)), err == nil
}

// forRun returns the template with the run's own fields filled in; together is the number of seeds in its program.
func (p Provenance) forRun(spec Spec, together int) Provenance {
	if together > 1 {
		p.Together = together
	}
	p.Config = spec.Settings
	p.Seed = spec.Seed
	p.Start = time.Now().UTC()
	return p
}

// following returns p, of the session that finishes a run, with start and commits of the earlier sessions, which are in
// the order of time.
func (p Provenance) following(earlier []Provenance, seconds float64) Provenance {
	p.Seconds = seconds
	for _, session := range append(slices.Clone(earlier), p) {
		if session.Start.Before(p.Start) {
			p.Start = session.Start
		}
		for _, commit := range append(slices.Clone(session.Commits), session.commitName()) {
			if commit != "" && !slices.Contains(p.Commits, commit) {
				p.Commits = append(p.Commits, commit)
			}
		}
	}
	return p
}

// commitName is the commit as one word.
func (p Provenance) commitName() string {
	if p.Commit != "" && p.Dirty {
		return p.Commit + "-dirty"
	}
	return p.Commit
}
