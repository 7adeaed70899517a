"""What each strategy of dtctl_sync computes over TCP without MPI, and by sums on devices, beside MPI.

  scripts/measure transports [--ranks 2,3,4]
  scripts/measure transports --ranks 4 --hosts 2     ranks that believe that they run on two hosts; needs root

The same network trains for six steps under each strategy: over MPI; over TCP, started by torchrun; and so again with weights and gradients on a
"device", which is the CPU here with Gloo in place of NCCL. Printed is how far weights and the strategy's own vectors are from those over MPI, as
a share of the largest number; 0 means the same bits. Exit code 1 if TCP has other bits, or a device is further off than TOLERANCE or does not sum
where it could. About a quarter of a minute for each number of ranks. Needs python3-torch.
"""
import ctypes
import os
import socket
import subprocess
import sys

from measuring import ROOT, columns, free_port, mpirun, numbers_of, row, stop

PROGRAMS = ["dtctl_sync", "dtctl_sync_torch"]
TOLERANCE = 1e-5
CLONE_NEWUTS = 0x04000000
CASES = [
    {"strategy": "sync-sgd", "allreduce": "ring"},
    {"strategy": "sync-sgd", "allreduce": "halving-doubling", "progress": "poll", "bucket_bytes": 64},
    {"strategy": "sync-sgd", "allreduce": "tree", "wire": "bfloat16"},
    {"strategy": "sync-sgd", "allreduce": "hierarchical"},
    {"strategy": "hsgd"},
    {"strategy": "hsgd", "node_period": 2},
    {"strategy": "local-sgd", "allreduce": "ring", "period": 2},
    {"strategy": "sync-easgd", "overlap": 1, "period": 2},
    {"strategy": "sync-easgd", "overlap": 2, "period": 2},
    {"strategy": "sync-easgd", "overlap": 3, "allreduce": "ring"},
    {"strategy": "decentralized-easgd", "allreduce": "topology-aware", "period": 2},
    {"strategy": "easgd", "servers": 1},
    {"strategy": "async-sgd", "servers": 1},
    {"strategy": "diloco", "allreduce": "ring", "period": 2},
    {"strategy": "diloco", "period": 3, "outer": {"fragments": 2, "delay": 1}},
    {"strategy": "diloco", "period": 3, "wire": "int8", "outer": {"fragments": 2, "delay": 1}},
]


def options(parser):
    parser.add_argument("--ranks", type=numbers_of, default="2,3,4")
    parser.add_argument("--hosts", type=int, default=1, help="that the ranks believe to run on, equally many on each")
    parser.add_argument("--rank-of", metavar="NAME", help="this process is a rank: MPI, TCP or devices")


def may_sum_on_devices(case):
    return "servers" not in case and case.get("overlap") != 1 and "wire" not in case


def is_exact(case, ranks):
    """Whether the order of arithmetic is the same in every run. Workers reach their server in an order of their own."""
    return case["strategy"] != "async-sgd" or ranks == 2


def train(sync, case):
    import torch

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(6, 20), torch.nn.Tanh(), torch.nn.Linear(20, 3))
    x = torch.randn(96, 6)
    y = x.sum(1).gt(0).long()
    with sync.Training(model, torch.optim.SGD(model.parameters(), lr=0.1), **case) as training:
        for images, labels in training.batches(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), 8), steps=6):
            training.step(lambda: torch.nn.functional.cross_entropy(model(images), labels))
        state = [buffer for _, buffer in sorted(training.state_dict()["buffers"].items())]
        values = torch.cat([p.detach().flatten() for p in model.parameters()] + [buffer.flatten() for buffer in state])
        return values.clone(), training._sums is not None


def run_rank(asked, place):
    rank, ranks = (int(os.environ[name]) for name in (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE") if asked.rank_of == "MPI" else ("RANK", "WORLD_SIZE")))
    if asked.hosts > 1:
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUTS) != 0:
            stop("a name of the host of its own for each rank needs root")
        socket.sethostname(f"127.0.0.{1 + rank * asked.hosts // ranks}")  # a name that is found
    import dtctl_sync as sync
    import torch

    torch.set_num_threads(1)
    sync.packed.Packed.always_mirrors = sync.sums.Sums.on_processors = asked.rank_of == "devices"
    found = [train(sync, case) for case in CASES]
    torch.save(found, place.folder / f"{asked.rank_of} {rank}.pt")


def start(asked, place, name, ranks):
    """What each rank has reached: for each case its vectors, and whether the device has summed."""
    import torch

    if name == "MPI":
        launcher = [*mpirun(ranks, "--oversubscribe"), sys.executable]
    else:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", ranks, "--master_port", free_port(), "--redirects", "9:1", "--tee", "9:1"]
    command = [*launcher, ROOT / "scripts/measure", "transports", "--build", place.build, "--keep", place.folder, "--hosts", asked.hosts, "--rank-of", name]
    variables = dict(DTCTL_SYNC_LIBRARY=str(place.build / "lib/libdtctl_sync.so"), OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(list(map(str, command)), env=dict(os.environ, **variables), capture_output=True, text=True)
    if done.returncode != 0:
        stop(f"{ranks} ranks over {name} ended with {done.returncode}:\n{done.stdout}{done.stderr}", 1)
    return [torch.load(place.folder / f"{name} {rank}.pt") for rank in range(ranks)]


def deviation(found, reference, i):
    return max(float((one[i][0] - other[i][0]).abs().max() / other[i][0].abs().max()) for one, other in zip(found, reference))


def compare(asked, place, ranks):
    over = {name: start(asked, place, name, ranks) for name in ("MPI", "TCP", "devices")}
    columns(f"strategy, {ranks} ranks" + (f" on {asked.hosts} hosts" if asked.hosts > 1 else ""), "TCP", "sums on devices")
    good = True
    for i, case in enumerate(CASES):
        by_tcp, by_device = deviation(over["TCP"], over["MPI"], i), deviation(over["devices"], over["MPI"], i)
        sums = over["devices"][0][i][1]
        good = good and sums == may_sum_on_devices(case) and (not is_exact(case, ranks) or (by_tcp == 0 and by_device <= TOLERANCE))
        row(" ".join(f"{name}={value}" for name, value in case.items()), f"{by_tcp:.1g}", f"{by_device:.1g}" if sums else f"{by_device:.1g}, by the host")
    return good


def measure(asked, place):
    if asked.rank_of:
        return run_rank(asked, place)
    return 0 if all([compare(asked, place, ranks) for ranks in asked.ranks]) else 1
