package cifar10

import (
	"fmt"
	"path/filepath"

	"tvps/data/artifact"
)

// sums are the SHA-256 hashes of the official files.
var sums = map[string]string{
	"data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
	"data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
	"data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
	"data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
	"data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
	"test_batch.bin":   "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}

// Verify returns nil if dir holds the six official files, by SHA-256. The error names the
// first file that is missing or differs. It takes under a second.
func Verify(dir string) error { return verify(dir, sums) }

func verify(dir string, sums map[string]string) error {
	for _, name := range officialFiles {
		path := filepath.Join(dir, name)
		got, err := artifact.SHA256(path)
		if err != nil {
			return fmt.Errorf("cifar10: cannot check the data: %w; %s", err, remedy)
		}
		if got != sums[name] {
			return fmt.Errorf("cifar10: %s is not the official file: its SHA-256 is %s instead of %s; %s",
				path, got, sums[name], remedy)
		}
	}
	return nil
}
