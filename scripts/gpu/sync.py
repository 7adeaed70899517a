"""Run by mpirun or torchrun on ranks of one device: trains with dtctl_sync (engine/bindings). With "strategies" every strategy that the ranks
allow; with "ordinary STRATEGY" an ordinary loop in float16 with a GradScaler; with "nccl" the speed of one rank beside DistributedDataParallel;
else equality with the whole batch, and the speed beside a plain loop."""
import sys

import torch
from torch import nn

from common import DEVICE, IS_GPU, ResnetStep, in_turn_ms, ratio_row, row

import dtctl_sync as sync

torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
CARD = torch.cuda.get_device_name() if IS_GPU else "CPU"


def small_net(seed=3):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(800, 500),
        nn.ReLU(), nn.Linear(500, 10)
    ).to(DEVICE)


def task(count, seed=5):
    """Images whose class a linear map decides."""
    generator = torch.Generator().manual_seed(seed)
    images = torch.randn(count, 1, 28, 28, generator=generator)
    labels = (images.flatten(1) @ torch.randn(784, 10, generator=generator)).argmax(1)
    return images.to(DEVICE), labels.to(DEVICE)


def sgd(module, lr=0.05, momentum=0.0):
    return torch.optim.SGD(module.parameters(), lr=lr, momentum=momentum)


STRATEGIES = [dict(strategy="sync-sgd"), dict(strategy="sync-sgd", progress="none"), dict(strategy="hsgd"), dict(strategy="local-sgd", period=4),
              dict(strategy="diloco", period=4), dict(strategy="sync-easgd", overlap=3), dict(strategy="sync-easgd", overlap=1),
              dict(strategy="decentralized-easgd", period=4), dict(strategy="async-sgd"), dict(strategy="async-msgd"), dict(strategy="hogwild-sgd"),
              dict(strategy="easgd", period=2), dict(strategy="async-easgd"), dict(strategy="async-measgd"), dict(strategy="hogwild-easgd")]


def strategies(ordinary):
    images, labels = task(512 if IS_GPU else 128)
    batch, epochs = 32, 6 if IS_GPU else 1
    for settings in STRATEGIES:
        name = " ".join(str(value) for value in settings.values())
        momentum = 0.9 if "-m" in settings["strategy"] else 0.0
        module = small_net()
        try:
            training = sync.Training(module, sgd(module, lr=0.02 if momentum else 0.05, momentum=momentum), **settings)
        except sync.SyncError as error:
            if ordinary.rank == 0:
                row(name, "not possible", "", str(error)[:160])
            continue
        worker, workers, losses = max(training.worker, 0), training.workers, []
        own = slice(worker, None, workers)
        parts = list(zip(images[own].split(batch), labels[own].split(batch)))
        for _ in range(epochs):
            for x, y in training.batches(parts if workers == 1 else sync_parts(parts, workers)):
                losses.append(training.step(lambda: nn.functional.cross_entropy(module(x), y)))
        with training.evaluation():
            accuracy = float((module(images).argmax(1) == labels).float().mean())
        first, last = (float(torch.stack(part).mean()) for part in (losses[:8], losses[-8:])) if losses else (0, 0)
        first, last = training.mean(first, last)
        training.finish()
        training.close()
        if training.rank == 0:
            falls = last < first or not IS_GPU
            row(f"{training.ranks} ranks, {name}: loss, accuracy", f"{first:.3f} -> {last:.3f}" if falls else "failed", "",
                f"accuracy {accuracy:.3f}, {workers} workers, {len(losses)} steps" + ("" if falls else f", {first} -> {last}"))


def sync_parts(parts, workers):
    """What batches() would take a worker's share of."""
    return [part for part in parts for _ in range(workers)]


def equals_whole_batch():
    images, labels = task(64)
    plain = small_net()
    rule = sgd(plain, momentum=0.9)
    for _ in range(5):
        rule.zero_grad()
        nn.functional.cross_entropy(plain(images), labels).backward()
        rule.step()
    module = small_net()
    with sync.Training(module, sgd(module, momentum=0.9), strategy="sync-sgd") as training:
        part = 64 // training.ranks
        own = slice(training.rank * part, (training.rank + 1) * part)
        for _ in range(5):
            training.step(lambda: nn.functional.cross_entropy(module(images[own]), labels[own]), samples=part)
        difference = max(float((p - q).norm() / q.norm()) for p, q in zip(module.parameters(), plain.parameters()))
        if training.rank == 0:
            is_near = difference < 1e-4
            row(f"{training.ranks} ranks, sync-sgd: weights after 5 steps against the whole batch", difference if is_near else "failed", "",
                f"relative; {difference}")


