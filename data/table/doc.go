// Package table reads a table with a time column, from CSV or Parquet, and encodes it for a model.
//
// Open reads the file and infers what each column is: a number, a category, a boolean, a time, or text that is
// ignored. [Data.Schema] shows it; [Options] override it. README.md beside the code says what is read as what.
// [Data.Usable] leaves out rows without a label and those far from all others in time, [Data.Times] groups the
// rows by time, [Data.Label] reads the label, and [Data.Fit] fits an [Encoder] on some rows that turns any rows
// into features. Its means, scales and levels come from these rows alone; the kind of a column is inferred from all
// rows of the file.
//
// The same table gives the same features from CSV and from Parquet, byte for byte. A float32 of a Parquet file counts
// as the shortest decimal that means it, as in a CSV file.
//
// What the user can mend is an [*Error]: one sentence with file, row and column, and what to do. Damaged and hostile
// files are such errors, too, never panics. The rows, pages and dictionaries that a file states are checked before
// memory is allocated for them.
//
// A number, a time or a boolean takes 8 bytes, a category 4. CSV is read twice, first for the kinds, then for the
// values, so that no text is kept. README.md has measured times.
package table
