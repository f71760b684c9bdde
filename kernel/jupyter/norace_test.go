//go:build !race

package jupyter

// floodMB is how many megabytes a cell of TestFlood prints.
const floodMB = 100
