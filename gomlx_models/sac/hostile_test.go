package sac

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"

	"github.com/klauspost/compress/zstd"
)

// packed is a checkpoint of a header and the arrays that follow it.
func packed(tb testing.TB, head, arrays []byte) []byte {
	tb.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	raw := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
	return z.EncodeAll(append(append(raw, head...), arrays...), nil)
}

// parts are the header of a checkpoint and its arrays.
func parts(tb testing.TB, checkpoint []byte) (head, arrays []byte) {
	raw := unpacked(tb, checkpoint)
	length := binary.LittleEndian.Uint32(raw)
	return raw[4 : 4+length], raw[4+length:]
}

// TestLoadRejectsHeaders: headers that no agent writes, with a right checksum, are refused, and leave the agent as it
// was. Each of them would panic or take memory later.
func TestLoadRejectsHeaders(t *testing.T) {
	a := everything(t)
	fill(t, a, 20, 7)
	live(t, a)
	before := saved(t, a)
	head, arrays := parts(t, before[1])
	for name, c := range map[string]struct {
		change func(h *header)
		words  string
	}{
		"negative total": {func(h *header) { h.Replay.Total = -22 }, "-22 transitions"},
		"huge total":     {func(h *header) { h.Replay.Total = 1 << 62 }, "transitions with moments"},
		"other total":    {func(h *header) { h.Replay.Total, h.Replay.Moments.Count = 21, 21 }, "episode"},
		"no episodes":    {func(h *header) { h.Replay.Episodes = nil }, "0 episodes of 22"},
		"open without any": {func(h *header) { h.Replay = replayHeader{Open: true, Moments: newMoments(5)} },
			"0 episodes of 0"},
		"empty episode":  {func(h *header) { h.Replay.Episodes[0].Count = 0 }, "episode 0 of 0"},
		"gap":            {func(h *header) { h.Replay.Episodes[1].First++ }, "which ends at"},
		"negative first": {func(h *header) { h.Replay.Episodes[0].First = -1 }, "from -1"},
		"negative count": {func(h *header) { h.Replay.Episodes[0].Count = -4 }, "of -4 transitions"},
		"episode twice":  {func(h *header) { h.Replay.Episodes[1].Number = 0 }, "after episode 0"},
		"far episode": {func(h *header) { e := h.Replay.Episodes; e[len(e)-1].Number = 1 << 60 },
			"episode 1152921504606846976"},
		"last episode missing": {func(h *header) { e := &h.Replay.Episodes; *e = (*e)[:len(*e)-1] },
			"episodes of transitions"},
		"first episode missing": {func(h *header) { h.Replay.Episodes = h.Replay.Episodes[1:] },
			"episodes of transitions"},
		"sum":         {func(h *header) { h.Replay.Episodes[0].Sum = []float64{1} }, "episode 0"},
		"moments":     {func(h *header) { h.Replay.Moments.Mean = nil }, "moments of 22, 0"},
		"variance":    {func(h *header) { h.Replay.Moments.M2[0] = -1 }, "moments"},
		"mean of g":   {func(h *header) { h.LastFit.Mean = nil }, "0 means"},
		"scale of g":  {func(h *header) { h.LastFit.Scale[1] = 0 }, "fit of g"},
		"frequencies": {func(h *header) { h.LastFit.Frequencies = make([]float32, 99) }, "99 frequencies"},
		"fitted":      {func(h *header) { h.LastFit.Episode = -2 }, "episode -2"},
		"history":     {func(h *header) { h.Steps = make([][]float32, 5) }, "history of 5"},
		"step":        {func(h *header) { h.Steps = [][]float32{{1}} }, "step of 1"},
		"updates":     {func(h *header) { h.Updates = -1 }, "-1 updates"},
	} {
		var h header
		if err := json.Unmarshal(head, &h); err != nil {
			t.Fatal(err)
		}
		c.change(&h)
		changed, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			demand.Error(t, load(a, before[0], packed(t, changed, arrays)), "cannot read the checkpoint", c.words)
		})
	}
	for name, step := range map[string]uint32{"negative step": 1 << 31, "step after the last": 22} {
		changed := bytes.Clone(arrays)
		w := 4 * a.cfg.rowWidth()
		at := len(changed) - 17*(4+w) // the first number of a step: 17 rows follow
		binary.LittleEndian.PutUint32(changed[at:], step)
		t.Run(name, func(t *testing.T) {
			demand.Error(t, load(a, before[0], packed(t, head, changed)), "row 0 is step")
		})
	}
	if !reflect.DeepEqual(saved(t, a), before) {
		t.Error("a rejected checkpoint changed the agent")
	}
}

