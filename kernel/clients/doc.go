// Package clients contains the tests with other programs that use the kernel of this checkout: papermill, and
// JupyterLab in headless Chromium. The latter run notebooks, move sliders, complete names, and end the server while a
// cell runs. They take minutes and install programs, so they run only on request:
//
//	TVPS_BROWSER=1 go test ./kernel/clients -count=1 -v
//
// They install the kernel and a private JupyterLab below TVPS_BROWSER_PREFIX (default: a folder in the user's cache
// folder, so the next call is faster). On Debian, as root, they also install Chromium. TVPS_BROWSER_CHROMIUM is the
// path of another browser, TVPS_BROWSER_OUT the folder for screenshots. If Python or Chromium cannot be installed, they
// are skipped with the reason.
package clients
