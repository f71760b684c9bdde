package usage_test

import (
	"fmt"

	"tvps/replicate/usage"
)

func ExampleProposal() {
	fmt.Printf("there is no setting %q%s\n", "epocs", usage.Proposal("epocs", []string{"batch", "epochs", "stride"}))
	// Output: there is no setting "epocs"; did you mean "epochs"?
}
