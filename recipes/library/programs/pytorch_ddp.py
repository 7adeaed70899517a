"""Trains LeNet or ResNet-20 with PyTorch's DistributedDataParallel over Gloo, on the data sets that `dtctl data make` makes.

The networks, the scaling of the pixels, the update rule and the learning-rate schedule are those of dtengine, so that both can be
compared in one table. Every value comes from dtctl's variables.
"""
import math
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import dtctl_report as report


def value(key, kind=float, otherwise=None):
    text = os.environ.get("DTCTL_" + key)
    return otherwise if text is None else kind(text)


def read_idx(path, header):
    return torch.frombuffer(bytearray(path.read_bytes()[header:]), dtype=torch.uint8)


def read_digits(folder):
    """IDX files: 28x28 grey images."""
    sets = []
    for name in ("train", "t10k"):
        images = read_idx(folder / f"{name}-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)
        sets.append((images, read_idx(folder / f"{name}-labels-idx1-ubyte", 8).long()))
    return sets


def read_shapes(folder):
    """CIFAR-10's binary files: a byte with the label, then a 3x32x32 image."""
    sets = []
    for names in ([f"data_batch_{i}.bin" for i in range(1, 6)], ["test_batch.bin"]):
        records = torch.cat([read_idx(folder / name, 0).reshape(-1, 3073) for name in names])
        sets.append((records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0].long()))
    return sets


# Reader, and mean and deviation of the pixels of each channel, as dtengine scales them.
DATA_SETS = {
    "digits": (read_digits, [0.1307], [0.3081]),
    "shapes": (read_shapes, [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]),
}


def scaled(images, mean, deviation):
    shape = (1, -1, 1, 1)
    return (images.float() / 255 - mean.reshape(shape)) / deviation.reshape(shape)


def lenet(classes, channels, side):
    padding = 2 if side < 32 else 0
    return nn.Sequential(
        nn.Conv2d(channels, 6, 5, padding=padding), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, classes))


class Block(nn.Module):
    def __init__(self, inputs, maps, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, maps, 3, stride, 1, bias=False), nn.BatchNorm2d(maps), nn.ReLU(),
            nn.Conv2d(maps, maps, 3, 1, 1, bias=False), nn.BatchNorm2d(maps))
        is_same = inputs == maps and stride == 1
        self.shortcut = nn.Identity() if is_same else nn.Sequential(
            nn.Conv2d(inputs, maps, 1, stride, bias=False), nn.BatchNorm2d(maps))

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet20(classes, channels, side):
    layers = [nn.Conv2d(channels, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    inputs = 16
    for stage, maps in enumerate((16, 32, 64)):
        for i in range(3):
            layers.append(Block(inputs, maps, 2 if stage > 0 and i == 0 else 1))
            inputs = maps
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, classes))


class ReadyTime:
    """When the last gradient was ready: what the backward pass takes beyond that is exposed communication."""
    at = 0.0


