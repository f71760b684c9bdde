package cluster

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// jobs reads the documents of a file of Kubernetes.
func jobs(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var out []map[string]any
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var job map[string]any
		switch err := decoder.Decode(&job); err {
		case nil:
			out = append(out, job)
		case io.EOF:
			return out
		default:
			t.Fatal(err)
		}
	}
}

// at returns what is at a path of keys and indices.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := value.(map[string]any)
			value = m[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

func TestKubernetes(t *testing.T) {
	text, err := example().Kubernetes(Kubernetes{Image: "registry.example/tvps:1", Claim: "shared"})
	if err != nil {
		t.Fatal(err)
	}
	got := jobs(t, text)
	if len(got) != 4 {
		t.Fatalf("%d jobs", len(got))
	}
	gpu := got[2]
	for _, c := range []struct {
		want any
		path []any
	}{
		{"batch/v1", []any{"apiVersion"}}, {"Job", []any{"kind"}}, {"tvps-2-gpu", []any{"metadata", "name"}},
		{"Indexed", []any{"spec", "completionMode"}}, {2, []any{"spec", "completions"}}, {2, []any{"spec", "parallelism"}},
		{3, []any{"spec", "backoffLimitPerIndex"}},
		{"FailIndex", []any{"spec", "podFailurePolicy", "rules", 0, "action"}},
		{[]any{2}, []any{"spec", "podFailurePolicy", "rules", 0, "onExitCodes", "values"}},
		{"Ignore", []any{"spec", "podFailurePolicy", "rules", 1, "action"}},
		{"DisruptionTarget", []any{"spec", "podFailurePolicy", "rules", 1, "onPodConditions", 0, "type"}},
		{"Ignore", []any{"spec", "podFailurePolicy", "rules", 2, "action"}},
		{[]any{130}, []any{"spec", "podFailurePolicy", "rules", 2, "onExitCodes", "values"}},
		{"Never", []any{"spec", "template", "spec", "restartPolicy"}}, // a pod failure policy demands it
		{"work", []any{"spec", "template", "spec", "containers", 0, "name"}},
		{"registry.example/tvps:1", []any{"spec", "template", "spec", "containers", 0, "image"}},
		{"2", []any{"spec", "template", "spec", "containers", 0, "command", 7}}, // --first
		{"1", []any{"spec", "template", "spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"}},
		{"200Mi", []any{"spec", "template", "spec", "containers", 0, "resources", "requests", "memory"}},
		{"shared", []any{"spec", "template", "spec", "volumes", 0, "persistentVolumeClaim", "claimName"}},
	} {
		if got := at(gpu, c.path...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v is %v, want %v", c.path, got, c.want)
		}
	}
	if at(got[3], "spec", "template", "spec", "containers", 0, "resources", "limits", "nvidia.com/gpu") != nil {
		t.Error("a job without a GPU asks for one")
	}
	comment := "# Apply it when this ends: kubectl wait --for=condition=complete --timeout=-1s " +
		"job/tvps-1-features\napiVersion"
	if !strings.Contains(string(text), comment) {
		t.Errorf("no comment says what to wait for:\n%s", text)
	}
	if _, err := example().Kubernetes(Kubernetes{}); err == nil || !strings.Contains(err.Error(), "--image") {
		t.Errorf("without an image: %v", err)
	}
	kubectl(t, text, got)
}

// kubectl reads the jobs as its own types, which drop what they do not know, and every value must come back. A dry run
// would need a server, even that of the client.
func kubectl(t *testing.T, text []byte, want []map[string]any) {
	program, err := exec.LookPath("kubectl")
	if err != nil {
		t.Log("kubectl is not at hand")
		return
	}
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		one, err := yaml.Marshal(want[i])
		if err == nil {
			err = os.WriteFile(file, one, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, "label", "--local", "-f", file, "read=yes", "-o", "yaml").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		contains(t, jobs(t, out)[0], want[i], "job")
	}
}

// contains fails the test unless value has everything of want, at the same places.
func contains(t *testing.T, value, want any, path string) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		for key, part := range want {
			contains(t, at(value, key), part, path+"."+key)
		}
	case []any:
		for i, part := range want {
			contains(t, at(value, i), part, path+"[]")
		}
	default:
		if !strings.HasSuffix(path, "memory") && !reflect.DeepEqual(value, want) { // 8192Mi is 8Gi
			t.Errorf("%s is %v for kubectl, want %v", path, value, want)
		}
	}
}
