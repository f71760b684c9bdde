package clients

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/kernel/nbformat"
)

const token = "browser-test"

// root is the folder of the checkout.
func root(t *testing.T) string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	demand.NoError(t, err)
	return dir
}

// prefix is the folder in which the kernel and JupyterLab are installed.
func prefix(t *testing.T) string {
	if dir := os.Getenv("TVPS_BROWSER_PREFIX"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("cannot find the cache folder (%v): set TVPS_BROWSER_PREFIX to a folder", err)
	}
	return filepath.Join(cache, "tvps", "browser")
}

var installed string

// install installs the kernel and a private JupyterLab, if they are missing, with the same commands as a user. It
// returns JupyterLab's Python. The first test does it for all.
func install(t *testing.T) (python string) {
	if installed != "" {
		return installed
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("JupyterLab needs python3, which is not on PATH: install it (on Debian: python3-venv)")
	}
	prefix := prefix(t)
	begin := time.Now()
	for _, args := range [][]string{
		{"install", "--prefix", prefix},
		{"lab", "--venv", "--prefix", prefix, "--", "--version"}, // JupyterLab prints its version and ends
	} {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "./kernel"}, args...)...)
		cmd.Dir = root(t)
		if os.Getenv("TVPS_RESULTS") == "" {
			cmd.Env = append(os.Environ(), "TVPS_RESULTS="+filepath.Join(prefix, "results"))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			if bytes.Contains(out, []byte("`apt-get install python3-venv`")) {
				t.Skipf("JupyterLab cannot be installed:\n%s", out)
			}
			t.Fatalf("kernel %s: %v\n%s", args[0], err, out)
		}
	}
	t.Logf("kernel and JupyterLab ready in %v", time.Since(begin).Round(time.Second))
	installed = filepath.Join(prefix, "share", "tvps", "kernel", "jupyterlab", "bin", "python")
	return installed
}

// copyNotebooks copies the notebooks, without their outputs, to a new folder: JupyterLab saves what it runs.
func copyNotebooks(t *testing.T, names []string) string {
	dir := t.TempDir()
	for _, name := range names {
		nb, err := nbformat.Read(filepath.Join(root(t), "notebooks", name))
		demand.NoError(t, err)
		for _, c := range nb.Cells {
			c.ExecutionCount, c.Outputs = 0, nil
		}
		demand.NoError(t, nbformat.Write(filepath.Join(dir, name), nb))
	}
	return dir
}

// notebook writes a notebook to a new folder. The sources of its cells are JSON, without quotes.
func notebook(t *testing.T, name string, sources ...string) (dir string) {
	text := ""
	for i, source := range sources {
		text += fmt.Sprintf(`,{"cell_type":"code","execution_count":null,"id":"cell%d","metadata":{},"outputs":[],"source":"%s"}`,
			i, source)
	}
	dir = t.TempDir()
	text = `{"cells":[` + text[1:] + `],"metadata":{"kernelspec":{"display_name":"Go (tvps)","language":"go",` +
		`"name":"tvps"}},"nbformat":4,"nbformat_minor":5}`
	demand.Write(t, filepath.Join(dir, name), text)
	return dir
}

// lab is a running JupyterLab.
type lab struct {
	address, mark string // mark is the value of labMark in the environment of the server and all that it starts
	signal        func(os.Signal)
}

const labMark = "TVPS_TEST_LAB"

// processes are the commands of the server and all that it started, by their numbers.
func (l lab) processes() map[string]string {
	all := map[string]string{}
	for _, pid := range demand.Processes(labMark, l.mark) {
		command, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
		all[pid] = strings.Join(strings.FieldsFunc(string(command), func(r rune) bool { return r == 0 }), " ")
	}
	return all
}

// certificate writes the key and the certificate for this machine that package httptest has.
func certificate(t *testing.T) (certFile, keyFile string) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	demand.NoError(t, err)
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	demand.Write(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}))
	demand.Write(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return certFile, keyFile
}

// startLab serves a folder until the test ends: the checkout, by `kernel lab`, if it is empty. A base is the path of a
// server that others share, as JupyterHub's are: such a server has TLS, too.
func startLab(t *testing.T, python, dir, base string) lab {
	port := freePort(t)
	mark := fmt.Sprint(t.Name(), " ", port)
	private := t.TempDir()
	var log bytes.Buffer
	cmd := exec.Command(python, "-m", "jupyterlab", "--no-browser", "--allow-root",
		"--ip=127.0.0.1",
		fmt.Sprint("--port=", port),
		"--ServerApp.port_retries=0",
		"--ServerApp.root_dir="+dir,
		"--IdentityProvider.token="+token,
		"--LabApp.expose_app_in_browser=True",
	)
	if dir == "" {
		dir = root(t)
		cmd = exec.Command("go", "run", "./kernel", "lab", "--venv", "--prefix", prefix(t), "--", "--no-browser",
			fmt.Sprint("--port=", port), "--IdentityProvider.token="+token, "--LabApp.expose_app_in_browser=True")
	}
	address := fmt.Sprint("http://127.0.0.1:", port)
	if base != "" {
		certFile, keyFile := certificate(t)
		cmd.Args = append(cmd.Args, "--ServerApp.base_url="+base, "--ServerApp.certfile="+certFile,
			"--ServerApp.keyfile="+keyFile)
		address = fmt.Sprint("https://127.0.0.1:", port, base)
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &log, &log
	cmd.Env = append(
		os.Environ(),
		"JUPYTER_PATH="+filepath.Join(prefix(t), "share", "jupyter"),
		"TVPS_OUT="+filepath.Join(private, "out"),
		labMark+"="+mark,
	)
	for _, name := range []string{"CONFIG_DIR", "RUNTIME_DIR", "DATA_DIR"} {
		cmd.Env = append(cmd.Env, "JUPYTER_"+name+"="+filepath.Join(private, name))
	}
	for _, name := range []string{"SETTINGS", "WORKSPACES"} {
		cmd.Env = append(cmd.Env, "JUPYTERLAB_"+name+"_DIR="+filepath.Join(private, name))
	}
	demand.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { // SIGTERM makes it stop its kernels
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			cmd.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("JupyterLab wrote:\n%s", strings.ReplaceAll(log.String(), token, "TOKEN"))
		}
	})
	for begin := time.Now(); !answers(t.Context(), address, "status"); time.Sleep(200 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("JupyterLab ended: %v", err)
		default:
		}
		if time.Since(begin) > 3*time.Minute {
			t.Fatal("JupyterLab does not answer")
		}
	}
	return lab{address, mark, func(s os.Signal) { _ = cmd.Process.Signal(s) }}
}

// answers says whether a server finds a path of its interface.
func answers(ctx context.Context, address, path string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/"+path+"?content=0&token="+token, nil)
	if err != nil {
		return false
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // #nosec
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	demand.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
