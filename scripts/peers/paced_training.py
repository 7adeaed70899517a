"""An ordinary PyTorch training on a slower processor that is modelled by sleeping, for scripts/measure program-simulation.

    paced_training.py MODEL PACE_S STEPS ddp|sync

PACE_S: seconds of a step that the processes sleep: a third in the forward pass, in equal parts before each module with parameters, and
the rest in the backward pass, in equal parts before each gradient is ready. Many ranks then share a core without disturbing each other.
ddp: DistributedDataParallel over Gloo, nothing of dtctl. sync: dtctl_sync with the block `sync` of the recipe.
"""
import os
import sys
import time

import torch
from torch import nn

import networks

BATCH, CONTEXT, WIDTH = 2, 64, 128


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(64, WIDTH), nn.Parameter(torch.zeros(CONTEXT, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.blocks, self.head = nn.TransformerEncoder(layer, 4), nn.Linear(WIDTH, 64)

    def forward(self, x):
        return self.head(self.blocks(self.letters(x) + self.places)).transpose(1, 2)


def pace(model, pace_s):
    modules = [m for m in model.modules() if list(m.parameters(recurse=False))]
    parameters = list(model.parameters())
    for module in modules:
        module.register_forward_pre_hook(lambda *_: time.sleep(pace_s / 3 / len(modules)))
    for parameter in parameters:
        parameter.register_hook(lambda _: time.sleep(2 * pace_s / 3 / len(parameters)))


def main():
    name, pace_s, steps, mode = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = Gpt() if name == "gpt" else networks.build(name)
    shape = (CONTEXT,) if name == "gpt" else networks.MODELS[name][1]
    samples = BATCH * steps * (int(os.environ["WORLD_SIZE"]) if mode == "sync" else 1)  # dtctl_sync divides them among the ranks
    inputs = torch.randint(0, 64, (samples, *shape)) if name == "gpt" else torch.randn(samples, *shape)
    labels = torch.randint(0, 64, (samples, *shape)) if name == "gpt" else torch.randint(0, 10, (samples,))
    pace(model, pace_s)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, labels), batch_size=BATCH)
    if mode == "ddp" and os.environ["WORLD_SIZE"] != "1":
        torch.distributed.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    if mode == "sync":
        import dtctl_sync

        model, optimizer = dtctl_sync.prepare(model, optimizer)
        loader = dtctl_sync.batches(loader)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


main()
