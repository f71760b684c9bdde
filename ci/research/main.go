// Command research has the benchmarks and studies that the authors run; a user of the program needs none of them.
package main

import (
	"time"

	"tvps/replicate/usage"
)

func main() {
	const grace = 2 * time.Second // for a command to end after Ctrl-C
	noAdvice := func(error) string { return "" }
	usage.Main(usage.Root("research", "Benchmarks and studies of the authors", "command", naturalCommand(), studyCommand(),
		readingsCommand(), boundCommand(), mixtureCommand(), forgettingCommand(), lengthCommand()), grace, noAdvice)
}
