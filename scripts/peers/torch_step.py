#!/usr/bin/python3
"""The training step of `dtbench compute` in PyTorch, for `scripts/measure peers`: forward, cross-entropy, backward, SGD with momentum 0.9,
without dropout, on one fixed batch of random images. Prints one JSON object.

    torch_step.py --model resnet50 --batch 16 --threads 2 [--channels-last] [--bf16] [--compile] [--steps 10]
    torch_step.py --model lenet --batch 64 --ranks 2        one process a rank, gradients averaged by DDP over Gloo
    torch_step.py --sgemm --threads 2                       products of two 512 x 512 matrices instead, in GFLOP/s

samples_per_s counts all ranks and comes from rank 0's median step. Needs Debian's python3-torch and its Python, /usr/bin/python3.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import time

import torch
import torch.multiprocessing

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "recipes/library/programs"), str(ROOT / "scripts")]
import networks
from measuring import free_port


def step_of(asked):
    """A function that trains the model with the same batch again."""
    _, shape, classes = networks.MODELS[asked.model]
    layout = torch.channels_last if asked.channels_last else torch.contiguous_format
    torch.manual_seed(0)
    model = networks.build(asked.model).to(memory_format=layout)
    images = torch.randn(asked.batch, *shape).contiguous(memory_format=layout)
    labels = torch.arange(asked.batch) % classes
    if asked.ranks > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)
    if asked.compile:
        model = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01 if asked.model == "lenet" else 0.001, momentum=0.9)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=asked.bf16):
            loss = networks.loss_of(model, images, labels)
        loss.backward()
        optimizer.step()
        return loss

    return step


def run_rank(rank, asked):
    if asked.cores:
        os.sched_setaffinity(0, asked.cores[rank * asked.threads:(rank + 1) * asked.threads])
    torch.set_num_threads(asked.threads)
    if asked.ranks > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(asked.port), GLOO_SOCKET_IFNAME="lo")
        torch.distributed.init_process_group("gloo", rank=rank, world_size=asked.ranks)
    step, times = step_of(asked), []
    for _ in range(20 if math.prod(networks.MODELS[asked.model][1]) < 10_000 else 2):  # more where steps are short
        step()
    for _ in range(asked.steps):
        begin = time.perf_counter()
        loss = step()
        times.append(time.perf_counter() - begin)
    if rank == 0:
        median = statistics.median_high(times)
        print(json.dumps({"peer": "pytorch " + torch.__version__, "samples_per_s": asked.ranks * asked.batch / median, "step_ms_median": 1e3 * median,
                          "step_ms_min": 1e3 * min(times), "loss": float(loss)}), flush=True)


def gflops(threads, side=512, seconds=0.5):
    """Of single-precision matrix products, the best of five stretches, as dtbench matmul measures ours."""
    torch.set_num_threads(threads)
    a, b, out = torch.full((side, side), 0.5), torch.full((side, side), 0.5), torch.empty(side, side)
    torch.mm(a, b, out=out)
    best = 0
    for _ in range(5):
        begin, count = time.perf_counter(), 0
        while count == 0 or time.perf_counter() - begin < seconds / 5:
            torch.mm(a, b, out=out)
            count += 1
        best = max(best, count * 2 * side**3 / (time.perf_counter() - begin))
    return best / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=networks.MODELS, default="lenet")
    parser.add_argument("--batch", type=int, default=64, help="samples a step and rank")
    parser.add_argument("--threads", type=int, default=1, help="compute threads a rank")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--steps", type=int, default=8, help="steps to measure")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--sgemm", action="store_true", help="the rate of matrix products")
    parser.add_argument("--bf16", action="store_true", help="autocast to bfloat16")
    parser.add_argument("--compile", action="store_true", help="torch.compile")
    parser.add_argument("--cores", type=lambda text: [int(core) for core in text.split(",")], help="cores to use, as many as ranks x threads: 0,1")
    asked = parser.parse_args()
    asked.port = free_port()
    if asked.sgemm:
        print(json.dumps({"gflops": gflops(asked.threads)}))
    elif asked.ranks == 1:
        run_rank(0, asked)
    else:
        torch.multiprocessing.spawn(run_rank, args=(asked,), nprocs=asked.ranks)


if __name__ == "__main__":
    main()
