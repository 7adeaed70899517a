"""Trains what a recipe of dtengine describes with PyTorch: its network, data, update rule and schedule, under the recipe's strategy.

    dtctl sweep lenet-easgd --set 'program.command=[python3, programs/torch_train.py]' --set program.files=programs

Copy the folder `programs` beside your recipe. Each rank takes a GPU, if PyTorch finds one. A key that this program does not implement
is refused.
"""
import gzip
import json
import math
import os
import pathlib
import struct
import sys

import numpy
import torch

import dtctl_report as report
import networks

EVALUATED_AT_ONCE = 256  # held-out samples of one forward pass


class Refused(Exception):
    """The recipe asks for what this program does not implement, or cannot do."""


# ---- the recipe -------------------------------------------------------------------------------------------------------------------

# What this program implements, where it is not all of a key's values.
IMPLEMENTED = {
    "model.name": list(networks.MODELS),
    "model.batch_norm": ["local"],
    "data.image_size": [0],
    "data.crop": ["none"],
    "data.flip": [False],
    "data.order": ["auto", "samples"],
    "data.corrupt": ["refuse"],
    "optimizer.name": ["sgd", "momentum", "nesterov", "adam", "adamw"],
    "train.start_from": [""],
    "train.loss_scale": [1],
    "train.final_checkpoint": [False],
}


def read_recipe(implemented=None):
    """All keys of the recipe: recipe["train"]["epochs"]. Refuses what this program does not implement."""
    if not os.environ.get("DTCTL_SPEC"):
        raise Refused("there is no recipe: start this program with dtctl, in program.command of a recipe")
    recipe = json.loads(pathlib.Path(os.environ["DTCTL_SPEC"]).read_text())
    for key, values in {**IMPLEMENTED, **(implemented or {})}.items():
        block, name = key.split(".")
        given = recipe.get(block, {}).get(name, values[0])
        if given not in values:
            raise Refused(f"{key}: {given} is not implemented; it can be {', '.join(str(value) or 'left out' for value in values)}")
    return recipe


class Plan:
    """Batches, steps and learning rates, as dtengine counts them."""

    def __init__(self, recipe, samples, workers):
        train = recipe["train"]
        self.optimizer, self.workers, self.samples = recipe["optimizer"], workers, samples
        self.global_batch = train["global_batch"] or train["batch_per_rank"] * workers
        self.batch = self.global_batch // workers
        if self.batch * workers != self.global_batch:
            raise Refused(f"train.global_batch: {self.global_batch} does not divide among {workers} workers")
        if self.batch % train["accumulation"] != 0:
            raise Refused(f"train.accumulation: {train['accumulation']} does not divide the {self.batch} samples of a worker's batch")
        self.steps = train["steps"] or math.ceil(train["epochs"] * samples / self.global_batch * (1 - 1e-9))
        self.epochs = train["epochs"] or self.epoch_after(self.steps)
        self.eval_every_epochs = train["eval_every_epochs"]

    def epoch_after(self, step):
        return step * self.global_batch / self.samples

    def evaluations(self):
        """The steps after which the model is evaluated."""
        every = self.eval_every_epochs
        periods = [math.floor(self.epoch_after(step) / every + 1e-9) if every > 0 else 0 for step in range(self.steps)]
        return [step for step in range(1, self.steps) if periods[step] > periods[step - 1]] + [self.steps]

    def learning_rate(self, step):
        """Of the step after `step` others."""
        keys, epoch = self.optimizer, self.epoch_after(step)
        scale = self.workers if keys["linear_scaling"] else 1
        base, last, done = scale * keys["learning_rate"], scale * keys["final_learning_rate"], min(epoch / self.epochs, 1)
        rate = {
            "constant": lambda: base,
            "step": lambda: base * keys["step_factor"] ** math.floor(epoch / keys["step_epochs"] + 1e-9),
            "polynomial": lambda: last + (base - last) * (1 - done) ** keys["polynomial_power"],
            "cosine": lambda: last + (base - last) * (1 + math.cos(math.pi * done)) / 2,
        }[keys["schedule"]]()
        if epoch < keys["warmup_epochs"]:
            rate *= keys["warmup_factor"] + (1 - keys["warmup_factor"]) * epoch / keys["warmup_epochs"]
        return rate


