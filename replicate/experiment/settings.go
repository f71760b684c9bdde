package experiment

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tvps/replicate/usage"
)

// Field is one setting as text. A struct of settings has fields of type string, int, float64 or bool with these tags:
// `set` is the setting's name, `doc` its meaning and source (a place in the paper or the number of an interpretation),
// and `of` the part of a run that it can change. A setting that came later has `was`: the value that runs had before.
type Field struct {
	Name, Value, Doc, Of string
}

// Fields lists the settings of a struct in the order of its fields.
func Fields(s any) []Field {
	v := reflect.ValueOf(s)
	var out []Field
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		out = append(out, Field{tag.Get("set"), fmt.Sprint(v.Field(i).Interface()), tag.Get("doc"), tag.Get("of")})
	}
	return out
}

// Identity returns the values of the settings whose tag `of` is one of the parts, by name. A setting with the value of
// its tag `was` is not among them, so that runs from before the setting keep their identity.
func Identity(s any, parts ...string) map[string]string {
	out := map[string]string{}
	for i, f := range Fields(s) {
		was, later := reflect.TypeOf(s).Field(i).Tag.Lookup("was")
		if slices.Contains(parts, f.Of) && !(later && f.Value == was) {
			out[f.Name] = f.Value
		}
	}
	return out
}

// Clear makes the settings of some parts zero, in the struct that s points to.
func Clear(s any, parts ...string) {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if slices.Contains(parts, v.Type().Field(i).Tag.Get("of")) {
			v.Field(i).SetZero()
		}
	}
}

// Rules say which values are valid.
type Rules struct {
	Choices map[string][]string // the valid values of a string, by name
	Minimum map[string]int      // the minimum of a number, by name; every other number must be positive
	Maximum map[string]int      // the maximum of a number, by name; that of every other is Largest
}

// Largest is the maximum of every number without one of its own. It is far above what makes sense, and low enough that
// products of two numbers are exact.
const Largest = 100_000_000

// Set changes one setting of the struct that s points to, by name. Errors name the setting and the valid values, and
// leave the struct as it was.
func (r Rules) Set(s any, name, value string) error {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("set") == name {
			changed := reflect.New(v.Field(i).Type()).Elem()
			if err := parse(changed, value); err != nil {
				return fmt.Errorf("setting %s=%s: %w", name, value, err)
			}
			if err := r.check(name, changed); err != nil {
				return err
			}
			v.Field(i).Set(changed)
			return nil
		}
	}
	var known []string
	for _, f := range Fields(v.Interface()) {
		known = append(known, f.Name)
	}
	return fmt.Errorf("there is no setting %q%s (--show-config lists them)", name, usage.Proposal(name, known))
}

// Check returns an error if a setting of the struct has an invalid value. It names the first one.
func (r Rules) Check(s any) error {
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if err := r.check(v.Type().Field(i).Tag.Get("set"), v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// parse sets a field of a struct from text.
func parse(field reflect.Value, value string) error {
	switch field.Kind() {
	case reflect.String:
		field.SetString(value)
	case reflect.Int:
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("it must be a whole number")
		}
		field.SetInt(int64(n))
	case reflect.Float64:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("it must be a number")
		}
		field.SetFloat(x)
	case reflect.Bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("it must be true or false")
		}
		field.SetBool(b)
	}
	return nil
}

// check returns an error if a value is invalid for the setting of that name.
func (r Rules) check(name string, value reflect.Value) error {
	var x float64
	switch value.Kind() {
	case reflect.String:
		if valid := r.Choices[name]; !slices.Contains(valid, value.String()) {
			return fmt.Errorf("setting %s=%s is not one of %s%s",
				name, value, strings.Join(valid, ", "), usage.Proposal(value.String(), valid))
		}
		return nil
	case reflect.Bool:
		return nil
	case reflect.Int:
		x = float64(value.Int())
	case reflect.Float64:
		x = value.Float()
	}
	least, ok := r.Minimum[name]
	most := float64(cmp.Or(r.Maximum[name], Largest))
	switch {
	case x-x != 0:
		return fmt.Errorf("setting %s=%v must be a finite number", name, value)
	case ok && x < float64(least):
		return fmt.Errorf("setting %s=%v must be at least %d", name, value, least)
	case !ok && x <= 0:
		return fmt.Errorf("setting %s=%v must be positive", name, value)
	case x > most:
		return fmt.Errorf("setting %s=%v must be at most %.0f", name, value, most)
	}
	return nil
}
