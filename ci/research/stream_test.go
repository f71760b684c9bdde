package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"tvps/ci/demand"

	"github.com/spf13/cobra"
)

// checkPage checks that the page of a command's folder in the archive has what the command prints of the tables there,
// and the pictures that it draws, with --out, into a folder.
func checkPage(t *testing.T, cmd *cobra.Command, name, out, folder string, pictures ...string) {
	t.Helper()
	page := filepath.Join("..", "..", "figures", "gallery", "archive", name)
	var printed bytes.Buffer
	cmd.SetOut(&printed)
	cmd.SetArgs([]string{"--tables", page, "--out", out})
	demand.NoError(t, cmd.Execute())
	if block, err := demand.Block(demand.Read(t, filepath.Join(page, "README.md")), name); err != nil || block != printed.String() {
		t.Errorf("README.md differs from what the command prints (%v): copy it into the page\n%s", err, &printed)
	}
	for _, picture := range pictures {
		if !bytes.Equal(demand.Read(t, filepath.Join(folder, picture)), demand.Read(t, filepath.Join(page, picture))) {
			t.Errorf("%s is not that of the tables: `go run ./ci/research %s` draws it", picture, name)
		}
	}
}
