"""Generated from notebooks/01_from_cuda_to_triton.ipynb by `make derived`: edit the notebook, not this file."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class TrafficCounter(TorchDispatchMode):
    """Notes each operation PyTorch runs as (name, bytes read of each tensor, bytes written)."""

    def __init__(self, **tensors):
        super().__init__()
        self.names = {id(tensor): name for name, tensor in tensors.items()}
        self.steps, self.kept = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        read = {self.names[id(t)]: t.nbytes for t in args if isinstance(t, torch.Tensor)}
        self.names[id(out)] = f"t{len(self.steps) + 1}"
        self.kept.append(out)  # a freed tensor's id could be given to the next one
        self.steps.append((func.overloadpacket.__name__, read, {self.names[id(out)]: out.nbytes}))
        return out

    def __exit__(self, *error):
        name, read, written = self.steps[-1]
        self.steps[-1] = (name, read, {"out": sum(written.values())})
        return super().__exit__(*error)
