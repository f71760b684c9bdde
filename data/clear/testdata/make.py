# Writes the files of this folder: python3 make.py. It needs torch; the stored files were
# written by torch 2.14.0 and Python 3.11.7. expected.txt has what Python reads from them.
import collections
import pickle

import torch

expected = []


def plain(v):
    if isinstance(v, torch.Tensor):
        return v.tolist()
    if isinstance(v, dict):
        return {k: plain(e) for k, e in v.items()}
    if isinstance(v, (list, tuple)):
        return type(v)(plain(e) for e in v)
    return v


def note(name, v):
    expected.append(f"{name}\t{plain(v)!r}\n")


def torch_file(name, v, **options):
    torch.save(v, name, **options)
    note(name, torch.load(name, weights_only=False))


base = torch.arange(20, dtype=torch.float32).reshape(4, 5)
torch_file("class.pth", {f"{5000000000 - i}": torch.arange(5, dtype=torch.float32) / 4 - i for i in range(3)})
torch_file("views.pth", {f"view {i}": row for i, row in enumerate(base)})
torch_file("all.pth", (base, [3, 0, 300, 1]))
torch_file("types.pth", collections.OrderedDict(
    transposed=base.t(), part=base[1:3, 1:4], column=base[:, 2],
    cube=torch.arange(24, dtype=torch.float32).reshape(2, 3, 4).permute(2, 0, 1),
    long=torch.tensor([1, -2, 1 << 15]), half=torch.tensor([1.5, -0.25, 65504, 6e-8, 0.1], dtype=torch.half),
    double=torch.tensor([2.5, -0.125], dtype=torch.double), scalar=torch.tensor(7.5)))
for protocol in (3, 4, 5):
    torch_file(f"protocol{protocol}.pth", {"a": base[0], "b": (base[1], [1, 2])}, pickle_protocol=protocol)
torch.save(base, "legacy.pth", _use_new_zipfile_serialization=False)
torch.save({"a": torch.nn.Parameter(base[0])}, "parameter.pth")
torch.save({"a": torch.arange(3, dtype=torch.uint8)}, "bytes.pth")

shared = ["twice", 1]
value = {
    "ints": [0, 1, -1, 255, 256, 65535, 65536, -70000, 2**31 - 1, -2**31, 2**31, -2**40, 2**62, 2**63 - 1, -2**63],
    "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
    "floats": [0.5, -1.25, 1e300], "none": None, "bools": [True, False],
    "text": ["", "\u00e9\u4e2d", "x" * 300], "many": list(range(1010)),
    "dicts": {"empty": {}, "one": {7: []}, "more": {i: str(i) for i in range(1010)}},
    "ordered": collections.OrderedDict(z=1, a=2), "shared": [shared, shared],
}
for protocol in (2, 3, 4, 5):
    with open(f"protocol{protocol}.pkl", "wb") as f:
        pickle.dump(value, f, protocol)
note("protocol.pkl", value)

with open("expected.txt", "w", encoding="utf-8") as f:
    f.writelines(expected)
