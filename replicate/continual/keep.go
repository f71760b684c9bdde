package continual

import "sync"

// kept holds values that are made once, each under its type and a key. The lock is held while a value is made, so
// making one must not ask the same kept for another.
type kept struct {
	mu     sync.Mutex
	values map[any]any
}

// keptKey is a key among the values of type V.
type keptKey[V any] string

// keep returns the value of a key. The first call that succeeds makes it.
func keep[V any](k *kept, key string, make func() (V, error)) (V, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, ok := k.values[keptKey[V](key)]; ok {
		return v.(V), nil
	}
	v, err := make()
	if err != nil {
		var none V
		return none, err
	}
	if k.values == nil {
		k.values = map[any]any{}
	}
	k.values[keptKey[V](key)] = v
	return v, nil
}
