package experiment

import "sync"

// Memo holds values that are made once, each under its type and a key. The lock is held while a value is made, so
// making one must not ask the same memo for another.
type Memo struct {
	mu     sync.Mutex
	values map[any]any
}

// memoKey is a key among the values of type V.
type memoKey[V any] string

// Memoize returns the value of a key. The first call that succeeds makes it.
func Memoize[V any](m *Memo, key string, make func() (V, error)) (V, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.values[memoKey[V](key)]; ok {
		return v.(V), nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	if m.values == nil {
		m.values = map[any]any{}
	}
	m.values[memoKey[V](key)] = v
	return v, nil
}
