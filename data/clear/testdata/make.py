# Writes the files of this folder: python3 make.py. It needs torch; the stored files were
# written by torch 2.14.0 and Python 3.11.7, but for clear10-public.zip, which has the same
# contents and was written in Go. expected.txt has what Python reads from them.
import io
import zipfile

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
torch.save({"a": torch.arange(3, dtype=torch.uint8)}, "bytes.pth")

with open("expected.txt", "w", encoding="utf-8") as f:
    f.writelines(expected)

names = "BACKGROUND baseball bus camera cosplay dress hockey laptop racing soccer sweater".split()
with zipfile.ZipFile("clear10-public.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("class_names.txt", "\n".join(names))
    for bucket in range(1, 11):
        for number, name in enumerate(names):
            images, out = {}, io.BytesIO()
            for i in range(3):
                values = [bucket * 1000 + number * 10 + i + j / 64 for j in range(4)]
                images[f"{5000000000 - i}"] = torch.tensor(values, dtype=torch.float32)
            torch.save(images, out)
            z.writestr(f"features/moco_b0/{bucket}/{name}.pth", out.getvalue())
