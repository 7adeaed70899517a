#!/usr/bin/python3
"""The training step of `dtbench compute` in PyTorch, to be measured beside it: forward, cross-entropy, backward, SGD with momentum
0.9, without dropout, on one fixed batch of random images. Prints one JSON object.

    torch_step.py --model resnet50 --batch 16 --threads 2 [--channels-last] [--bf16] [--steps 10]
    torch_step.py --model lenet --batch 64 --ranks 2        one process a rank, gradients averaged by DDP over Gloo

    torch_step.py --sgemm --threads 2                       products of two 512 x 512 matrices instead, in GFLOP/s

samples_per_s counts all ranks and comes from rank 0's median step. Needs Debian's python3-torch and its Python, /usr/bin/python3.
"""
import argparse
import contextlib
import json
import os
import socket
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("torch_step.py needs PyTorch of the distribution: apt-get install python3-torch, and /usr/bin/python3 to run it.")
import torch.distributed
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../recipes/library/programs"))
import networks


def is_small(shape):
    channels, height, width = shape
    return channels * height * width < 10_000


def defaults_of(shape):
    """Steps before the first that counts, and steps that count."""
    return (20, 200) if is_small(shape) else (2, 8)


def join_ranks(rank, ranks, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.distributed.init_process_group("gloo", rank=rank, world_size=ranks)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class FixedStep:
    """A model and the batch that it is trained on again and again."""

    def __init__(self, options):
        _, shape, classes = networks.MODELS[options.model]
        layout = torch.channels_last if options.channels_last else torch.contiguous_format
        torch.manual_seed(0)
        self.model = networks.build(options.model).to(memory_format=layout)
        self.images = torch.randn(options.batch, *shape).contiguous(memory_format=layout)
        self.labels = torch.arange(options.batch) % classes
        if options.ranks > 1:
            self.model = DistributedDataParallel(self.model)
        learning_rate = 0.01 if options.model == "lenet" else 0.001
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=learning_rate, momentum=0.9)
        self.bf16 = options.bf16

    def precision(self):
        return torch.autocast("cpu", dtype=torch.bfloat16) if self.bf16 else contextlib.nullcontext()

    def run(self):
        self.optimizer.zero_grad(set_to_none=True)
        with self.precision():
            loss = networks.loss_of(self.model, self.images, self.labels)
        loss.backward()
        self.optimizer.step()
        return loss


def measure(step, warmup, steps):
    """Seconds of each step, shortest first, and the last one's loss."""
    for _ in range(warmup):
        step.run()
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        loss = step.run()
        times.append(time.perf_counter() - begin)
    return sorted(times), float(loss)


def products(threads, side=512, seconds=0.5):
    """GFLOP/s of single-precision matrix products, the best of five stretches, as dtbench matmul measures ours."""
    torch.set_num_threads(threads)
    a, b = torch.full((side, side), 0.5), torch.full((side, side), 0.5)
    out = torch.empty(side, side)
    torch.mm(a, b, out=out)
    best = 0
    for _ in range(5):
        begin, count = time.perf_counter(), 0
        while count == 0 or time.perf_counter() - begin < seconds / 5:
            torch.mm(a, b, out=out)
            count += 1
        best = max(best, count * 2 * side**3 / (time.perf_counter() - begin))
    return best / 1e9


def blas_library():
    """The files that give this process its matrix products."""
    with open("/proc/self/maps") as lines:
        paths = {line.split()[-1] for line in lines if "/" in line}
    return sorted(os.path.realpath(path) for path in paths if any(word in os.path.basename(path) for word in ("blas", "mkl", "blis")))


def run_rank(rank, options):
    if options.cores:
        os.sched_setaffinity(0, options.cores[rank * options.threads:(rank + 1) * options.threads])
    torch.set_num_threads(options.threads)
    if options.ranks > 1:
        join_ranks(rank, options.ranks, options.port)
    warmup, steps = defaults_of(networks.MODELS[options.model][1])
    times, loss = measure(FixedStep(options), warmup, options.steps or steps)
    if rank == 0:
        print(json.dumps(result_of(options, times, loss)), flush=True)


def result_of(options, times, loss):
    median = times[len(times) // 2]
    return {"peer": "pytorch " + torch.__version__, "model": options.model, "batch": options.batch, "threads": options.threads,
            "ranks": options.ranks, "channels_last": options.channels_last, "precision": "bf16" if options.bf16 else "fp32",
            "samples_per_s": options.ranks * options.batch / median, "step_ms_median": 1e3 * median,
            "step_ms_min": 1e3 * times[0], "loss": loss, "steps": len(times)}


def parse():
    parser = argparse.ArgumentParser(description="PyTorch's training step, measured as dtbench compute measures ours")
    parser.add_argument("--model", choices=networks.MODELS, default="lenet")
    parser.add_argument("--batch", type=int, default=64, help="samples a step and rank")
    parser.add_argument("--threads", type=int, default=1, help="compute threads a rank")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--steps", type=int, default=0, help="steps to measure (200 of a small model, else 8)")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--sgemm", action="store_true", help="the rate of matrix products, and which BLAS makes them")
    parser.add_argument("--bf16", action="store_true", help="autocast to bfloat16")
    parser.add_argument("--cores", type=lambda text: [int(core) for core in text.split(",")], default=[],
                        help="cores to use, as many as ranks x threads: 0,1")
    options = parser.parse_args()
    options.port = free_port()
    return options


if __name__ == "__main__":
    given = parse()
    if given.sgemm:
        print(json.dumps({"gflops": products(given.threads), "threads": given.threads, "blas": blas_library()}))
    elif given.ranks == 1:
        run_rank(0, given)
    else:
        torch.multiprocessing.spawn(run_rank, args=(given,), nprocs=given.ranks)
