"""Small data in the formats that public programs read: MNIST's files, folders of images, text, a citation graph, waves. Nothing is downloaded."""

import pickle
import random
import struct

import numpy


def mnist(folder, train, test, seed=1):
    """Files of the names and the format of MNIST (and FashionMNIST): each class is a pattern of its own, plus noise."""
    folder.mkdir(parents=True)
    chance = numpy.random.default_rng(seed)
    patterns = numpy.kron(chance.integers(0, 2, (10, 7, 7)), numpy.ones((4, 4))) * 50
    for name, number in (("train", train), ("t10k", test)):
        labels = chance.permutation(numpy.arange(number) % 10).astype(numpy.uint8)
        images = numpy.clip(patterns[labels] + chance.normal(103, 90, (number, 28, 28)), 0, 255).astype(numpy.uint8)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(struct.pack(">4i", 2051, number, 28, 28) + images.tobytes())
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, number) + labels.tobytes())


def images(folder, number, size, seed=1):
    """PNG files."""
    from PIL import Image

    folder.mkdir(parents=True)
    chance = numpy.random.default_rng(seed)
    for index in range(number):
        coarse = Image.fromarray(chance.integers(0, 256, (8, 8, 3), dtype=numpy.uint8))
        coarse.resize((size, size), Image.BICUBIC).save(folder / f"{index}.png")


def classes_of_images(folder, classes, number, size):
    for index in range(classes):
        images(folder / f"class-{index}", number, size, seed=index)


def text(file, words, seed=1):
    """Words that follow each other by a rule and by chance."""
    file.parent.mkdir(parents=True, exist_ok=True)
    chance, word, lines = random.Random(seed), 0, []
    for index in range(words):
        word = (word * 7 + 3) % 97 if chance.random() < 0.8 else chance.randrange(97)
        lines.append(f"w{word}" + ("\n" if index % 12 == 11 else " "))
    file.write_text("".join(lines))


def characters(folder, number, seed=1):
    """The files that nanoGPT's data/shakespeare_char/prepare.py makes."""
    chance = numpy.random.default_rng(seed)
    course = numpy.cumsum(chance.integers(1, 4, number)) % 40
    for name in ("train", "val"):
        course.astype(numpy.uint16).tofile(folder / f"{name}.bin")
    letters = [chr(33 + i) for i in range(40)]
    with open(folder / "meta.pkl", "wb") as file:
        pickle.dump({"vocab_size": 40, "itos": dict(enumerate(letters)), "stoi": {c: i for i, c in enumerate(letters)}}, file)


def citations(folder, nodes, words, seed=1):
    """Cora's two files: a line a paper with its words and its class, a line a citation."""
    folder.mkdir(parents=True)
    chance = numpy.random.default_rng(seed)
    lines, cites = [], []
    for node in range(nodes):
        kind = node % 7
        has = (chance.random(words) < numpy.where(numpy.arange(words) % 7 == kind, 0.3, 0.05)).astype(int)
        has[kind] = 1
        lines.append("\t".join([str(node), *map(str, has), f"class{kind}"]))
        cites += [f"{node}\t{(node + 7 * int(chance.integers(1, 40))) % nodes}" for _ in range(2)]
    (folder / "cora.content").write_text("\n".join(lines) + "\n")
    (folder / "cora.cites").write_text("\n".join(dict.fromkeys(cites)) + "\n")


def waves(file, number, length):
    import torch

    phases = numpy.random.default_rng(2).integers(-80, 80, (number, 1))
    torch.save(numpy.sin((numpy.arange(length) + phases) / 20.0), file)
