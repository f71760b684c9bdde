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

// Collect lists a value of each element.
func Collect[S, T any](list []S, of func(S) T) []T {
	out := make([]T, len(list))
	for k, v := range list {
		out[k] = of(v)
	}
	return out
}
