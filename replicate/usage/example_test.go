package usage_test

import (
	"fmt"

	"tvps/replicate/usage"
)

func ExampleNearest() {
	fmt.Println(usage.Nearest("epocs", []string{"batch", "epochs", "stride"}))
	// Output: epochs
}
