"""Trains under each strategy and prints, for each, a hash of the weights that this rank has reached. The same for ranks of MPI and for those that
torchrun starts:

    mpirun -np 3 /usr/bin/python3 tests/engine/bindings/transport_test.py
    /usr/bin/python3 -m torch.distributed.run --nproc_per_node 3 --redirects 9:1 --tee 9:1 tests/engine/bindings/transport_test.py
"""
import hashlib
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "share/dtctl/program"))
import dtctl_sync as sync

CASES = [
    {"strategy": "sync-sgd", "allreduce": "ring"},
    {"strategy": "sync-sgd", "allreduce": "halving-doubling", "progress": "poll", "bucket_bytes": 64},
    {"strategy": "sync-sgd", "allreduce": "tree", "wire": "bfloat16"},
    {"strategy": "sync-sgd", "allreduce": "hierarchical"},
    {"strategy": "hsgd", "node_period": 2},
    {"strategy": "local-sgd", "allreduce": "ring", "period": 2},
    {"strategy": "sync-easgd", "overlap": 1, "period": 2},
    {"strategy": "sync-easgd", "overlap": 3, "allreduce": "ring"},
    {"strategy": "decentralized-easgd", "allreduce": "topology-aware", "period": 2},
    {"strategy": "easgd", "servers": 1},
    {"strategy": "diloco", "allreduce": "ring", "period": 2},
    {"strategy": "diloco", "period": 3, "wire": "int8", "outer": {"fragments": 2, "delay": 1}},
]


def train(case):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
    x = torch.randn(96, 6)
    y = x.sum(1).gt(0).long()
    with sync.Training(model, torch.optim.SGD(model.parameters(), lr=0.1), **case) as training:
        data = torch.utils.data.TensorDataset(x, y)
        for images, labels in training.batches(torch.utils.data.DataLoader(data, 8), steps=6):
            training.step(lambda: nn.functional.cross_entropy(model(images), labels))
        state = [buffer for _, buffer in sorted(training.state_dict()["buffers"].items())]
        values = torch.cat([p.detach().flatten() for p in model.parameters()] + [buffer.flatten() for buffer in state])
        return training.rank, training.ranks, hashlib.sha256(values.numpy().tobytes()).hexdigest()[:16]


torch.set_num_threads(1)
lines = []
for case in CASES:
    rank, ranks, digest = train(case)
    lines.append(f"rank {rank} of {ranks}, {case}: {digest}")
print("\n" + "\n".join(lines), flush=True)
