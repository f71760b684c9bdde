package nbformat_test

import (
	"fmt"
	"log"

	"tvps/kernel/nbformat"
)

// A notebook in Go with a cell of parameters.
const notebook = `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "tvps", "language": "go"}},
"cells": [{"cell_type": "code", "id": "one", "metadata": {"tags": ["parameters"]}, "execution_count": 3,
"source": "var scale = \"small\" // tiny, small or paper", "outputs": []}]}`

func ExampleNotebook_SetParameters() {
	nb, err := nbformat.Parse([]byte(notebook))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(nb.SetParameters(map[string]string{"scale": "tiny"}), nb.Cells[0].Source)
	// Output: <nil> var scale = "tiny" // tiny, small or paper
}

func ExampleNotebook_Parameters() {
	nb, err := nbformat.Parse([]byte(notebook))
	if err != nil {
		log.Fatal(err)
	}
	parameters, err := nb.Parameters()
	fmt.Println(parameters, err)
	// Output: [scale (string, default "small"): tiny, small or paper] <nil>
}

func ExamplePlainText() {
	fmt.Println(nbformat.PlainText("\x1b[31mred\x1b[0m"))
	// Output: red
}
