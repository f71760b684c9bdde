// Package browser holds the test of the notebooks in a real browser: JupyterLab with the
// kernel of this checkout, and Chromium without a window. It takes minutes and installs
// things, so it runs only where it is asked for:
//
//	TVPS_BROWSER=1 go test ./kernel/browser -count=1 -v
//
// It installs the kernel and a private JupyterLab below TVPS_BROWSER_PREFIX (default: a
// folder in the user's cache, so that the next call is faster), and on Debian, as root,
// Chromium. TVPS_BROWSER_CHROMIUM names another browser, TVPS_BROWSER_OUT the folder of the
// screenshots. Where Python, Chromium or ECharts cannot be had, it skips and says why.
package browser