def ordinary_loop(strategy):
    """Rank 0 has an infinite gradient in one step, which the scaler leaves out."""
    images, labels = task(512)
    module = small_net()
    optimizer = sgd(module, momentum=0.9)
    scaler = torch.cuda.amp.GradScaler(enabled=IS_GPU, init_scale=1024.0)
    sync.prepare(module, optimizer, scaler=scaler, strategy=strategy, **({} if strategy == "sync-sgd" else {"period": 4}))
    training, losses = sync.training(), []
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), batch_size=32, shuffle=True)
    for epoch in range(8 if IS_GPU else 1):
        for number, (x, y) in enumerate(sync.batches(loader)):
            optimizer.zero_grad()
            with torch.autocast(DEVICE.type, torch.float16 if IS_GPU else torch.bfloat16):
                loss = nn.functional.cross_entropy(module(x).float(), y)
            is_planted = IS_GPU and (training.rank, epoch, number) == (0, 1, 3)
            scaler.scale(loss * float("inf") if is_planted else loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses += [] if is_planted else [loss.detach()]
    first, last = training.mean(*(float(torch.stack(part).mean()) for part in (losses[:8], losses[-8:])))
    scale = scaler.get_scale()
    if training.rank == 0:
        is_good = last < first and scale == 512.0 or not IS_GPU
        row(f"{training.ranks} ranks, an ordinary loop in float16 with a GradScaler, {strategy}: loss",
            f"{first:.3f} -> {last:.3f}" if is_good else "failed", "", f"{first} -> {last}, scale {scale}, {len(losses)} steps, {CARD}")


class Trained(ResnetStep):
    def __init__(self, batch, **settings):
        super().__init__(batch)
        self.training = sync.Training(self.module, self.optimizer, **settings)

    def __call__(self):
        return self.training.step(self.loss, samples=len(self.labels))


class Ordinary(ResnetStep):
    def __init__(self, batch, **settings):
        super().__init__(batch)
        sync.prepare(self.module, self.optimizer, **settings)
        self.training = sync.training()


def speed(ordinary):
    ranks = ordinary.ranks
    batch = 128 // ranks if IS_GPU else 2
    steps = {"plain": ResnetStep(batch), "sync-sgd": Trained(batch, strategy="sync-sgd")}
    never = 1 << 20
    if ranks > 1:
        steps["sync-sgd, none"] = Trained(batch, strategy="sync-sgd", progress="none")
    else:
        steps["sync-sgd, ordinary loop"] = Ordinary(batch, strategy="sync-sgd")
    steps["never"] = Trained(batch, strategy="local-sgd", period=never)
    for name in ("local-sgd", "decentralized-easgd", "diloco"):
        try:
            steps[f"{name} 16"] = Trained(batch, strategy=name, period=16)
        except sync.SyncError:
            pass  # not in this library
    if ranks > 1:
        steps["diloco 16, delay 8"] = Trained(batch, strategy="diloco", period=16, outer={"delay": 8, "fragments": 2})
    rounds, count = (6, 16) if IS_GPU else (2, 1)
    times = in_turn_ms(steps, rounds, count)
    for step in steps.values():
        if isinstance(step, (Trained, Ordinary)):
            step.training.close()
    if ordinary.rank != 0:
        return
    for name in times:
        base = "plain" if name in ("plain", "sync-sgd", "sync-sgd, none", "sync-sgd, ordinary loop", "never") else "never"
        ratio_row(f"{ranks} ranks of b{batch}, ResNet-50 bf16, {name}", times, name, base, f" of {count}, {CARD}")


def nccl_alone():
    """One rank whose sums go through NCCL all the same, beside DistributedDataParallel with one rank."""
    from dtctl_sync.sums import Sums

    torch.distributed.init_process_group("nccl" if IS_GPU else "gloo")
    Sums.alone = True
    batch = 128 if IS_GPU else 2
    wrapped = ResnetStep(batch)
    wrapped.module = nn.parallel.DistributedDataParallel(wrapped.module, gradient_as_bucket_view=True)
    steps = {"DDP": wrapped, "plain": ResnetStep(batch), "sync-sgd": Trained(batch, strategy="sync-sgd", progress="poll"),
             "never": Trained(batch, strategy="local-sgd", period=1 << 20)}
    steps.update({f"{name} 16": Trained(batch, strategy=name, period=16) for name in ("local-sgd", "decentralized-easgd", "diloco")})
    steps["diloco 16, delay 8"] = Trained(batch, strategy="diloco", period=16, outer={"delay": 8, "fragments": 2})
    steps.update({f"sync-easgd {form} 16": Trained(batch, strategy="sync-easgd", period=16, overlap=form) for form in (2, 3)})
    steps["hsgd"] = Trained(batch, strategy="hsgd")
    sums = {name: step.training._sums is not None for name, step in steps.items() if isinstance(step, Trained)}
    row("1 rank, sums by NCCL on the device", "yes" if all(sums.values()) else "failed" if IS_GPU else "no", "", str(sums))
    times = in_turn_ms(steps, *((6, 16) if IS_GPU else (2, 1)))
    for name in times:
        ratio_row(f"1 rank of b{batch}, ResNet-50 bf16, {name}", times, name, "DDP" if name in ("DDP", "plain", "sync-sgd", "hsgd", "never") else "never", f", {CARD}")
    for step in steps.values():
        if isinstance(step, Trained):
            step.training.close()


tiny = nn.Linear(4, 4)
open_one = sync.Training(tiny, sgd(tiny))  # MPI ends with the last training of a process
try:
    if sys.argv[1:] == ["strategies"]:
        strategies(open_one)
    elif sys.argv[1:2] == ["ordinary"]:
        ordinary_loop(sys.argv[2])
    elif sys.argv[1:] == ["nccl"]:
        nccl_alone()
    else:
        equals_whole_batch()
        speed(open_one)
except Exception as error:
    row(f"rank {open_one.rank} of {open_one.ranks}", "failed", "", f"{type(error).__name__}: {error}"[:400])
    sys.stdout.flush()
    sync.library.library.dtctl_sync_abort()
open_one.close()
