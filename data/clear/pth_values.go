package clear

import (
	"fmt"
	"strconv"
)

// pyTuple is a Python tuple.
type pyTuple []any

// pyList is a Python list.
type pyList struct{ Items []any }

// pyDict is a Python dict: Keys[i] has the value Values[i], in the order of insertion. A key is
// a string or an int64.
type pyDict struct {
	Keys, Values []any

	at map[any]int // position of each key
}

// set sets the value of a key. A key that exists keeps its position, as in Python.
func (d *pyDict) set(key, value any) error {
	switch key.(type) {
	case string, int64:
	default:
		return fmt.Errorf("its pickle has a dict with a key of type %s; only strings and integers are supported", typeName(key))
	}
	if i, found := d.at[key]; found {
		d.Values[i] = value
		return nil
	}
	if d.at == nil {
		d.at = map[any]int{}
	}
	d.at[key] = len(d.Keys)
	d.Keys, d.Values = append(d.Keys, key), append(d.Values, value)
	return nil
}

// global is one of the names in Python that the machine accepts, such as torch.FloatStorage.
type global string

// typeName returns the name of a value's type in Python, for messages.
func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int64:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case pyTuple:
		return "tuple"
	case *pyList:
		return "list"
	case *pyDict:
		return "dict"
	case *tensor:
		return "tensor"
	case *storage:
		return "storage"
	case global:
		return "global " + string(v)
	}
	return fmt.Sprintf("%T", v)
}

// plain returns text from a file for a message: short, one line, no control characters.
func plain(s string) string {
	const limit = 80
	if len(s) > limit {
		s = s[:limit] + "..."
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}