def make_optimizer(model, keys):
    """Weight decay is in the gradient (adamw: in the weights); of biases, and of scales and shifts of norms, only if the recipe says so."""
    decays = {}  # of each parameter once, where layers share it
    for layer in model.modules():
        is_norm = isinstance(layer, (torch.nn.BatchNorm2d, torch.nn.LayerNorm))
        for name, parameter in layer.named_parameters(recurse=False):
            decays[parameter] = keys["decay_norms"] if is_norm else keys["decay_biases"] or name != "bias"
    groups = [{"params": [parameter for parameter, decay in decays.items() if decay == which], "weight_decay": keys["weight_decay"] * which}
              for which in (True, False) if which in decays.values()]
    if keys["name"].startswith("adam"):
        rule = torch.optim.AdamW if keys["name"] == "adamw" else torch.optim.Adam
        return rule(groups, keys["learning_rate"], (keys["beta1"], keys["beta2"]), keys["epsilon"])
    momentum = 0.0 if keys["name"] == "sgd" else keys["momentum"]
    return torch.optim.SGD(groups, keys["learning_rate"], momentum, nesterov=keys["name"] == "nesterov" and momentum > 0)


# ---- data -------------------------------------------------------------------------------------------------------------------------


class Images:
    """Labelled images in bytes, scaled as dtengine does: by mean and deviation of each channel."""

    def __init__(self, images, labels, mean, deviation):
        self.images, self.labels = images, labels
        self.mean, self.deviation = (torch.as_tensor(values).reshape(1, -1, 1, 1) for values in (mean, deviation))

    def __len__(self):
        return len(self.labels)

    def shape(self):
        return tuple(self.images.shape[1:])

    def first(self, count):
        return self if count == 0 else Images(self.images[:count], self.labels[:count], self.mean.flatten(), self.deviation.flatten())

    def to(self, device):
        self.images, self.labels, self.mean, self.deviation = (
            values.to(device) for values in (self.images, self.labels, self.mean, self.deviation))
        return self

    def batch(self, indices):
        indices = torch.as_tensor(indices, device=self.images.device)
        return (self.images[indices].float() / 255 - self.mean) / self.deviation, self.labels[indices]


