package mujoco

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"tvps/data/artifact"
)

// MuJoCo exits the process after an error outside a simulation, unless its log handler does
// not return. Here it becomes an error, every time and on any goroutine.
func TestFatalErrorIsCaught(t *testing.T) {
	lib, err := Open(context.Background(), Options{})
	if errors.Is(err, ErrPlatform) || errors.Is(err, artifact.ErrNetwork) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	model, err := lib.Model([]byte(`<mujoco><worldbody><geom size="1"/></worldbody></mujoco>`), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	s, err := model.Sim()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wrong := func() (err error) {
		defer guard(&err, "asking for two components")
		s.state(3) // two bits: an error in MuJoCo
		return nil
	}
	for range 100 {
		done := make(chan error)
		go func() { done <- wrong() }()
		if err := <-done; err == nil || !strings.Contains(err.Error(), "MuJoCo reports") {
			t.Fatal(err)
		}
		runtime.GC()
	}
	if err := s.Step(1); err != nil {
		t.Error(err)
	}
}
