#!/usr/bin/python3
"""How fast PyTorch's DataLoader makes batches of a folder of images, one class a folder.

Each way of decoding is measured in turn, and the fastest one is the peer:
  pil          torchvision.datasets.ImageFolder as its documentation shows it: Pillow decodes, transforms work on its images
  pil-draft    likewise, but Pillow is asked (Image.draft) to decode at half, a quarter or an eighth of the resolution where that suffices
  torchvision  torchvision.io.decode_jpeg (libjpeg-turbo), transforms work on tensors
With --workers 0 the process itself makes the batches; with N > 0, N processes do.
"""
import argparse
import json
import math
import os
import statistics
import time

import torch
import torchvision
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder
from PIL import Image


def draft_loader(size):
    """Opens an image with Pillow at a resolution at which a part of 8 % of the area still has `size` pixels, if there is one."""
    def load(path):
        with open(path, "rb") as file:
            image = Image.open(file)
            smallest = math.sqrt(0.08 * image.width * image.height * 3 / 4)
            scale = min(1.0, size / smallest)
            image.draft("RGB", (int(image.width * scale), int(image.height * scale)))
            return image.convert("RGB")
    return load


def read_tensor(path):
    return torchvision.io.decode_jpeg(torchvision.io.read_file(path), mode=torchvision.io.ImageReadMode.RGB)


def pipeline(size, crop, flip, of_tensors):
    """The transforms of torchvision's own training reference, for Pillow's images or for tensors."""
    steps = []
    if crop == "random-resized":
        steps.append(transforms.RandomResizedCrop(size))
    else:
        steps.append(transforms.Resize(size))
        steps.append(transforms.CenterCrop(size))
    if flip:
        steps.append(transforms.RandomHorizontalFlip())
    steps.append(transforms.ConvertImageDtype(torch.float) if of_tensors else transforms.ToTensor())
    steps.append(transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
    return transforms.Compose(steps)


def measure(way, options):
    of_tensors = way == "torchvision"
    loader = {"pil": torchvision.datasets.folder.pil_loader, "pil-draft": draft_loader(options.size), "torchvision": read_tensor}[way]
    data = ImageFolder(options.folder, transform=pipeline(options.size, options.crop, options.flip, of_tensors), loader=loader)
    batches = DataLoader(data, batch_size=options.batch, shuffle=True, num_workers=options.workers, drop_last=True,
                         persistent_workers=options.workers > 0)
    rates = []
    for _ in range(options.repeats + 1):  # the first epoch warms up
        begin, samples = time.perf_counter(), 0
        for images, _ in batches:
            samples += len(images)
        rates.append(samples / (time.perf_counter() - begin))
    return rates[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--crop", choices=["none", "random-resized"], default="random-resized")
    parser.add_argument("--flip", action="store_true")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ways", default="pil,pil-draft,torchvision")
    options = parser.parse_args()
    torch.set_num_threads(1)
    result = {"torch": torch.__version__, "torchvision": torchvision.__version__, "cores": len(os.sched_getaffinity(0)),
              "workers": options.workers, "ways": {}}
    for way in options.ways.split(","):
        rates = measure(way, options)
        result["ways"][way] = {"samples_per_s": statistics.median(rates), "all": rates}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
