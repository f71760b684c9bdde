// Package browser contains the test of the notebooks in a real browser: JupyterLab with the kernel of this checkout,
// and headless Chromium. The test takes minutes and installs programs, so it runs only on request:
//
//	TVPS_BROWSER=1 go test ./kernel/browser -count=1 -v
//
// It installs the kernel and a private JupyterLab below TVPS_BROWSER_PREFIX (default: a folder in the user's cache
// folder, so the next call is faster). On Debian, as root, it also installs Chromium. TVPS_BROWSER_CHROMIUM is the
// path of another browser, TVPS_BROWSER_OUT the folder for screenshots. If Python, Chromium or ECharts cannot be
// installed, the test is skipped with the reason.
package browser
