"""Trains PyTorch models under dtctl's strategies: on several processes, on CPUs or GPUs.

Two lines for an ordinary loop:

    import dtctl_sync as sync
    model, optimizer = sync.prepare(model, optimizer)        # strategy and its settings: from the recipe, or as arguments
    for images, labels in sync.batches(loader):              # each process its part
        optimizer.zero_grad(); loss = loss_of(model(images), labels); loss.backward(); optimizer.step()

or with full control:

    with sync.Training(model, optimizer, strategy="decentralized-easgd", period=4) as training:
        for images, labels in training.batches(loader):
            loss = training.step(lambda: loss_of(model(images), labels))

The optimizer is the update rule of the workers. Start the script with dtctl (a recipe with `program` and `sync`), mpirun or srun;
without them it runs as one process. In a run of dtctl the module reports steps, phases and what the strategy did.
"""

from .library import SyncError
from .ordinary import batches, no_sync, prepare, training
from .training import Training

__all__ = ["SyncError", "Training", "batches", "no_sync", "prepare", "training"]

SyncError.__module__ = __name__  # in tracebacks
