package artifact

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTempFolder: the folder of a process that was killed is removed by the next that makes one. Those of living
// processes stay, and so do folders of other names and those that were just made.
func TestTempFolder(t *testing.T) {
	const prefix = "tvps-temp-test-"
	if os.Getenv("TEMP_TEST_CHILD") != "" {
		dir, _, err := TempFolder(prefix)
		fmt.Println(dir, err)
		select {}
	}
	t.Setenv("TMPDIR", t.TempDir())
	start := func() (dir string, kill func()) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTempFolder$")
		cmd.Env = append(os.Environ(), "TEMP_TEST_CHILD=1")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		line, err := bufio.NewReader(out).ReadString('\n')
		dir, none, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err != nil || none != "<nil>" || os.WriteFile(filepath.Join(dir, "file"), nil, 0o644) != nil {
			t.Fatal(line, err)
		}
		return dir, func() { cmd.Process.Kill(); cmd.Wait() }
	}
	old := func(dir string) { // made an hour ago
		then := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, tempLock), then, then); err != nil {
			t.Fatal(err)
		}
	}
	dead, kill := start()
	kill()
	old(dead)
	young, kill := start()
	kill()
	living, _ := start()
	old(living)
	own, remove, err := TempFolder(prefix)
	if err != nil {
		t.Fatal(err)
	}
	old(own)
	other, removeOther, err := TempFolder(prefix)
	if err != nil {
		t.Fatal(err)
	}
	for dir, stays := range map[string]bool{dead: false, young: true, living: true, own: true, other: true} {
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("%s: %v", filepath.Base(dir), err)
		}
	}
	for _, remove := range []func() error{remove, removeOther} {
		if err := remove(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(own); err == nil {
		t.Error("a folder that is removed is still there")
	}
}
