package backend

import (
	"maps"
	"slices"

	"tvps/data/artifact"
)

// The pinned plugin: OpenXLA's build, published on PyPI.
const (
	pluginPackage = "xla-cpu-pjrt"
	pluginRelease = "0.0.1"
	pluginFile    = "pjrt_c_api_cpu_plugin.so" // the name that go-xla looks for
	pluginMember  = "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"
)

// pins holds the pinned wheels by GOOS-GOARCH. On other platforms the user names a plugin.
var pins = map[string]artifact.Wheel{
	"linux-amd64": pluginWheel("xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_x86_64.whl",
		"55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc", 63461052,
		"88c3f28c5900f48ad4a82cab9e79bba9537809743395e341485f8794268820dc", 259284552),
	"linux-arm64": pluginWheel("xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_aarch64.whl",
		"8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9", 49514947,
		"fcf411f3e8ff635c2b2cf87215aa7016f460e66d236c3db08309e7486583532d", 200328224),
}

// pluginWheel describes a wheel of the plugin's package and the plugin in it. Sizes are in
// bytes.
func pluginWheel(name, sha256 string, size int64, pluginSHA256 string, pluginSize int64) artifact.Wheel {
	return artifact.Wheel{
		Package: pluginPackage, Release: pluginRelease, Name: name, SHA256: sha256, Size: size,
		What: "the XLA plugin", Licence: "Apache-2.0",
		Members: []artifact.Member{{
			Path: pluginMember, Name: pluginFile, SHA256: pluginSHA256, Size: pluginSize, Perm: 0o755,
		}},
	}
}

// Pinned returns the pinned wheels, in any order.
func Pinned() []artifact.Wheel { return slices.Collect(maps.Values(pins)) }
