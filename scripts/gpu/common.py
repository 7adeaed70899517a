"""What the sections of scripts/check-gpu in PyTorch share: rows of the table, steps that are timed in turn, ResNet-50."""
import json
import pathlib
import statistics
import sys
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ROOT / "share/dtctl/program"
sys.path += [str(MODULES), str(ROOT / "scripts")]
from measuring import in_turn, interval, ratios

IS_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if IS_GPU else "cpu")


def row(what, value, unit="", note=""):
    """One row of the table; the driver reads these lines from standard output."""
    print(json.dumps({"what": what, "value": value, "unit": unit, "note": note}), flush=True)


def synchronize():
    if IS_GPU:
        torch.cuda.synchronize()


def ms_of(step, times):
    """Of one of these steps, on the wall clock, until the device has done them."""
    synchronize()
    begin = time.perf_counter()
    for _ in range(times):
        step()
    synchronize()
    return 1e3 * (time.perf_counter() - begin) / times


def in_turn_ms(steps, rounds, steps_a_round):
    """The steps {name: function} in turn, after a round that warms up: of each name the rounds' times of one step in ms."""
    return in_turn(rounds, {name: lambda step=step: ms_of(step, steps_a_round) for name, step in steps.items()}, warm_up=1)


def ratio_row(what, times, name, base, note=""):
    each = ratios(times[name], times[base])
    row(what, round(statistics.median(times[name]), 3), "ms", f"{interval(each, '.4f')} of {base}, {len(each)} rounds{note}")


def resnet50():
    """torchvision's where it is there, else a plain stack of convolutions for the trial on a CPU."""
    try:
        import torchvision

        return torchvision.models.resnet50()
    except ImportError:
        from torch import nn

        return nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.BatchNorm2d(32), nn.ReLU(),
                             nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 1000))


def images_of(batch):
    """Random ones for ResNet-50, channels-last, on the host."""
    side = 224 if IS_GPU else 32
    return torch.randn(batch, 3, side, side).to(memory_format=torch.channels_last)


class ResnetStep:
    """forward, backward and update of ResNet-50 in bf16, channels-last, over one batch that stays on the device."""

    def __init__(self, batch):
        torch.manual_seed(1)
        self.module = resnet50().to(DEVICE).to(memory_format=torch.channels_last)
        self.images = images_of(batch).to(DEVICE)
        self.labels = torch.randint(0, 1000, (batch,), device=DEVICE)
        self.optimizer = torch.optim.SGD(self.module.parameters(), lr=0.01, momentum=0.9)

    def loss(self):
        with torch.autocast(DEVICE.type, torch.bfloat16):
            return torch.nn.functional.cross_entropy(self.module(self.images), self.labels)

    def __call__(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss().backward()
        self.optimizer.step()
