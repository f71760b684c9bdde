package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"tvps/gomlx_models/backend"
	"tvps/replicate/usage"
)

func TestParseSeeds(t *testing.T) {
	for text, want := range map[string]string{"0": "[0]", "0,1,2": "[0 1 2]", "0-3": "[0 1 2 3]",
		"7,2-4": "[7 2 3 4]", " 1, 2": "[1 2]"} {
		if got, err := ParseSeeds(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "a", "1,", "3-1", "-1", "0-2000", "1-2-3", "0,0-1", "1.5", "99999999999"} {
		if got, err := ParseSeeds(text); !errors.Is(err, usage.Err) {
			t.Errorf("%q gives %v, %v, not a usage error", text, got, err)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Setenv("TVPS_CACHE", t.TempDir())
	results := filepath.Join(t.TempDir(), "results")
	lab, err := Open(context.Background(), testCatalog, OpenOptions{Backend: backend.Go, Results: results})
	if err != nil {
		t.Fatal(err)
	}
	if lab.Store == nil || lab.Host.Backend.Info.Name != backend.Go || lab.Host.CacheDir == "" {
		t.Errorf("%+v", lab)
	}
	if _, err := Open(context.Background(), testCatalog,
		OpenOptions{Backend: "tpu", Results: results}); !errors.Is(err, usage.Err) {
		t.Errorf("a backend that does not exist: %v", err)
	}
}
