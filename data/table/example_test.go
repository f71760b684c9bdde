package table_test

import (
	"errors"
	"fmt"
	"log"
	"strings"

	"tvps/data/table"
)

// A shop's orders: prices rise, a city is new, and returns become more likely.
const orders = `date,price,city,express,returned
2024-01-08,10.5,Rome,false,no
2024-01-09,11,Paris,true,no
2024-01-10,9.5,Rome,false,no
2024-01-16,12,Paris,,no
2024-01-17,,Rome,true,yes
2024-01-24,14.5,Oslo,true,yes
2024-01-25,15,Oslo,false,no
2024-01-26,16,Rome,true,yes
`

// Read a table, group its rows by week, and encode them with means and levels of the first two weeks.
func Example() {
	t, err := table.Read("orders.csv", strings.NewReader(orders), int64(len(orders)), table.Options{})
	if err != nil {
		log.Fatal(err) // one sentence: file, row, column, problem, and what to do
	}
	fmt.Print(t.Schema())

	weeks, err := t.Times("date", table.Bin{Unit: "week"})
	if err != nil {
		log.Fatal(err)
	}
	label, err := t.Label("returned", table.AnyLabel)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("weeks", weeks.Names, "with rows", weeks.Counts, "classes", label.Names)

	columns, err := t.Features("date", "returned")
	if err != nil {
		log.Fatal(err)
	}
	encoder, err := t.Fit(columns, weeks.Rows(0, 2))
	if err != nil {
		log.Fatal(err)
	}
	x, err := encoder.Encode(t, weeks.Rows(1, 3))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Join(encoder.Names(), ", "))
	for dim := encoder.Dim(); len(x) > 0; x = x[dim:] {
		fmt.Printf("%5.2f\n", x[:dim])
	}
	// Output:
	// orders.csv: CSV, delimiter ,, 8 rows, 5 columns
	//   date           time       year first
	//   price          number     1 missing
	//   city           category   Oslo, Paris, Rome
	//   express        boolean    1 missing
	//   returned       category   no, yes
	// weeks [2024-W02 2024-W03 2024-W04] with rows [3 2 3] classes [no yes]
	// price, price (missing), city=Paris, city=Rome, express, express (missing)
	// [ 1.39  0.00  1.00  0.00  0.50  1.00]
	// [ 0.00  1.00  0.00  1.00  1.00  0.00]
	// [ 4.16  0.00  0.00  0.00  1.00  0.00]
	// [ 4.71  0.00  0.00  0.00  0.00  0.00]
	// [ 5.82  0.00  0.00  1.00  1.00  0.00]
}

// A mistake in a file is one sentence.
func ExampleError() {
	const text = "day,price\n2024-01-08,10.5\n2024-01-09,eleven\n2024-01-10,9.5\n2024-01-11,9\n2024-01-12,8\n"
	_, err := table.Read("orders.csv", strings.NewReader(text), int64(len(text)), table.Options{})
	var mistake *table.Error
	if errors.As(err, &mistake) { // the command line exits with 2
		where, what, _ := strings.Cut(mistake.Error(), ": ")
		fmt.Println(where)
		fmt.Println(strings.ReplaceAll(what, "; ", ";\n"))
	}
	// Output:
	// orders.csv, row 2 (line 3), column "price"
	// "eleven" is not a number, as 4 of 4 other values are;
	// mend it, leave it empty if it is missing, or give --type COLUMN=category
}
