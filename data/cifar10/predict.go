package cifar10

import "math/bits"

const (
	side     = 32
	area     = side * side // of one plane
	stride   = side + 2    // a padded row: one column left and right of the image
	levels   = 20          // contexts of one plane
	contexts = 3 * levels
)

// plane is one colour plane while it is coded, with a border so that every pixel has
// neighbours. The pixel in row y, column x is at (y+1)*stride + x+1; miss is the absolute
// prediction error there. The row above the image is grey.
type plane struct {
	value [(side + 1) * stride]uint8
	miss  [(side + 1) * stride]uint8
}

// start sets the row above the image to grey.
func (p *plane) start() {
	for i := range stride {
		p.value[i] = 128
	}
}

// startRow sets the left border to the pixel above the first one of the row.
func (p *plane) startRow(y int) { p.value[(y+1)*stride] = p.value[y*stride+1] }

// endRow sets the right border to the last pixel of the row.
func (p *plane) endRow(y int) {
	end := (y+1)*stride + side + 1
	p.value[end] = p.value[end-1]
}

// predict returns the MED prediction (of LOCO-I, JPEG-LS) for position i and the level of
// activity around it: the sum of gradients and prediction errors, quantised.
func (p *plane) predict(i int) (guess uint8, level uint8) {
	up := i - stride
	w, n, nw, ne := int(p.value[i-1]), int(p.value[up]), int(p.value[up-1]), int(p.value[up+1])
	low, high := min(w, n), max(w, n)
	med := w + n - nw
	if nw >= high {
		med = low
	} else if nw <= low {
		med = high
	}
	misses := 2*(int(p.miss[i-1])+int(p.miss[up])) + int(p.miss[up-1]) + int(p.miss[up+1])
	activity := abs(w-nw) + abs(nw-n) + abs(n-ne) + misses
	return uint8(med), levelOf[activity]
}

// set stores the value at position i, given its prediction error modulo 256.
func (p *plane) set(i int, value, residual uint8) {
	p.value[i] = value
	p.miss[i] = uint8(abs(int(int8(residual))))
}

// levelOf quantises activity (at most 3*255 + 6*128) into half octaves.
var levelOf = func() (table [2048]uint8) {
	for a := range table {
		octave := bits.Len(uint(a+1)) - 1
		level := 2 * octave
		if octave > 0 {
			level += (a + 1) >> (octave - 1) & 1
		}
		table[a] = uint8(min(level, levels-1))
	}
	return table
}()

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

// join writes R, G, B of an image from the padded planes G, R-G+128 and B-G+128 (modulo 256).
func join(planes *[3]plane, image []byte) {
	for y := range side {
		for x := range side {
			i, at := y*side+x, (y+1)*stride+x+1
			g := planes[0].value[at]
			image[i] = planes[1].value[at] + g - 128
			image[area+i] = g
			image[2*area+i] = planes[2].value[at] + g - 128
		}
	}
}