def reduce_bucket(ready, bucket):
    if bucket.is_last():
        ready.at = time.perf_counter()
    tensor = bucket.buffer().div_(dist.get_world_size())
    work = dist.all_reduce(tensor, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def refuse_what_is_not_built():
    """This program does what its recipe says, or it says that it does not."""
    allowed = {"OPTIMIZER_NAME": "momentum", "OPTIMIZER_CLIP_NORM": "0", "OPTIMIZER_WARMUP_EPOCHS": "0", "OPTIMIZER_LINEAR_SCALING": "false",
               "TRAIN_ACCUMULATION": "1", "TRAIN_LABEL_SMOOTHING": "0", "DATA_TRAIN_SAMPLES": "0", "DATA_TEST_SAMPLES": "0"}
    for name, only in allowed.items():
        given = os.environ.get("DTCTL_" + name, only)
        if given != only:
            raise SystemExit(f"pytorch_ddp.py does not implement {name.lower().replace('_', '.', 1)}: {given}; only {only}")
    schedule = os.environ.get("DTCTL_OPTIMIZER_SCHEDULE", "constant")
    if schedule not in ("constant", "cosine"):
        raise SystemExit(f"pytorch_ddp.py does not implement optimizer.schedule: {schedule}; only constant and cosine")


def learning_rate(step, steps):
    base = value("OPTIMIZER_LEARNING_RATE")
    if os.environ.get("DTCTL_OPTIMIZER_SCHEDULE") != "cosine":
        return base
    final = value("OPTIMIZER_FINAL_LEARNING_RATE", float, 0.0)
    return final + (base - final) * (1 + math.cos(math.pi * step / steps)) / 2


def evaluate(model, images, labels, scale):
    """Accuracy and loss on the held-out set; every rank computes its part."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    sums = torch.zeros(3, dtype=torch.float64)
    model.eval()
    with torch.no_grad():
        for begin in range(rank * 256, len(labels), ranks * 256):
            wanted = labels[begin:begin + 256]
            outputs = model(scaled(images[begin:begin + 256], *scale))
            loss = nn.functional.cross_entropy(outputs, wanted, reduction="sum")
            sums += torch.tensor([(outputs.argmax(1) == wanted).sum().item(), loss.item(), len(wanted)], dtype=torch.float64)
    model.train()
    dist.all_reduce(sums)
    return (sums[0] / sums[2]).item(), (sums[1] / sums[2]).item(), int(sums[2])


def main():
    refuse_what_is_not_built()
    threads = value("RESOURCES_THREADS_PER_RANK", int, 1)
    torch.set_num_threads(threads)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    read, mean, deviation = DATA_SETS[os.environ["DTCTL_DATA_NAME"]]
    (images, labels), (test_images, test_labels) = read(pathlib.Path(os.environ["DTCTL_DATA_FOLDER"]))
    scale = torch.tensor(mean), torch.tensor(deviation)

    seed = value("TRAIN_SEED", int, 1)
    torch.manual_seed(seed)
    build = {"lenet": lenet, "resnet20": resnet20}[os.environ["DTCTL_MODEL_NAME"]]
    model = build(int(labels.max()) + 1, images.shape[1], images.shape[2])
    parallel = DistributedDataParallel(model)
    ready = ReadyTime()
    if ranks > 1:
        parallel.register_comm_hook(ready, reduce_bucket)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=value("OPTIMIZER_LEARNING_RATE"),
                                momentum=value("OPTIMIZER_MOMENTUM", float, 0.9),
                                weight_decay=value("OPTIMIZER_WEIGHT_DECAY", float, 0.0))

    batch = value("TRAIN_GLOBAL_BATCH", int) or value("TRAIN_BATCH_PER_RANK", int) * ranks
    mine = batch // ranks
    steps_per_epoch = len(labels) // batch
    steps = value("TRAIN_STEPS", int) or math.ceil(value("TRAIN_EPOCHS") * steps_per_epoch)
    eval_every = round(value("TRAIN_EVAL_EVERY_EPOCHS", float, 1.0) * steps_per_epoch)

    report.begin()
    for step in range(steps):
        begin = time.perf_counter()
        epoch, place = divmod(step, steps_per_epoch)
        if place == 0:
            order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed * 1000 + epoch))
        chosen = order[place * batch + rank * mine:place * batch + (rank + 1) * mine]
        x, wanted = scaled(images[chosen], *scale), labels[chosen]
        rate = learning_rate(step, steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        has_input = time.perf_counter()
        loss = nn.functional.cross_entropy(parallel(x), wanted)
        has_output = time.perf_counter()
        loss.backward()
        has_gradients = time.perf_counter()
        optimizer.step()
        end = time.perf_counter()
        exposed = has_gradients - ready.at if ranks > 1 else 0.0
        report.step(loss=loss.item(), samples=mine, learning_rate=rate, epoch=(step + 1) / steps_per_epoch, phases={
            "input": has_input - begin, "forward": has_output - has_input,
            "backward": has_gradients - has_output - exposed, "communication": exposed, "optimizer": end - has_gradients})
        if step + 1 == steps or (eval_every > 0 and (step + 1) % eval_every == 0):
            accuracy, test_loss, samples = evaluate(model, test_images, test_labels, scale)
            report.evaluation(accuracy=accuracy, loss=test_loss, samples=samples)
            if rank == 0:
                print(f"step {step + 1} of {steps}: held-out accuracy {100 * accuracy:.2f} %, loss {test_loss:.4f}")
    report.result(parameters=sum(parameter.numel() for parameter in model.parameters()))
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # the threads of Gloo's callbacks can deadlock with the end of the interpreter


if __name__ == "__main__":
    main()
