//go:build race

package jupyter

// floodMB is smaller under the race detector, which makes JSON a hundred times slower.
const floodMB = 5
