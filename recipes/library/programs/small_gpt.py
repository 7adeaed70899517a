"""Trains a small character-level transformer of the GPT kind (0.8 million parameters) under the recipe's strategy.

program.parameters.text is a file of text to learn, which must be named in program.files too; without it the program makes a text of
simple sentences. The accuracy is the share of characters of the held-out text that the network finds most probable at their places.
"""
import json
import os
import pathlib
import random

import torch
from torch import nn

import torch_train

CONTEXT, WIDTH, HEADS, LAYERS = 64, 128, 4, 4
MADE_SENTENCES = 6000
HELD_OUT = 0.05  # share of the text, its end


def make_text():
    """Sentences that a network must learn by letters, words, the agreement of subject and verb, and small sums."""
    pick = random.Random(1).choice
    nouns, adjectives = "cat dog bird horse child farmer sailor teacher".split(), "old young small quiet happy hungry".split()
    verbs, places = "see hear follow help find meet".split(), "in the garden,at the river,near the house,under the tree".split(",")

    def sentence():
        if pick(range(4)) == 0:
            a, b = pick(range(50)), pick(range(50))
            return f"{a} and {b} make {a + b}."
        subject, is_one = pick(nouns), pick([True, False])
        verb = pick(verbs) + ("s" if is_one else "")
        return f"the {pick(adjectives)} {subject}{'' if is_one else 's'} {verb} the {pick(nouns)} {pick(places)}."

    return " ".join(sentence() for _ in range(MADE_SENTENCES))


class Text:
    """Windows of CONTEXT characters; the labels are the characters that follow each of them."""

    def __init__(self, codes):
        self.codes, self.reach = codes, torch.arange(CONTEXT + 1)

    def __len__(self):
        return (len(self.codes) - 1) // CONTEXT

    def to(self, device):
        self.codes, self.reach = self.codes.to(device), self.reach.to(device)
        return self

    def batch(self, indices):
        begins = torch.as_tensor(indices, device=self.codes.device) * CONTEXT
        windows = self.codes[begins.unsqueeze(1) + self.reach]
        return windows[:, :-1], windows[:, 1:]


def read_text(_data, _seed):
    path = json.loads(pathlib.Path(os.environ["DTCTL_SPEC"]).read_text())["program"]["parameters"].get("text")
    text = pathlib.Path(path).read_text() if path else make_text()
    letters = sorted(set(text))
    codes = torch.tensor([letters.index(letter) for letter in text])
    cut = int(len(codes) * (1 - HELD_OUT))
    if len(codes) - cut <= CONTEXT:
        needed = int(CONTEXT / HELD_OUT) + 2
        raise torch_train.Refused(f"program.parameters.text: {path} has {len(codes)} characters, but at least {needed} are needed")
    return Text(codes[:cut]), Text(codes[cut:]), len(letters)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.register_buffer("is_later", torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).triu(1), persistent=False)

    def attend(self, x):
        q, k, v = (each.unflatten(2, (HEADS, -1)).transpose(1, 2) for each in self.qkv(x).chunk(3, dim=2))
        scores = (q @ k.transpose(2, 3) * k.shape[3] ** -0.5).masked_fill(self.is_later, float("-inf"))
        return self.out((scores.softmax(3) @ v).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    """Gives the logits as samples x characters x places."""

    def __init__(self, letters):
        super().__init__()
        self.letters, self.places = nn.Embedding(letters, WIDTH), nn.Parameter(torch.zeros(CONTEXT, WIDTH))
        self.blocks, self.norm = nn.Sequential(*[Block() for _ in range(LAYERS)]), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, letters, bias=False)
        self.head.weight = self.letters.weight
        nn.init.normal_(self.letters.weight, std=0.02)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.letters(x) + self.places))).transpose(1, 2)


if __name__ == "__main__":
    torch_train.run(lambda recipe: torch_train.train(recipe, read_text, lambda _recipe, _data, letters: Gpt(letters)),
                    implemented={"model.name": [""], "data.name": [""]})
