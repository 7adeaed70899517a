#!/usr/bin/python3
"""How fast PyTorch's DataLoader makes batches of a folder of images, one class a folder, for `scripts/measure input`. Prints one JSON object.

Random-resized crops of 224 x 224, flipped at random. Each way of decoding is measured in turn, and the fastest one is the peer:
  pil          torchvision.datasets.ImageFolder as its documentation shows it: Pillow decodes, transforms work on its images
  pil-draft    likewise, but Pillow is asked (Image.draft) to decode at half, a quarter or an eighth of the resolution where that suffices
  torchvision  torchvision.io.decode_jpeg (libjpeg-turbo), transforms work on tensors
"""
import json
import math
import sys
import time

import torch
import torchvision
from torchvision import transforms
from PIL import Image

SIDE = 224


def read_draft(path):
    """Opens an image with Pillow at a resolution at which a part of 8 % of the area still has SIDE pixels, if there is one."""
    with open(path, "rb") as file:
        image = Image.open(file)
        scale = min(1.0, SIDE / math.sqrt(0.08 * image.width * image.height * 3 / 4))
        image.draft("RGB", (int(image.width * scale), int(image.height * scale)))
        return image.convert("RGB")


def read_tensor(path):
    return torchvision.io.decode_jpeg(torchvision.io.read_file(path), mode=torchvision.io.ImageReadMode.RGB)


READERS = {"pil": torchvision.datasets.folder.pil_loader, "pil-draft": read_draft, "torchvision": read_tensor}


def samples_per_s(way):
    """Of the second epoch; the first one warms up."""
    to_floats = transforms.ConvertImageDtype(torch.float) if way == "torchvision" else transforms.ToTensor()
    steps = transforms.Compose([transforms.RandomResizedCrop(SIDE), transforms.RandomHorizontalFlip(), to_floats,
                                transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])  # torchvision's own training reference
    data = torchvision.datasets.ImageFolder(sys.argv[1], transform=steps, loader=READERS[way])
    batches = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True, drop_last=True)
    for _ in range(2):
        begin, samples = time.perf_counter(), 0
        for images, _ in batches:
            samples += len(images)
    return samples / (time.perf_counter() - begin)


torch.set_num_threads(1)
print(json.dumps({way: samples_per_s(way) for way in READERS}))
