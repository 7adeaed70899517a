"""The observer of PyTorch programs (share/dtctl/program/dtctl_observe) on this device: its phases of ResNet-50 beside events that the
script records by hand, what it costs, and whether scripts that start with it are seen: a plain loop, a scaler, torch.compile, DDP."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import torch

from common import DEVICE, IS_GPU, MODULES, images_of, ratio_row, resnet50, row
from measuring import PHASES, free_port, steps_of
from peers import observed_loop

FOLDER = pathlib.Path(tempfile.mkdtemp())
BATCH, STEPS, ROUNDS = (128, 20, 8) if IS_GPU else (4, 4, 2)


def flops_of(report):
    """[FLOPs of a sample, precision, FLOP/s of products, device], and how they were counted or why not."""
    lines = pathlib.Path(report).read_text().splitlines()
    counted = next((line.split(" ", 4)[1:] for line in lines if line.startswith("flops ")), ["-"] * 4)
    return counted, next((line.partition("\t")[2] for line in lines if line.startswith("choice FLOPs")), "")


def counted_by_torch(module):
    """FLOPs of a sample of ResNet-50 by torch's own counter; 0: this torch has none."""
    try:
        from torch.utils.flop_counter import FlopCounterMode
    except ImportError:
        return 0
    images, labels = Batches()[0]
    with FlopCounterMode(display=False) as counter:
        torch.nn.functional.cross_entropy(module(images.to(DEVICE)), labels.to(DEVICE)).backward()
    return counter.get_total_flops() / BATCH


class Batches(torch.utils.data.Dataset):
    """Ready batches in pinned memory, so that the loader costs little and the copy to the device is asynchronous."""

    def __init__(self):
        self.batches = [(images_of(BATCH), torch.randint(0, 1000, (BATCH,))) for _ in range(4)]
        if IS_GPU:
            self.batches = [(images.pin_memory(), labels.pin_memory()) for images, labels in self.batches]

    def __len__(self):
        return STEPS

    def __getitem__(self, index):
        return self.batches[index % 4]


def resnet():
    """The plain loop, the observed one, and the observed one with events by hand, in turn."""
    torch.manual_seed(1)
    module, report = resnet50().to(DEVICE).to(memory_format=torch.channels_last), FOLDER / "resnet"
    loader = torch.utils.data.DataLoader(Batches(), batch_size=None)
    times, phases = observed_loop.compare(module, loader, report, ROUNDS, precision=torch.bfloat16)
    ratio_row(f"ResNet-50 b{BATCH}, observed", times, "observed", "plain")
    ratio_row(f"ResNet-50 b{BATCH}, with events by hand as well", times, "watched", "plain")
    row("steps that the observer reported: all", len(steps_of(report)))
    for phase, (own, by_hand) in phases.items():
        row(f"{phase}, observed", round(1e3 * own, 3), "ms", f"by hand {1e3 * by_hand:.3f} ms, ratio {own / by_hand:.4f}" if by_hand > 0 else "")
    (flops, precision, rate, device), words = flops_of(report)
    row("FLOPs of a sample, observed", flops, "FLOP", f"by torch's counter {counted_by_torch(module):.0f}; {words}; {precision} on {device}, products reach {rate} FLOP/s")


PRELUDE = """
import torch, os
from torch import nn
torch.manual_seed(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
x, y = torch.randn(640, 64), torch.randint(0, 10, (640,))
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=32, pin_memory=device == "cuda")
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)).to(device)
loss_of = nn.CrossEntropyLoss()
"""
LOOP = """
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for a, b in loader:
    optimizer.zero_grad()
    loss = loss_of(model(a.to(device)), b.to(device))
    loss.backward()
    optimizer.step()
print("loss", loss.item())
"""
SCALER = """
optimizer, scaler = torch.optim.AdamW(model.parameters(), lr=1e-3), torch.cuda.amp.GradScaler(init_scale=2.0**30, enabled=device == "cuda")
for a, b in loader:
    optimizer.zero_grad()
    with torch.autocast(device, torch.float16 if device == "cuda" else torch.bfloat16):
        loss = loss_of(model(a.to(device)), b.to(device))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print("loss", loss.item())
"""
COMPILED = "model = torch.compile(model)\n" + LOOP
PARALLEL = """
torch.distributed.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(model)
""" + LOOP


def ends_of(script, ranks, reports=()):
    """Exit code and both streams of each rank, observed if there are reports."""
    file, plain = FOLDER / "script.py", {k: v for k, v in os.environ.items() if not k.startswith("DTCTL_")}
    file.write_text(PRELUDE + script)
    plain.update(LOCAL_RANK="0", WORLD_SIZE=str(ranks), MASTER_ADDR="localhost", MASTER_PORT=str(free_port()))
    more = [dict(DTCTL_OBSERVE=f"{ranks} 1", DTCTL_REPORT=str(report), PYTHONPATH=f"{MODULES / 'observe'}:{MODULES}") for report in reports]
    processes = [subprocess.Popen([sys.executable, file], env=dict(plain, RANK=str(rank), **(more[rank] if more else {})), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) for rank in range(ranks)]
    streams = [process.communicate(timeout=80) for process in processes]
    return [(process.returncode, *both) for process, both in zip(processes, streams)]


def started(what, script, ranks=1):
    """A script of its own, observed from its start, and the same one plain: both must print the same loss."""
    reports = [FOLDER / f"{what.replace(' ', '-')}-{rank}" for rank in range(ranks)]
    for report in reports:
        report.touch()
    observed, plain = ends_of(script, ranks, reports), ends_of(script, ranks)
    if any(code != 0 for code, _, _ in observed + plain):
        row(what, "failed", "", " ".join(error[-150:] for _, _, error in observed + plain))
        return
    losses = [ends[0][1].strip().splitlines()[-1] for ends in (observed, plain)]
    said = [line for line in observed[0][2].splitlines() if line.startswith("dtctl:")]
    steps = steps_of(reports[0])
    usual = {name: statistics.median(values) for name in PHASES if (values := [s[name] for s in steps[3:] if s[name] is not None])}
    good = len(steps) == 20 and all(s["samples"] == 32 for s in steps) and losses[0] == losses[1]
    row(what, "good" if good else "failed", "", "; ".join([
        f"{len(steps)} of 20 steps", f"observed and plain: {', '.join(losses)}", f"medians in ms: {', '.join(f'{name} {1e3 * s:.2f}' for name, s in usual.items())}",
        *said, f"FLOPs of a sample: {flops_of(reports[0])[1]}"]))


CHECKS = {"ResNet-50, observed": (resnet,), "a plain loop": (started, "a plain loop", LOOP), "a scaler": (started, "a scaler", SCALER),
          "two ranks, DDP": (started, "two ranks, DDP", PARALLEL, 2)}
if IS_GPU:  # a compiler for the host is not everywhere
    CHECKS["a compiled module"] = started, "a compiled module", COMPILED
for name, (check, *words) in CHECKS.items():
    try:
        check(*words)
    except Exception as error:  # whatever a library throws is the fact; the next check does not depend on this one
        row(name, "failed", "", f"{type(error).__name__}: {error}"[:300])
