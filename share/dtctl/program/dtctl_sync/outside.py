"""Optimizers that step outside of the training: their weights would drift apart from rank to rank."""

import functools

import torch

from .library import SyncError

_ours = set()  # ids of the optimizers of trainings
_is_watching = False


def watch(optimizers, ranks):
    """From now on every other optimizer is refused where there are several ranks."""
    global _is_watching
    _ours.update(map(id, optimizers))
    if ranks == 1 or _is_watching:
        return
    _is_watching = True
    begin = torch.optim.Optimizer.__init__

    @functools.wraps(begin)
    def initialise(self, *arguments, **options):
        begin(self, *arguments, **options)
        _watch_class(type(self))

    torch.optim.Optimizer.__init__ = initialise
    waiting = [torch.optim.Optimizer]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        _watch_class(kind)


def _watch_class(kind):
    owner = next((c for c in kind.__mro__ if "step" in vars(c)), None)
    if owner is None or owner is torch.optim.Optimizer or hasattr(vars(owner)["step"], "is_watched_by_dtctl_sync"):
        return
    inner = vars(owner)["step"]

    @functools.wraps(inner)
    def step(self, *arguments, **options):
        if id(self) not in _ours:
            numbers = sum(p.numel() for group in self.param_groups for p in group["params"])
            raise SyncError(f"an optimizer that prepare() was not given makes a step, and its {numbers} numbers would drift apart from rank to rank: "
                            "give prepare() all models and optimizers, for example prepare([generator, critic], [optimizer_g, optimizer_c])")
        return inner(self, *arguments, **options)

    step.is_watched_by_dtctl_sync = True
    owner.step = step
