package tables

// Thin keeps n of the values, or all if they are fewer, at regular distances.
func Thin[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}
