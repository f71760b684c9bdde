package mujoco

import (
	"maps"
	"slices"

	"tvps/data/artifact"
)

const wheelPackage = "mujoco-core"

// wheels are the pinned wheels by GOOS-GOARCH. The Python version in their names does not
// matter: the library needs only glibc 2.27 or later.
var wheels = map[string]artifact.Wheel{
	"linux-amd64": wheel("mujoco_core-4.0.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
		"885bd9b9cc0a6b5ba1114923eb954027652a6a0c115fa46b3218b83bae72ac4f", 9557231,
		"90bc997a73efc90624a120f63eccd67441dfc6c705cd537357508f44757880ba", 7550456),
	"linux-arm64": wheel("mujoco_core-4.0.0-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
		"34de0c1674caa95abd3a0214ded4461e688150fbaa015b2db523d553b7411c3b", 8913227,
		"0f26ca812e38dc71ade595de5b99d0eedc8a344b595e8968b32a391433dc566b", 6811520),
}

func wheel(name, sha256 string, size int64, librarySHA256 string, librarySize int64) artifact.Wheel {
	return artifact.Wheel{
		Package: wheelPackage, Release: Version, Name: name, SHA256: sha256, Size: size,
		What: "MuJoCo's library", Licence: "Apache-2.0",
		Members: []artifact.Member{{
			Path: "mujoco/libmujoco.so." + Version, SHA256: librarySHA256, Size: librarySize, Perm: 0o755,
		}},
	}
}

// Pinned returns the pinned wheels, in any order.
func Pinned() []artifact.Wheel { return slices.Collect(maps.Values(wheels)) }
