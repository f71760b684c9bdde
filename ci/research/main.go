// Command research has the benchmarks and studies that the authors run; a user of the program needs none of them.
package main

import (
	"time"

	"tvps/replicate/usage"
)

// grace is how long a command may take to end after Ctrl-C.
const grace = 2 * time.Second

func main() {
	usage.Main(usage.Root("research", "Benchmarks and studies of the authors", "command", naturalCommand(), studyCommand(),
		readingsCommand(), boundCommand(), mixtureCommand(), lengthCommand()), grace, noAdvice)
}

func noAdvice(error) string { return "" }
