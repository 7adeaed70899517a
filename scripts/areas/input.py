"""How data sets are read and decoded.

  decode        decoding beside PyTorch's DataLoader
  reading       contiguous against random reading, beside fio
  first-step    time to the first step with 100,000 JPEG files

Needs python3-pil, python3-h5py, python3-torch, python3-torchvision and fio of the distribution, root for the limits of operations, and 6 GB in
$TMPDIR. About ten minutes.
"""
import json
import os
import pathlib
import statistics

import h5py
import numpy
from PIL import Image

from measuring import PYTHON, ROOT, columns, in_turn, interval, mpirun, one_of, ratios, row, run, spread

PROGRAMS = ["dtctl", "dtjob", "dtengine", "dtbench"]
PARTS = ["decode", "reading", "first-step"]
ROUNDS = 3
RECIPE = """version: 1
name: first-step
model: { name: lenet }
data: { name: packed, path: FILE }
train: { batch_per_rank: 64, steps: 20, warmup_steps: 5, eval_every_epochs: 0 }
resources: { ranks_per_node: 2 }
"""


def options(parser):
    parser.add_argument("parts", nargs="*", type=one_of(PARTS), metavar="PART", help="all, if none is named")


def photo(random, height, width):
    """An image with the spectrum of a photograph: noise at every scale, its amplitude proportional to the scale."""
    image = numpy.zeros((height, width, 3))
    size = 4
    while size < max(height, width):
        noise = random.normal(size=(size * height // width + 1, size, 3))
        scaled = [Image.fromarray(noise[:, :, c].astype("f4")).resize((width, height), Image.BICUBIC) for c in range(3)]
        image += numpy.stack(scaled, axis=2) / size
        size *= 2
    image = (image - image.mean()) / image.std()
    return Image.fromarray(numpy.clip(128 + 55 * image, 0, 255).astype("u1"))


def make_photos(folder, count, height, width):
    """count files in ten folders; every photo is used for ten files, cut differently, because rendering is slow."""
    random = numpy.random.default_rng(1)
    for label in range(10):
        (folder / f"class-{label}").mkdir(parents=True)
    for i in range(count):
        if i % 10 == 0:
            drawn = photo(random, height + 16, width + 16)
        left, top = random.integers(0, 16, 2)
        drawn.crop((left, top, left + width, top + height)).save(folder / f"class-{i % 10}" / f"{i:06}.jpg", quality=90)


def pack(place, source, name):
    place.dtctl("data", "pack", place.folder / source, "-o", place.folder / name, "--test-fraction", "0.01")
    return place.folder / name


def bench(place, launcher, file, *words):
    return json.loads(run([*launcher, place.program("dtbench"), "input", file, "--json", *words]))


def decode(place):
    """Random-resized crops of 224 x 224 from photos of 500 x 375, on one core, all files in the page cache."""
    photos = place.folder / "photos"
    make_photos(photos, 1000, 375, 500)
    size = statistics.mean(file.stat().st_size for file in photos.rglob("*.jpg"))
    packed, alone = pack(place, "photos", "photos.pack"), ["taskset", "-c", "0"]
    found = in_turn(ROUNDS, {
        "dtengine": lambda: bench(place, alone, packed, "--no-cold", "--orders", "blocks", "--threads", "0", "--image-size", "224", "--crop", "random-resized",
                                  "--flip", "--repeats", "1")[0]["samples_per_s"],
        "PyTorch": lambda: json.loads(run([*alone, PYTHON, ROOT / "scripts/peers/torch_input.py", photos]))})
    ours = found["dtengine"]
    print(f"\nDecoding: {size / 1000:.0f} KB a file, one core, median (least to most) of {ROUNDS} rounds in turn\n")
    columns("program", "samples/s", "dtengine's ratio")
    row("dtengine", spread(ours, ".0f"), "")
    for way in found["PyTorch"][0]:
        rates = [each[way] for each in found["PyTorch"]]
        row(f"PyTorch's DataLoader, {way}", spread(rates, ".0f"), interval(ratios(ours, rates)))


def fio(file, pattern, block):
    words = ["fio", "--name=read", f"--filename={file}", f"--rw={pattern}", f"--bs={block}", "--invalidate=1", "--readonly", "--runtime=5",
             "--output-format=json"]
    return json.loads(run(words))["jobs"][0]["read"]["bw_bytes"]


class Limit:
    """Lets a command make so many read operations per second on the device of a file (blkio of cgroups, version 1)."""

    def __init__(self, file, operations):
        self.folder = pathlib.Path("/sys/fs/cgroup/blkio/dtctl-benchmark")
        self.folder.mkdir(exist_ok=True)
        number = os.stat(file).st_dev
        device = os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
        whole = device if os.path.exists(f"{device}/queue") else os.path.dirname(device)
        (self.folder / "blkio.throttle.read_iops_device").write_text(f"{pathlib.Path(whole, 'dev').read_text().strip()} {operations}")

    def __enter__(self):
        return ["sh", "-c", f'echo $$ > {self.folder}/cgroup.procs && exec "$@"', "sh"]

    def __exit__(self, *_):
        self.folder.rmdir()


def reading(place):
    """Records of 100 KB, 2 GB in all."""
    with h5py.File(place.folder / "noise.h5", "w") as noise:
        random = numpy.random.default_rng(1)
        images = noise.create_dataset("images", (20000, 183, 182, 3), "u1")
        for i in range(0, 20000, 200):
            images[i:i + 200] = random.integers(0, 256, (200, 183, 182, 3), "u1")
        noise["labels"] = numpy.arange(20000) % 10
    file, two = pack(place, "noise.h5", "noise.pack"), mpirun(2)
    (place.folder / "noise.h5").unlink()
    print("\nReading: records of 100 KB, 2 GB, one thread reads, nothing is decoded, median of 3\n")
    columns("cache", "reader", "order", "MB/s", "read calls", "samples/s")

    def rows(launcher, *words, more="", order=None):
        for case in bench(place, launcher, file, "--no-decode", *words):
            row(case["cache"], case["reader"] + more, order or case["order"], f"{case['bytes_per_s'] / 1e6:.0f}", f"{case['read_calls']:.0f}",
                f"{case['samples_per_s']:.0f}")

    rows([], "--readers", "buffered,direct")
    rows(two, "--readers", "mpi-io", more=", 2 ranks", order="file")
    rows(two, "--orders", "file", more=", 2 ranks")
    row("cold", "fio", "sequential, 8 MB", f"{fio(file, 'read', '8m') / 1e6:.0f}", "", "")
    row("cold", "fio", "random, 100 KB", f"{fio(file, 'randread', '100k') / 1e6:.0f}", "", "")
    for operations in (200, 1000):
        with Limit(file, operations) as limited:
            rows(limited, "--no-warm", "--orders", "blocks,samples", "--repeats", "1", "--samples", "2000", more=f", {operations} operations/s")


def first_step(place):
    """LeNet on two ranks."""
    make_photos(place.folder / "small", 100000, 32, 32)
    recipe = place.write("first-step.yaml", RECIPE.replace("FILE", str(pack(place, "small", "small.pack"))))
    from_submission, from_mpi = [], []
    for seed in range(1, 6):
        place.dtctl("submit", recipe, "--set", f"train.seed={seed}", "--wait")
        attempt = max((place.home / "runs").iterdir(), key=lambda path: path.stat().st_mtime) / "attempts/1"
        result, begin, submission = (json.loads((attempt / f"{name}.json").read_text()) for name in ("result", "begin", "submission"))
        first = result["unix_s"] - result["wall_s"]
        from_mpi.append(first - begin["unix_s"])
        from_submission.append(first - submission["submitted_unix_s"])
    print("\nFirst step: LeNet, 2 ranks, a packed set of 100,000 JPEG files, median (least to most) of 5 runs\n")
    for name, times in (("the submission", from_submission), ("MPI_Init on all ranks", from_mpi)):
        print(f"- from {name} to the first step: {spread(times)} s")


def measure(asked, place):
    for part in asked.parts or PARTS:
        {"decode": decode, "reading": reading, "first-step": first_step}[part](place)
