"""Tells as one JSON line what PyTorch sees; run by the environment's own interpreter, with its standard library alone."""

import json
import os
import sys

if sys.path and sys.path[0] == "":
    del sys.path[0]


def main():
    """Import torch and report its build and its devices."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what torch prints does not get into the report
    import torch

    cuda, hip = getattr(torch.version, "cuda", None), getattr(torch.version, "hip", None)
    devices, unfit = [], []
    if torch.cuda.is_available():
        for number in range(torch.cuda.device_count()):
            (devices if is_made_for(torch, number) or hip else unfit).append(str(torch.cuda.get_device_name(number)))
    backends = getattr(torch, "backends", None)
    mps = getattr(backends, "mps", None)
    told = {
        "version": str(torch.__version__),
        "cuda": cuda and str(cuda),
        "hip": hip and str(hip),
        "devices": devices,
        "unfit": unfit,
        "mps": bool(mps is not None and mps.is_available()),
    }
    out.write("aml-torch " + json.dumps(told) + "\n")
    out.flush()
    os._exit(0)  # threads and exit handlers of torch are none of our business


def is_made_for(torch, number):
    """Tell whether the build has code for a card; where it does not say for what it has code, it is believed to."""
    major, minor = torch.cuda.get_device_capability(number)
    for name in torch.cuda.get_arch_list():
        kind, _, digits = name.partition("_")
        digits = "".join(filter(str.isdigit, digits))
        if not digits:
            continue
        has = (int(digits[:-1]), int(digits[-1]))
        if (kind == "sm" and has[0] == major and has[1] <= minor) or (kind == "compute" and has <= (major, minor)):
            return True
    return not torch.cuda.get_arch_list()


main()
