"""Optimizers that step outside of the training: their weights would drift apart from rank to rank."""

import functools

import torch

from dtctl_measure.hooks import watch_steps

from .library import SyncError

_ours = set()  # ids of the optimizers of trainings
_is_watching = False


def watch(optimizers, ranks):
    """From now on every other optimizer is refused where there are several ranks."""
    global _is_watching
    _ours.update(map(id, optimizers))
    if ranks > 1 and not _is_watching:
        _is_watching = True
        watch_steps(torch, _refusing, of_earlier=True)


def _refusing(inner):
    @functools.wraps(inner)
    def step(self, *arguments, **options):
        if id(self) not in _ours:
            numbers = sum(p.numel() for group in self.param_groups for p in group["params"])
            raise SyncError(f"an optimizer that prepare() was not given makes a step, and its {numbers} numbers would drift apart from rank to rank: "
                            "give prepare() all models and optimizers, for example prepare([generator, critic], [optimizer_g, optimizer_c])")
        return inner(self, *arguments, **options)

    return step