class Synthetic:
    """Noise with a brighter stretch for each class, as dtengine's data set `synthetic`; the noise of a sample is drawn anew each time."""

    def __init__(self, count, keys, seed):
        self.keys, self.generator = keys, torch.Generator().manual_seed(seed)
        self.labels = torch.randint(keys["classes"], (count,), generator=self.generator)

    def __len__(self):
        return len(self.labels)

    def shape(self):
        return tuple(self.keys[side] for side in ("channels", "height", "width"))

    def to(self, device):
        self.labels, self.generator = self.labels.to(device), torch.Generator(device).manual_seed(1)
        return self

    def batch(self, indices):
        labels, shape = self.labels[torch.as_tensor(indices, device=self.labels.device)], self.shape()
        pixels, classes = math.prod(shape), self.keys["classes"]
        images = torch.rand(len(labels), pixels, device=labels.device, generator=self.generator) * 12 ** 0.5 - 3 ** 0.5
        place = torch.arange(pixels, device=labels.device)
        begin, end = (((labels + i) * pixels // classes).unsqueeze(1) for i in (0, 1))
        return (images + ((place >= begin) & (place < end))).reshape(-1, *shape), labels


def bytes_of(folder, *names):
    for name in names:
        for path in (folder / name, folder / (name + ".gz")):
            if path.exists():
                return bytearray(gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes())
    raise Refused(f"data: there is no {names[0]} in {folder}")


def read_idx(folder, part, kind, dimensions):
    content = bytes_of(folder, f"{part}-{kind}-idx{dimensions}-ubyte", f"{part}-{kind}.idx{dimensions}-ubyte")
    sizes = struct.unpack_from(f">{dimensions}i", content, 4)
    return torch.frombuffer(content, dtype=torch.uint8, offset=4 + 4 * dimensions).reshape(sizes)


def read_mnist(folder):
    """IDX files: a header, then grey images or labels."""
    return [(read_idx(folder, part, "images", 3).unsqueeze(1), read_idx(folder, part, "labels", 1)) for part in ("train", "t10k")]


def read_cifar(folder, labels=1, train=tuple(f"data_batch_{i}.bin" for i in range(1, 6)), test="test_batch.bin"):
    """CIFAR's binary files: the bytes of the labels, the last of which counts, then a 3x32x32 image."""
    sets = []
    for names in (train, [test]):
        contents = [bytes_of(folder, name, "cifar-10-batches-bin/" + name, "cifar-100-binary/" + name) for name in names]
        records = torch.cat([torch.frombuffer(content, dtype=torch.uint8) for content in contents]).reshape(-1, labels + 3072)
        sets.append((records[:, labels:].reshape(-1, 3, 32, 32), records[:, labels - 1]))
    return sets


def read_packed(path):
    """A packed set of pixels (core/data/packed_file.hpp has the format), its means, deviations and number of classes."""
    content = numpy.memmap(path, mode="r")
    records, index_at, names_at, description_at, end = struct.unpack_from("<5Q", content, 8)
    facts = json.loads(bytes(content[description_at:end]))
    if facts["encoding"] != "pixels" or facts["height"] == 0:
        raise Refused("data.set: packed sets of JPEG files, or of images of several sizes, are not implemented; pack with "
                      "--encoding pixels and --size")
    entry = numpy.dtype([("begin", "<u8"), ("hash", "<u8"), ("bytes", "<u4"), ("label", "<u4"), ("name", "<u8")])
    index = content[index_at:names_at].view(entry)
    size = facts["height"] * facts["width"] * facts["channels"]
    pixels = torch.from_numpy(numpy.stack([content[begin:begin + size] for begin in index["begin"].astype("i8")]))
    images = pixels.reshape(records, facts["height"], facts["width"], facts["channels"]).permute(0, 3, 1, 2).contiguous()
    labels, train = torch.from_numpy(index["label"].astype("i8")), facts["train_samples"]
    sets = [(images[:train], labels[:train]), (images[train:], labels[train:])]
    return sets, facts["mean"], [deviation or 1.0 for deviation in facts["deviation"]], len(facts["classes"])


# Reader, and mean and deviation of each channel, the numbers that dtengine has.
DATA_SETS = {
    "digits": (read_mnist, [0.133], [0.238]),
    "mnist": (read_mnist, [0.1307], [0.3081]),
    "shapes": (read_cifar, [0.5] * 3, [0.267] * 3),
    "cifar10": (read_cifar, [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]),
    "cifar100": (lambda folder: read_cifar(folder, 2, ["train.bin"], "test.bin"), [0.5071, 0.4865, 0.4409], [0.2673, 0.2564, 0.2762]),
}


def read_data(keys, seed):
    """The training set, the held-out set and the number of classes."""
    place = pathlib.Path(os.environ.get("DTCTL_DATA_FOLDER", ""))
    if keys["name"] == "synthetic":
        return Synthetic(keys["train_samples"] or 8192, keys, seed), Synthetic(keys["test_samples"] or 1024, keys, seed + 1), keys["classes"]
    if keys["name"] == "packed":
        sets, mean, deviation, classes = read_packed(place)
    else:
        read, mean, deviation = DATA_SETS[keys["name"]]
        sets = read(place)
        classes = {"cifar100": 100, "mnist": int(sets[0][1].max()) + 1}.get(keys["name"], 10)
    train, test = (Images(images, labels.long(), mean, deviation) for images, labels in sets)
    return train.first(keys["train_samples"]), test.first(keys["test_samples"]), classes


# ---- the training -----------------------------------------------------------------------------------------------------------------


def choose_device(local_rank):
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", local_rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    return device


def set_rate(optimizer, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate


def sums_of(model, data, part, parts):
    """Correct answers, sum of the losses and number of answers, over one of `parts` equal parts of the held-out set."""
    sums = torch.zeros(3, dtype=torch.float64)
    for begin in range(part * EVALUATED_AT_ONCE, len(data), parts * EVALUATED_AT_ONCE):
        images, labels = data.batch(range(begin, min(begin + EVALUATED_AT_ONCE, len(data))))
        logits = model(images).float()
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
        sums += torch.tensor([(logits.argmax(1) == labels).sum().item(), loss.item(), labels.numel()], dtype=torch.float64)
    return sums.tolist()


def evaluate(training, data, autocast):
    """Accuracy on the held-out set, the same on every rank; each worker computes a part of the set."""
    with training.evaluation() as model, autocast():
        sums = sums_of(model, data, training.worker, training.workers) if training.worker >= 0 else [0.0] * 3
        correct, loss, answers = training.mean(*sums)
    training.report_evaluation(correct / answers, loss / answers, len(data))
    if training.rank == 0:
        print(f"step {training.step_number}: held-out accuracy {100 * correct / answers:.2f} %, loss {loss / answers:.4f}")
    return correct / answers


def build_network(recipe, data, classes):
    model = networks.build(recipe["model"]["name"], data.shape(), classes, recipe["model"]["dropout"])
    networks.fill_initial_weights(model)
    return model


def train(recipe, read=read_data, build=build_network):
    import dtctl_sync  # loads MPI, so not before the recipe is known to be one for this program

    keys = recipe["train"]
    torch.set_num_threads(recipe["resources"]["threads_per_rank"])
    device = choose_device(int(os.environ.get("LOCAL_RANK", 0)))
    data, held_out, classes = read(recipe["data"], keys["seed"])
    torch.manual_seed(keys["seed"])
    model = build(recipe, data, classes).to(device)
    optimizer = make_optimizer(model, recipe["optimizer"])

    def autocast():
        return torch.autocast(device.type, torch.bfloat16, enabled=keys["precision"] == "bf16")

    def loss_of(images, labels):
        with autocast():
            return networks.loss_of(model, images, labels, keys["label_smoothing"])

    def clip():
        torch.nn.utils.clip_grad_norm_(model.parameters(), recipe["optimizer"]["clip_norm"])

    with dtctl_sync.Training(model, optimizer) as training:
        plan = Plan(recipe, len(data), training.workers)
        torch.manual_seed(keys["seed"] * 1000 + training.rank)  # of dropout
        data, held_out = data.to(device), held_out.to(device)
        loader = torch.utils.data.DataLoader(range(len(data)), plan.batch, recipe["data"]["shuffle"], collate_fn=data.batch, drop_last=True)
        for stop in plan.evaluations():
            for images, labels in training.batches(loader, stop - training.step_number):
                set_rate(optimizer, plan.learning_rate(training.step_number))
                parts = zip(images.chunk(keys["accumulation"]), labels.chunk(keys["accumulation"]))
                training.step([lambda part=part: loss_of(*part) for part in parts], samples=len(labels),
                              before_update=clip if recipe["optimizer"]["clip_norm"] > 0 else None)
            accuracy = evaluate(training, held_out, autocast)
            if keys["stop_at_target"] and 0 < keys["target_accuracy"] <= accuracy:
                break


def run(main, **options):
    """Runs main(recipe). What is refused is reported in one sentence, and the exit code is then 2."""
    try:
        main(read_recipe(**options))
    except Refused as refusal:
        sentence = f"{pathlib.Path(sys.argv[0]).name}: {refusal}."
        report.error(sentence)
        if os.environ.get("RANK", "0") == "0":
            print(sentence, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    run(train)
