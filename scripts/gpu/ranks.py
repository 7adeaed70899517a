"""Run by mpirun on 1, 2 or 4 ranks of one device: sums over MPI of pinned gradients, in a thread of their own, during backward."""
import queue
import statistics
import sys
import threading
import time

import torch

from common import DEVICE, IS_GPU, Mpi, Packed, ResnetStep, in_turn_ms, on_final_gradient, ratio_row, row

mpi = Mpi(level=2)


class Summed:
    """Sums gradients over the ranks: a bucket is copied to pinned memory, summed by a second thread and copied back."""

    def __init__(self, module, bucket_bytes):
        self.packed = Packed(module, is_pinned=IS_GPU)
        if not IS_GPU:
            self.packed.mirror = self.packed.gradients
        self.buckets = self.packed.buckets(bucket_bytes)
        self.owner = [i for i, bucket in enumerate(self.buckets) for _ in range(bucket[2])]
        self.left = [bucket[2] for bucket in self.buckets]
        self.stream = torch.cuda.Stream() if IS_GPU else None
        self.work, self.done = queue.SimpleQueue(), queue.SimpleQueue()
        self.next, self.waiting = 0, {}
        self.handles = [on_final_gradient(p, lambda i=i: self.ready(self.owner[i])) for i, p in enumerate(self.packed.parameters)]
        threading.Thread(target=self.sum_all, daemon=True).start()

    def ready(self, bucket):
        self.left[bucket] -= 1
        if self.left[bucket] > 0:
            return
        self.left[bucket] = self.buckets[bucket][2]
        self.waiting[bucket] = torch.cuda.current_stream().record_event() if IS_GPU else None
        while self.next in self.waiting:  # the same order on every rank
            self.work.put((self.next, self.waiting.pop(self.next)))
            self.next += 1

    def sum_all(self):
        while True:
            bucket, event = self.work.get()
            begin, stop, _ = self.buckets[bucket]
            part = self.packed.mirror[begin:stop]
            if IS_GPU:
                self.stream.wait_event(event)
                with torch.cuda.stream(self.stream):
                    part.copy_(self.packed.gradients[begin:stop], non_blocking=True)
                self.stream.synchronize()
            if mpi.size > 1:
                mpi.sum_in_place(part.data_ptr(), stop - begin)
            if IS_GPU:
                with torch.cuda.stream(self.stream):
                    self.packed.gradients[begin:stop].copy_(part, non_blocking=True)
                self.done.put(self.stream.record_event())
            else:
                self.done.put(None)

    def finish(self):
        for _ in self.buckets:
            event = self.done.get()
            if IS_GPU:
                torch.cuda.current_stream().wait_event(event)
        self.next = 0
        self.packed.gradients.mul_(1 / mpi.size)


def equals_whole_batch():
    """The mean gradient of the ranks' parts against the gradient of the whole batch, float32 without tf32, no batch norm."""
    from torch import nn

    torch.manual_seed(3)
    module = nn.Sequential(nn.Conv2d(3, 16, 5, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 36, 10)).to(DEVICE)
    images, labels = torch.randn(32, 3, 32, 32, device=DEVICE), torch.randint(0, 10, (32,), device=DEVICE)
    images = images[..., :31, :31].contiguous()
    side = nn.Sequential(module[:5])(images[:1]).shape[1]
    module[5] = nn.Linear(side, 10).to(DEVICE)
    nn.functional.cross_entropy(module(images), labels).backward()
    whole = [p.grad.clone() for p in module.parameters()]
    module.zero_grad(set_to_none=True)
    summed = Summed(module, 1 << 14)
    part = 32 // mpi.size
    mine = slice(mpi.rank * part, (mpi.rank + 1) * part)
    nn.functional.cross_entropy(module(images[mine]), labels[mine]).backward()
    summed.finish()
    difference = max(float((p.grad - w).norm() / w.norm()) for p, w in zip(module.parameters(), whole))
    if mpi.rank == 0:
        row(f"{mpi.size} ranks, one device: mean gradient against the whole batch", difference, "",
            f"{len(summed.buckets)} buckets, MPI thread level {mpi.provided}")


def speed():
    batch = 128 // mpi.size if IS_GPU else 2
    plain, summed = ResnetStep(batch), ResnetStep(batch, clear="flat")
    exchange = Summed(summed.module, 25 << 20)
    summed.packed, summed.after_backward = exchange.packed, exchange.finish
    summed.optimizer = torch.optim.SGD(summed.module.parameters(), lr=0.01, momentum=0.9)
    mpi.barrier()
    rounds, steps, warm = (5, 8, 4) if IS_GPU else (2, 1, 1)
    times = in_turn_ms({"plain": plain, "summed": summed}, warm, rounds, steps)
    if mpi.rank == 0:
        row(f"{mpi.size} ranks of b{batch}: a step without sums", round(statistics.median(times["plain"]), 2), "ms")
        ratio_row(f"{mpi.size} ranks of b{batch}: sums over MPI during backward", times, "summed", "plain")
    count = 25_557_032 if IS_GPU else 100_000
    host = torch.zeros(count, pin_memory=IS_GPU)
    mpi.barrier()
    begin = time.perf_counter()
    for _ in range(3):
        mpi.sum_in_place(host.data_ptr(), count)
    if mpi.rank == 0 and mpi.size > 1:
        row(f"{mpi.size} ranks: MPI_Allreduce of {4e-6 * count:.0f} MB of pinned memory", round(1e3 * (time.perf_counter() - begin) / 3, 1), "ms")


try:
    equals_whole_batch()
    speed()
except Exception as error:
    row(f"rank {mpi.rank} of {mpi.size}", "failed", "", f"{type(error).__name__}: {error}"[:300])
    sys.stdout.flush()
    mpi.lib.MPI_Abort(mpi.world, 1)
mpi.finish()
