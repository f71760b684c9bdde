//go:build !race

package jupyter

// floodMB is the number of megabytes that a cell of TestFlood prints.
const floodMB = 100
