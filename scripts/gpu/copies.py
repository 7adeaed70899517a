"""Copies between the device and pinned memory: speed, cost of pinning, and how much of them a backward pass hides."""
import time

import torch

from common import DEVICE, IS_GPU, Packed, ResnetStep, attempt, copy_all, in_turn_ms, median_ms, on_final_gradient, ratio_row, row

BATCH = 128 if IS_GPU else 2
ROUNDS, STEPS, WARM = (10, 10, 6) if IS_GPU else (2, 2, 1)


def speeds():
    for mebibytes in (0.0625, 1, 4, 25, 100):
        count = int(mebibytes * 2**18)
        begin = time.perf_counter()
        pinned = torch.zeros(count, pin_memory=True)
        pin_ms = 1e3 * (time.perf_counter() - begin)
        plain, device = torch.zeros(count), torch.zeros(count, device=DEVICE)
        for name, function in (("to pinned", lambda: pinned.copy_(device, non_blocking=True)),
                               ("from pinned", lambda: device.copy_(pinned, non_blocking=True)), ("to pageable", lambda: plain.copy_(device))):
            middle, low, high = median_ms(function, 3, 20)
            row(f"{mebibytes} MiB {name}", round(middle, 4), "ms", f"quartiles {low:.4f}, {high:.4f}; {4e-6 * count / middle:.1f} GB/s")
        row(f"{mebibytes} MiB pinned for the first time", round(pin_ms, 2), "ms")
    down, up = torch.cuda.Stream(), torch.cuda.Stream()
    a, b = torch.zeros(25 * 2**18, pin_memory=True), torch.zeros(25 * 2**18, pin_memory=True)
    c, d = torch.zeros_like(a, device=DEVICE), torch.zeros_like(b, device=DEVICE)

    def both():
        with torch.cuda.stream(down):
            a.copy_(c, non_blocking=True)
        with torch.cuda.stream(up):
            d.copy_(b, non_blocking=True)

    row("25 MiB both ways at once", round(median_ms(both, 3, 20)[0], 4), "ms")
    event = torch.cuda.Event()
    event.record()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(1000):
        event.query()
    row("Event.query", round(1e3 * (time.perf_counter() - begin), 3), "us")
    begin = time.perf_counter()
    for _ in range(1000):
        event.record()
    row("Event.record", round(1e3 * (time.perf_counter() - begin), 3), "us")


class Exchange:
    """Buckets go to pinned memory and back on streams of their own while backward goes on; nothing is summed."""

    def __init__(self, module, bucket_bytes, is_overlapped, gathers=False):
        self.packed = Packed(module, is_pinned=True, packs_gradients=not gathers)
        self.gathers = gathers
        if gathers:  # torch makes its own gradients; those of a bucket are copied into the flat buffer when the last one is final
            self.packed.gradients = torch.zeros_like(self.packed.weights)
            self.views = [Packed.view(self.packed.gradients, b, e, p) for p, (b, e) in zip(self.packed.parameters, self.packed.ranges)]
        self.buckets = self.packed.buckets(bucket_bytes)
        self.is_overlapped = is_overlapped
        self.down, self.up = torch.cuda.Stream(), torch.cuda.Stream()
        self.owner = [i for i, bucket in enumerate(self.buckets) for _ in range(bucket[2])]
        self.left = [bucket[2] for bucket in self.buckets]
        self.handles = (
            [on_final_gradient(p, lambda i=i: self.ready(self.owner[i])) for i, p in enumerate(self.packed.parameters)]
            if is_overlapped
            else []
        )

    def ready(self, bucket):
        self.left[bucket] -= 1
        if self.left[bucket] == 0:
            self.left[bucket] = self.buckets[bucket][2]
            self.send(bucket)

    def send(self, bucket):
        begin, stop, _ = self.buckets[bucket]
        if self.gathers:
            members = [i for i, owner in enumerate(self.owner) if owner == bucket]
            copy_all([self.views[i] for i in members], [self.packed.parameters[i].grad for i in members])
        self.down.wait_event(torch.cuda.current_stream().record_event())
        with torch.cuda.stream(self.down):
            self.packed.mirror[begin:stop].copy_(self.packed.gradients[begin:stop], non_blocking=True)
        self.up.wait_event(self.down.record_event())
        with torch.cuda.stream(self.up):
            self.packed.gradients[begin:stop].copy_(self.packed.mirror[begin:stop], non_blocking=True)

    def finish(self):
        if not self.is_overlapped:
            for bucket in range(len(self.buckets)):
                self.send(bucket)
        torch.cuda.current_stream().wait_stream(self.up)
        if self.gathers:
            for p, view in zip(self.packed.parameters, self.views):
                p.grad = view


def exchanging(clear, *terms, **more):
    step = ResnetStep(BATCH, clear=clear)
    exchange = Exchange(step.module, *terms, **more)
    step.packed, step.after_backward = exchange.packed, exchange.finish
    step.optimizer = torch.optim.SGD(step.module.parameters(), lr=0.01, momentum=0.9)
    return step


def hidden():
    steps = {"nothing copied": ResnetStep(BATCH), "after backward": exchanging("flat", 25 << 20, False),
             "buckets of 25 MiB": exchanging("flat", 25 << 20, True), "buckets of 4 MiB": exchanging("flat", 4 << 20, True),
             "gathered in buckets of 4 MiB": exchanging("none", 4 << 20, True, gathers=True),
             "gathered in buckets of 25 MiB": exchanging("none", 25 << 20, True, gathers=True)}
    losses = [[float(step()) for _ in range(3)] for step in steps.values()]
    row("losses of 3 steps differ by at most", max(abs(a - b) for one in losses for a, b in zip(one, losses[0])))
    times = in_turn_ms(steps, WARM, ROUNDS, STEPS)
    for name in steps:
        ratio_row(f"ResNet-50 b{BATCH}, 102 MB down and up, {name}", times, name, "nothing copied")


if IS_GPU:
    attempt("copy speeds", speeds)
    attempt("hidden copies", hidden)
else:
    row("copies", "no GPU")
