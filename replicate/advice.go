package main

import (
	"errors"

	"tvps/data/artifact"
	"tvps/replicate/runs"
)

// advice returns the text to append to err: the flag or action that resolves it. It is empty for errors that need no
// advice. Only the command line gives advice, since other packages do not know its flags.
func advice(err error) string {
	isWrite := errors.As(err, new(*runs.WriteError))
	switch folder, ok := errors.AsType[*runs.FolderError](err); {
	case ok && folder.Locks:
		return ": mount it with locks (Lustre: -o flock; NFS: without nolock and local_lock), or give each process a " +
			"folder of its own with --results and copy these together"
	case ok && folder.Err == nil:
		return ": choose another with --results"
	case ok:
		return ": make it writable or choose another with --results"
	case isWrite && artifact.IsDiskFull(err):
		return ": free some space and start again"
	case isWrite:
		return ": start again when it can be"
	case errors.As(err, new(*runs.InterruptedError)):
		return ", start again to continue"
	}
	return ""
}
