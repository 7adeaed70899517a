"""The observer of PyTorch programs (share/dtctl/program/dtctl_observe) on this device: its phases of ResNet-50 beside events that the
script records by hand, what it costs, and whether scripts that start with it are seen: a plain loop, a scaler, torch.compile, DDP."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ROOT / "share/dtctl/program"
FOLDER = pathlib.Path(tempfile.mkdtemp())
os.environ.update(DTCTL_OBSERVE="1 1", DTCTL_REPORT=str(FOLDER / "resnet"))
(FOLDER / "resnet").touch()
sys.path += [str(MODULES), str(ROOT / "scripts")]

import torch

from common import DEVICE, IS_GPU, attempt, ratio_row, resnet50, row, synchronize
from measuring import PHASES, free_port, steps_of

BATCH, STEPS, ROUNDS = (128, 20, 8) if IS_GPU else (4, 4, 2)
SIDE = 224 if IS_GPU else 32


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
        make = lambda: torch.randn(BATCH, 3, SIDE, SIDE).to(memory_format=torch.channels_last)
        self.batches = [(make(), torch.randint(0, 1000, (BATCH,))) for _ in range(4)]
        if IS_GPU:
            self.batches = [(images.pin_memory(), labels.pin_memory()) for images, labels in self.batches]

    def __len__(self):
        return STEPS

    def __getitem__(self, index):
        return self.batches[index % 4]


class Stopwatch:
    """Marks between the phases, by events of the device or by the host's clock."""

    def __init__(self):
        self.marks = []

    def __call__(self):
        if IS_GPU:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.marks.append(event)
        else:
            self.marks.append(time.perf_counter())

    def steps(self):
        """Of steps of six marks: begin, batch on the device, loss, backward's end, update's end, begin of the next."""
        between = lambda a, b: a.elapsed_time(b) / 1000 if IS_GPU else b - a
        for i in range(0, len(self.marks) - 5, 5):
            a = self.marks[i : i + 6]
            yield {"input": between(a[0], a[1]), "forward": between(a[1], a[2]), "backward": between(a[2], a[3]),
                   "optimizer": between(a[3], a[4]), "step_s": between(a[4 - 5], a[4]) if i else None}


def train(module, optimizer, loader, stop=lambda: None):
    """One pass. The stop-watch's version differs from the script in its calls of stop() alone."""
    stop()
    for images, labels in loader:
        images, labels = images.to(DEVICE, non_blocking=True), labels.to(DEVICE, non_blocking=True)
        stop()
        with torch.autocast(DEVICE.type, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(module(images), labels)
        stop()
        loss.backward()
        stop()
        optimizer.step()
        stop()
        optimizer.zero_grad(set_to_none=True)
        stop()


def wrapped(optimizer):
    """The functions that the observer replaces: (owner, name)."""
    from torch.utils.data.dataloader import _BaseDataLoaderIter

    return [(torch.nn.Module, "__call__"), (torch.autograd, "backward"), (torch.utils.data.DataLoader, "__iter__"),
            (_BaseDataLoaderIter, "__next__"), (torch.optim.Optimizer, "zero_grad"), (torch.optim.Optimizer, "__init__"), (optimizer, "step")]


def resnet():
    """Rounds of the plain script, of the observed one and of the stop-watch's version in turn, in one process."""
    places = wrapped(torch.optim.SGD)
    torch.manual_seed(1)
    module = resnet50().to(DEVICE).to(memory_format=torch.channels_last)
    first = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)  # torch wraps the class's step in its own way
    loader = torch.utils.data.DataLoader(Batches(), batch_size=None)
    train(module, first, loader)
    plain = [getattr(owner, name) for owner, name in places]
    import dtctl_observe

    dtctl_observe.watch(torch)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)
    observed = [getattr(owner, name) for owner, name in places]

    def use(functions):
        for (owner, name), function in zip(places, functions):
            setattr(owner, name, function)

    times, watched = {"plain": [], "observed": [], "stop-watch": []}, []
    for functions in (observed, plain):
        use(functions)
        train(module, optimizer, loader)
    for _ in range(ROUNDS):
        for name in times:
            use(observed if name == "observed" else plain)
            stopwatch = Stopwatch() if name == "stop-watch" else (lambda: None)
            synchronize()
            begin = time.perf_counter()
            train(module, optimizer, loader, stopwatch)
            host_s = time.perf_counter() - begin
            synchronize()
            times[name].append(1e3 * (time.perf_counter() - begin) / STEPS)
            if name == "stop-watch":
                watched.extend(stopwatch.steps())
    use(observed)
    observer = dtctl_observe._observer
    observer.finish()
    if observer.trouble:
        raise RuntimeError(observer.trouble)
    use(plain)
    ratio_row(f"ResNet-50 b{BATCH}, observed", times, "observed", "plain")
    ratio_row(f"ResNet-50 b{BATCH}, with events by hand", times, "stop-watch", "plain")
    row("host returns after, of the last round", round(1e3 * host_s / STEPS, 2), "ms")
    # The first steps of a round have the time between rounds.
    seen = [step for i, step in enumerate(steps_of(os.environ["DTCTL_REPORT"])) if i % STEPS > 1]
    row("steps that the observer reported", len(steps_of(os.environ["DTCTL_REPORT"])), "", f"{(ROUNDS + 1) * STEPS} were made")
    for phase in ("step_s", "input", "forward", "backward", "optimizer"):
        own = statistics.median(s[phase] for s in seen)
        by_hand = statistics.median(s[phase] for s in watched if s[phase] is not None)
        row(f"{phase}, observed", round(1e3 * own, 3), "ms", f"by hand {1e3 * by_hand:.3f} ms, ratio {own / by_hand:.4f}" if by_hand > 0 else "")
    row("communication of one rank", seen[-1]["communication"], "s")
    (flops, precision, rate, device), words = flops_of(os.environ["DTCTL_REPORT"])
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


