// Package table reads a table with a time column, from CSV or Parquet, and encodes it for a model.
//
// Open reads the file and infers what each column is: a number, a category, a boolean, a time, or text that is
// ignored. [Table.Schema] shows it; [Options] override it. [Table.Usable] leaves out rows without a label and those far
// from all others in time, [Table.Times] groups the rows by time, [Table.Label] reads the label, and [Table.Fit] fits
// an [Encoder] on some rows that turns any rows into features.
//
//   - CSV: by encoding/csv, which refuses a misplaced quote. In front of it the delimiter (comma, semicolon, tab, bar),
//     the ends of lines and the encoding are found: UTF-8, with a note on bytes that are not, UTF-16 with a byte order
//     mark, otherwise Windows-1252, which a note says.
//   - Numbers may have separators of thousands, a sign of currency or percent: 1,100 is eleven hundred, and a note says
//     so if it could be 1.1. A decimal comma is not guessed.
//   - Times: year first, day first or month first, with names of months, with AM and PM, with offsets. The order of day
//     and month is decided by all values of the column, or refused.
//   - gzip and zstd: a CSV file may be compressed with either. The first bytes of a file decide, not its name.
//   - Parquet: columns of numbers, decimals, booleans, times and texts, in all encodings and codecs but LZO. Times of
//     day and UUIDs are categories. Nested columns and bytes that are not text are ignored, which a note says.
//     Integers beyond 2^53 that repeat are identifiers and become a category. Encrypted files are refused.
//
// The same table gives the same features from CSV and from Parquet, byte for byte. A float32 of a Parquet file counts
// as the shortest decimal that means it, as in a CSV file.
//
// # Errors
//
// What the user can mend is an [*Error]: one sentence with file, row and column, and what to do. Damaged and hostile
// files are such errors, too, never panics. Sizes that a file states are checked before memory is allocated for them,
// and [Limits] bounds what a small compressed file may expand to. Parquet is read by arrow-go, a column after another.
//
// A NaN or infinite number is an error: it is often the result of a failed computation. Missing values are empty
// fields, nulls, and the texts of [DefaultMissing]; [Table.Notes] counts the latter.
//
// # No look ahead
//
// An encoder's means, scales and levels come from the rows that it was fitted on alone. The kind of a column is
// inferred from all rows of the file.
//
// # Memory and speed
//
// A number, a time or a boolean takes 8 bytes, a category 4. CSV is read twice, first for the kinds, then for the
// values, so that no text is kept.
//
// A table of 1,000,000 rows and 50 columns, encoded as 260 features, on two cores of a Xeon that other work shared,
// measured twice:
//
//	file                 size     open           encode, times, label   peak memory
//	CSV                  881 MB   10.2, 10.8 s   1.1, 1.7 s             1.4 GiB
//	Parquet with zstd    329 MB   1.3, 2.4 s     1.1, 3.5 s             1.5 GiB
//
// The features themselves take 1.0 GiB of the peak. The commands, to make the files and to read one:
//
//	TVPS_TABLE_KEEP=/tmp TVPS_TABLE_ROWS=1000000 go test ./data/table -run - -bench Write -benchtime 1x
//	TVPS_TABLE_FILE=/tmp/x.parquet go test ./data/table -run - -bench Open -benchtime 1x
package table
