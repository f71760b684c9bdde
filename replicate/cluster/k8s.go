package cluster

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"tvps/replicate/usage"

	"gopkg.in/yaml.v3"
)

// Kubernetes says where indexed jobs find the program and their files.
type Kubernetes struct {
	Image string // container image with the program in its path
	Claim string // PersistentVolumeClaim, with plan.json, and where results and cache are kept
}

// The parts of a Job of batch/v1 that are used.
type (
	job struct {
		APIVersion string   `yaml:"apiVersion"`
		Kind       string   `yaml:"kind"`
		Metadata   metadata `yaml:"metadata"`
		Spec       jobSpec  `yaml:"spec"`
	}
	metadata struct {
		Name   string            `yaml:"name,omitempty"`
		Labels map[string]string `yaml:"labels"`
	}
	jobSpec struct {
		CompletionMode       string        `yaml:"completionMode"`
		Completions          int           `yaml:"completions"`
		Parallelism          int           `yaml:"parallelism"`
		BackoffLimitPerIndex int           `yaml:"backoffLimitPerIndex"`
		PodFailurePolicy     failurePolicy `yaml:"podFailurePolicy"`
		Template             template      `yaml:"template"`
	}
	failurePolicy struct {
		Rules []failureRule `yaml:"rules"`
	}
	failureRule struct {
		Action          string         `yaml:"action"`
		OnExitCodes     *exitCodes     `yaml:"onExitCodes,omitempty"`
		OnPodConditions []podCondition `yaml:"onPodConditions,omitempty"`
	}
	exitCodes struct {
		ContainerName string `yaml:"containerName"`
		Operator      string `yaml:"operator"`
		Values        []int  `yaml:"values"`
	}
	podCondition struct {
		Type   string `yaml:"type"`
		Status string `yaml:"status"`
	}
	template struct {
		Metadata metadata `yaml:"metadata"`
		Spec     podSpec  `yaml:"spec"`
	}
	podSpec struct {
		RestartPolicy                 string      `yaml:"restartPolicy"`
		TerminationGracePeriodSeconds int         `yaml:"terminationGracePeriodSeconds"`
		Containers                    []container `yaml:"containers"`
		Volumes                       []volume    `yaml:"volumes"`
	}
	container struct {
		Name         string            `yaml:"name"`
		Image        string            `yaml:"image"`
		Command      []string          `yaml:"command"`
		Env          []variable        `yaml:"env"`
		Resources    map[string]limits `yaml:"resources"`
		VolumeMounts []mount           `yaml:"volumeMounts"`
	}
	variable struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	}
	limits map[string]string
	mount  struct {
		Name      string `yaml:"name"`
		MountPath string `yaml:"mountPath"`
	}
	volume struct {
		Name  string `yaml:"name"`
		Claim claim  `yaml:"persistentVolumeClaim"`
	}
	claim struct {
		Name string `yaml:"claimName"`
	}
)

const (
	attempts  = 3       // of a failed task, besides the first
	parallel  = 20      // tasks of a job at the same time, at most
	folder    = "/tvps" // where the volume is mounted
	graceTime = 120     // seconds, more than work takes to save
)

// Kubernetes returns the plan as indexed jobs, one for each array of tasks, in YAML. A task that failed is tried again
// a few times, one that is impossible (exit code 2) is not, and one that was interrupted (130, or its node is drained)
// is tried again without counting. Kubernetes has no order between jobs: comments say which to wait for. Errors: usage
// errors.
func (p Plan) Kubernetes(k Kubernetes) ([]byte, error) {
	if k.Image == "" {
		return nil, usage.Errorf("name the container image with --image: it needs the program `replicate` in its path")
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", strings.ReplaceAll(p.Summary(), "\n", "\n# "))
	fmt.Fprintf(&out, "# The volume of the claim %s needs this plan as plan.json (`replicate plan --format json`).\n"+
		"# Results and cache are kept there. After the last job: replicate fig1 --stored --results %s/results\n",
		k.Claim, folder)
	for i, a := range p.Arrays() {
		text, err := yaml.Marshal(k.job(i, a))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "---\n")
		for j, before := range p.Arrays() {
			if slices.Contains(p.After(a), before.Stage) {
				fmt.Fprintf(&out, "# Apply it when this ends: kubectl wait --for=condition=complete --timeout=-1s job/%s\n",
					jobName(j, before))
			}
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

// jobName names the job of the i-th array.
func jobName(i int, a Array) string { return fmt.Sprintf("tvps-%d-%s", i, a.Stage) }

// job is the job of the i-th array.
func (k Kubernetes) job(i int, a Array) job {
	labels := map[string]string{"app": "tvps", "stage": string(a.Stage)}
	needs := limits{"cpu": fmt.Sprint(a.CPUs), "memory": fmt.Sprintf("%dMi", a.MemoryMB)}
	if a.GPU {
		needs["nvidia.com/gpu"] = "1"
	}
	const name = "work"
	names := metadata{Name: jobName(i, a), Labels: labels}
	return job{APIVersion: "batch/v1", Kind: "Job", Metadata: names, Spec: jobSpec{
		CompletionMode: "Indexed", Completions: len(a.Tasks), Parallelism: min(len(a.Tasks), parallel),
		BackoffLimitPerIndex: attempts,
		PodFailurePolicy: failurePolicy{[]failureRule{
			{Action: "FailIndex", OnExitCodes: &exitCodes{name, "In", []int{2}}},
			{Action: "Ignore", OnPodConditions: []podCondition{{"DisruptionTarget", "True"}}},
			{Action: "Ignore", OnExitCodes: &exitCodes{name, "In", []int{130}}},
		}},
		Template: template{Metadata: metadata{Labels: labels}, Spec: podSpec{
			RestartPolicy: "Never", TerminationGracePeriodSeconds: graceTime,
			Containers: []container{{Name: name, Image: k.Image,
				Command: []string{"replicate", "work", "--plan", folder + "/plan.json", "--results", folder + "/results",
					"--first", fmt.Sprint(a.First())},
				Env:          []variable{{"TVPS_CACHE", folder + "/cache"}},
				Resources:    map[string]limits{"requests": needs, "limits": needs},
				VolumeMounts: []mount{{"tvps", folder}}}},
			Volumes: []volume{{"tvps", claim{k.Claim}}},
		}},
	}}
}