def started(what, script, ranks=1, environment=None):
    """A script of its own, observed from its start, and the same one plain: both must print the same loss."""
    file = FOLDER / "script.py"
    file.write_text(PRELUDE + script)
    losses = []
    for is_observed in (True, False):
        port, processes = free_port(), []
        for rank in range(ranks):
            report = FOLDER / f"{what.replace(' ', '-')}-{rank}"
            report.touch()
            plain = {k: v for k, v in os.environ.items() if not k.startswith("DTCTL_")}
            own = dict(plain, RANK=str(rank), LOCAL_RANK="0", WORLD_SIZE=str(ranks), MASTER_ADDR="localhost", MASTER_PORT=str(port))
            if is_observed:
                own.update(DTCTL_OBSERVE=f"{ranks} 1", DTCTL_REPORT=str(report), PYTHONPATH=f"{MODULES / 'observe'}:{MODULES}")
            processes.append(subprocess.Popen([sys.executable, str(file)], env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        ends = [process.communicate(timeout=80) for process in processes]
        if any(process.returncode != 0 for process in processes):
            row(what, "failed", "", (ends[0][1] + ends[-1][1])[-300:])
            return
        losses.append(ends[0][0].strip().splitlines()[-1])
        if is_observed:
            said = " ".join(line for line in ends[0][1].splitlines() if line.startswith("dtctl:"))
    first = FOLDER / f"{what.replace(' ', '-')}-0"
    steps = steps_of(first)
    usual = {name: statistics.median(values) for name in PHASES if (values := [s[name] for s in steps[3:] if s[name] is not None])}
    good = len(steps) == 20 and all(s["samples"] == 32 for s in steps) and losses[0] == losses[1]
    row(what, "good" if good else "failed", "", f"{len(steps)} of 20 steps; observed and plain: {losses[0]}, {losses[1]}; medians in ms: "
        + ", ".join(f"{name} {1e3 * s:.2f}" for name, s in usual.items()) + (f"; {said}" if said else "")
        + f"; FLOPs of a sample: {flops_of(first)[1]}")


attempt("ResNet-50, observed", resnet)
attempt("a plain loop", lambda: started("a plain loop", LOOP))
attempt("a scaler", lambda: started("a scaler", SCALER))
if IS_GPU:  # a compiler for the host is not everywhere
    attempt("a compiled module", lambda: started("a compiled module", COMPILED))
attempt("two ranks, DDP", lambda: started("two ranks, DDP", PARALLEL, 2))
