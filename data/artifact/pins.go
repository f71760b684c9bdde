package artifact

import "strings"

// Everything that is downloaded, except Python's JupyterLab and Go's gopls (package kernel/setup). The addresses of
// wheels on PyPI contain a hash of the file: the file at an address never changes.

// MuJoCoVersion is the release of the pinned MuJoCo.
const MuJoCoVersion = "4.0.0"

// XLAPlugin is OpenXLA's build for a CPU, by GOOS-GOARCH.
var XLAPlugin = map[string]Archive{
	"linux-amd64": xlaWheel("5d/ca/5487881b30d07396c168749ead36f57dbc4538cafdc535943afc81b3e5a2/"+
		"xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_x86_64.whl",
		"55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc", 63461052,
		"88c3f28c5900f48ad4a82cab9e79bba9537809743395e341485f8794268820dc", 259284552),
	"linux-arm64": xlaWheel("c9/2d/2c6703356beded886d95f9e37adb49aeca7b21e7617f2ff59893f038f61e/"+
		"xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_aarch64.whl",
		"8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9", 49514947,
		"fcf411f3e8ff635c2b2cf87215aa7016f460e66d236c3db08309e7486583532d", 200328224),
}

// MuJoCo is the library of MuJoCo, by GOOS-GOARCH. The Python version in the wheels' names does not matter: the library
// needs only glibc 2.27 or later.
var MuJoCo = map[string]Archive{
	"linux-amd64": mujocoWheel("b0/f9/735be957a2ca0981fb2abcf969f01b9cb52d5e2a452acbbf7d1842ad1392/"+
		"mujoco_core-4.0.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
		"885bd9b9cc0a6b5ba1114923eb954027652a6a0c115fa46b3218b83bae72ac4f", 9557231,
		"90bc997a73efc90624a120f63eccd67441dfc6c705cd537357508f44757880ba", 7550456),
	"linux-arm64": mujocoWheel("0d/5c/00197c7951f6fa20b0092e675777cb26a1c96277a699f099a424cb77cdb6/"+
		"mujoco_core-4.0.0-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
		"34de0c1674caa95abd3a0214ded4461e688150fbaa015b2db523d553b7411c3b", 8913227,
		"0f26ca812e38dc71ade595de5b99d0eedc8a344b595e8968b32a391433dc566b", 6811520),
}

// Gymnasium has the official model of the Half-Cheetah.
var Gymnasium = Archive{
	File: wheel("38/4e/6a51be94ae8e9dc8eaddd6ea74a6dde754448c4c746b51a232681f81e41c/gymnasium-1.4.0-py3-none-any.whl",
		"1cb947c59e7c72d8eabb2c2274c00cd20948e69f8452a9ef4092223be24fdf0e", 476306),
	What: "the Half-Cheetah's model", Package: "gymnasium", Release: "1.4.0", Licence: "MIT",
	Members: []Member{{
		Path:   "gymnasium/envs/mujoco/assets/half_cheetah.xml",
		SHA256: "11797a5d69e8ac955e89ca6fdd3a0087f1c990094fda401ac51420de1b6c5494", Size: 5616,
	}},
}

// ROBEL has the official model of the D'Claw.
var ROBEL = Archive{
	File: wheel("09/82/f36de3943fa84d3227223570488249126bdd8b55ae6ec18138c15445ca7e/robel-0.1.2-py3-none-any.whl",
		"6f14db7ce37e00e2b9a6ea792fcd5af23e857dea905033531699edb03a86edcc", 7725761),
	What: "the D'Claw's model", Package: "robel", Release: "0.1.2", Licence: "Apache-2.0",
	Members: []Member{
		scene("assets/chain3xh.xml", "2609c1a31eee9b48905fad4488f2f62b3f725f48b453010192a000d6fcbc38f8", 9378),
		scene("assets/dependencies3xh.xml", "d1c6687ccf8e11661f7d536dd981f5daeda9b4a80707fc284b28df414ff66b7c", 4737),
		scene("meshes/acrylic_circle.stl", "4e013c7ae90a79c30eaf2dc65227f9ca987b5a3c0c8adadf770d55c9f18b0ee9", 219284),
		scene("meshes/xh_base_high_poly.stl", "8967bbde6556af1d99f7313e2cf74081d42e73c1670b1a56e493d4f0228e1218", 290684),
		scene("meshes/xh_base_hull.stl", "a398bc57f7755eff48349646c1071dd622208cdabacdd7ec3db246e3c891b5df", 1484),
		scene("meshes/xh_base_hull_top.stl", "f8c84c614d0914f5ea06f7fdb09cf479b48ce6658e5804fee6a47313b835ec3f", 1484),
		scene("meshes/xh_clamping_high_poly.stl",
			"b4e3fcdf7d2d847d60e153faf121fb1a3d4cf16d021b302646a1f7f8c75d165a", 421384),
		scene("meshes/xh_clamping_small_high_poly.stl",
			"cdc364b19186030418f005b35fa6b897347a6551c2ea7d074f4f70f1554c2031", 194884),
		scene("meshes/xh_finger_tip.stl", "78965c216d01f0cc87966fec6d22592e4f9a79db9f68fdfbf0fa5d550eb8062d", 54084),
		scene("meshes/xh_white_top_high_poly.stl", "5aafe6fc78543e93c38dbc326157138498d95f60d1bf3786ab5f004376c0f95f", 9684),
	},
}

// CIFAR10 is the official binary version, which is published without a SHA-256: five files of training images, then one
// of test images.
var CIFAR10 = Archive{
	File: File{Name: "CIFAR-10", URL: "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
		Size: 170052171},
	What: "CIFAR-10",
	Members: []Member{
		batch("data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
		batch("data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
		batch("data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"),
		batch("data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"),
		batch("data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"),
		batch("test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"),
	},
}

// wheel is a file of PyPI. Its size is in bytes.
func wheel(address, sha256 string, size int64) File {
	return File{Name: address[strings.LastIndex(address, "/")+1:], SHA256: sha256, Size: size,
		URL: "https://files.pythonhosted.org/packages/" + address}
}

// library is the one member of a wheel that is loaded.
func library(path, name, sha256 string, size int64) []Member {
	return []Member{{Path: path, Name: name, SHA256: sha256, Size: size, Perm: 0o755}}
}

func xlaWheel(address, sha256 string, size int64, librarySHA256 string, librarySize int64) Archive {
	return Archive{File: wheel(address, sha256, size), What: "the XLA plugin",
		Package: "xla-cpu-pjrt", Release: "0.0.1", Licence: "Apache-2.0",
		Members: library("xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", "pjrt_c_api_cpu_plugin.so", // as go-xla looks for
			librarySHA256, librarySize)}
}

func mujocoWheel(address, sha256 string, size int64, librarySHA256 string, librarySize int64) Archive {
	return Archive{File: wheel(address, sha256, size), What: "MuJoCo's library",
		Package: "mujoco-core", Release: MuJoCoVersion, Licence: "Apache-2.0",
		Members: library("mujoco/libmujoco.so."+MuJoCoVersion, "", librarySHA256, librarySize)}
}

// scene is a file of the D'Claw in ROBEL's wheel.
func scene(path, sha256 string, size int64) Member {
	return Member{Path: "robel/robel-scenes/dclaw/" + path, Name: path, SHA256: sha256, Size: size}
}

// batch is a file of 10,000 images of CIFAR-10, a byte for the label and 3,072 for the pixels of each.
func batch(name, sha256 string) Member {
	return Member{Path: "cifar-10-batches-bin/" + name, SHA256: sha256, Size: 10000 * 3073}
}
