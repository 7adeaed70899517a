"""Trains what a recipe of dtengine describes with PyTorch's DistributedDataParallel over Gloo, on processors.

Network, data, update rule and schedule are those of torch_train.py, which trains the same under dtctl's strategies.
"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import dtctl_report as report
import networks
import torch_train


class ReadyTime:
    """When the last gradient was ready: what the backward pass takes beyond that is exposed communication."""
    at = 0.0


def reduce_bucket(ready, bucket):
    if bucket.is_last():
        ready.at = time.perf_counter()
    tensor = bucket.buffer().div_(dist.get_world_size())
    work = dist.all_reduce(tensor, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def batches_of(rank, plan, samples, seed):
    """Indices of this rank's samples, step by step."""
    steps_per_epoch = samples // plan.global_batch
    for step in range(plan.steps):
        epoch, place = divmod(step, steps_per_epoch)
        if place == 0:
            order = torch.randperm(samples, generator=torch.Generator().manual_seed(seed * 1000 + epoch))
        yield order[place * plan.global_batch + rank * plan.batch:][:plan.batch]


def evaluate(model, data):
    model.eval()
    with torch.no_grad():
        sums = torch.tensor(torch_train.sums_of(model, data, dist.get_rank(), dist.get_world_size()), dtype=torch.float64)
    model.train()
    dist.all_reduce(sums)
    correct, loss, samples = sums.tolist()
    report.evaluation(accuracy=correct / samples, loss=loss / samples, samples=int(samples))
    return correct / samples


def train(recipe):
    keys = recipe["train"]
    torch.set_num_threads(recipe["resources"]["threads_per_rank"])
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    data, held_out, classes = torch_train.read_data(recipe["data"], keys["seed"])
    plan = torch_train.Plan(recipe, len(data), ranks)
    torch.manual_seed(keys["seed"])
    model = torch_train.build_network(recipe, data, classes)
    parallel = DistributedDataParallel(model)
    ready = ReadyTime()
    if ranks > 1:
        parallel.register_comm_hook(ready, reduce_bucket)
    optimizer = torch_train.make_optimizer(model, recipe["optimizer"])
    evaluations = set(plan.evaluations())

    report.begin()
    batches = batches_of(rank, plan, len(data), keys["seed"])
    for step in range(plan.steps):
        begin = time.perf_counter()
        images, labels = data.batch(next(batches))
        torch_train.set_rate(optimizer, plan.learning_rate(step))
        optimizer.zero_grad()
        has_input = time.perf_counter()
        loss = networks.loss_of(parallel, images, labels, keys["label_smoothing"])
        has_output = time.perf_counter()
        loss.backward()
        has_gradients = time.perf_counter()
        optimizer.step()
        end = time.perf_counter()
        exposed = has_gradients - ready.at if ranks > 1 else 0.0
        report.step(loss=loss.item(), samples=plan.batch, learning_rate=plan.learning_rate(step), epoch=plan.epoch_after(step + 1), phases={
            "input": has_input - begin, "forward": has_output - has_input,
            "backward": has_gradients - has_output - exposed, "communication": exposed, "optimizer": end - has_gradients})
        if step + 1 in evaluations:
            accuracy = evaluate(model, held_out)
            if rank == 0:
                print(f"step {step + 1} of {plan.steps}: held-out accuracy {100 * accuracy:.2f} %")
            if keys["stop_at_target"] and 0 < keys["target_accuracy"] <= accuracy:
                break
    report.result(parameters=sum(parameter.numel() for parameter in model.parameters()))
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # the threads of Gloo's callbacks can deadlock with the end of the interpreter


# What torch_train.py does in addition.
NOT_HERE = {"optimizer.clip_norm": [0], "train.accumulation": [1], "train.precision": ["fp32"], "data.shuffle": [True]}

if __name__ == "__main__":
    torch_train.run(train, implemented=NOT_HERE)