// TestLoadTakesNoMemory: a header that decompresses to more than its file allows, or says that it has a gigabyte, is
// refused in little memory.
func TestLoadTakesNoMemory(t *testing.T) {
	a := everything(t)
	var bomb bytes.Buffer
	z, err := zstd.NewWriter(&bomb, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	binary.Write(z, binary.LittleEndian, uint32(100<<20))
	for range 100 {
		z.Write(bytes.Repeat([]byte{' '}, 1<<20))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	demand.Error(t, load(a, packedLength(t, 1<<30), nil), "a header of 1073741824 bytes")
	short := packed(t, nil, nil)
	for name, data := range map[string][]byte{
		"spaces": bomb.Bytes(), "declared": packed(t, nil, []byte("xx")), "empty": short,
		"too large": packedLength(t, maxHeader+1), "cut": packedLength(t, maxHeader),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := load(a, data, nil)
		runtime.ReadMemStats(&after)
		demand.Error(t, err, "cannot read the checkpoint")
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 150 || len(data) > 100<<10 {
			t.Errorf("%s: %d bytes take %d MB", name, len(data), mb)
		}
	}
}

// packedLength is the beginning of a checkpoint whose header should have n bytes.
func packedLength(tb testing.TB, n uint32) []byte {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll(append(binary.LittleEndian.AppendUint32(nil, n), "{}"...), nil)
}

// FuzzCheckpoint reads bytes as a checkpoint, and as the header and arrays of one with a right checksum. A checkpoint
// that is accepted is the same after it was written and read again, and the agent can draw from its replay.
func FuzzCheckpoint(f *testing.F) {
	cfg := tiny(tinyContext, tinyOmega)
	cfg.Capacity = 17
	seeds := []int64{3}
	for _, transitions := range []int{0, 9, 40} {
		a := open(f, backend.Go, cfg, seeds...)
		fill(f, a, transitions, 7)
		if transitions > 0 {
			if err := a.FitOmega(); err != nil {
				f.Fatal(err)
			}
		}
		data := saved(f, a)[0]
		head, arrays := parts(f, data)
		f.Add(true, data, []byte(nil))
		f.Add(false, head, arrays)
	}
	a := open(f, backend.Go, cfg, seeds...)
	f.Fuzz(func(t *testing.T, whole bool, head, arrays []byte) {
		data := head
		if !whole {
			data = packed(t, head, arrays)
		}
		if err := load(a, data); err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") {
				t.Fatalf("not a sentence: %q", err)
			}
			return
		}
		rng := random.New(0, "fuzz")
		r := a.index[0]
		if r.total > 0 {
			at := r.uniform(rng, 8, cfg.Recent)
			r.windows(at, cfg.Context.History, make([]int32, 8*(cfg.Context.History+1)))
			for _, row := range at {
				if got := r.row(row); got < 0 || int(got) >= cfg.Capacity {
					t.Fatalf("row %d of %d", got, cfg.Capacity)
				}
			}
			r.episodeOf(at)
			r.byEpisode(rng, 8, true)
		}
		a.rollout.history()
		a.lastFitTensors()
		first := saved(t, a)[0]
		if err := load(a, first); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(saved(t, a)[0], first) {
			t.Fatal("the checkpoint changed by loading and saving it")
		}
	})
}
