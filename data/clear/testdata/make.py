# Writes the files of this folder: python3 make.py. It needs torch; the stored files were
# written by torch 2.14.0 and Python 3.11.7. expected.txt has what Python reads from them.
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


def torch_file(name, v):
    torch.save(v, name)
    expected.append(f"{name}\t{plain(torch.load(name, weights_only=False))!r}\n")


base = torch.arange(20, dtype=torch.float32).reshape(4, 5)
torch_file("class.pth", {f"{5000000000 - i}": torch.arange(5, dtype=torch.float32) / 4 - i for i in range(3)})
torch_file("views.pth", {f"view {i}": row for i, row in enumerate(base)})
torch_file("all.pth", (base, [3, 0, 300, 1]))
torch.save(base, "legacy.pth", _use_new_zipfile_serialization=False)
torch.save({"a": torch.nn.Parameter(base[0])}, "parameter.pth")
torch.save({"a": torch.arange(3, dtype=torch.uint8)}, "bytes.pth")

with open("expected.txt", "w", encoding="utf-8") as f:
    f.writelines(expected)
