"""Observes a PyTorch training from outside: steps, samples, loss, phases and communication of a script that nobody changed.

observe/sitecustomize.py imports this package in a run of dtctl when torch is imported, and calls watch(). It wraps the functions that
every loop goes through, whoever wrote the loop: batches of a DataLoader, the outermost module's call, backward passes, updates of
optimizers, and sums of gradients. docs/design/own-program.md has the rules: what a step is, what counts to which phase, and what
cannot be seen. What cannot be seen is reported as unknown.

An error in here never reaches the script. Where a part of the observer fails, it goes on without that part; where the steps
themselves can no longer be told, it stops. Either is a caveat of the run.
"""

from .observer import Observer
from .wrapping import wrap_all

_observer = None


def watch(torch):
    """Begins to observe. torch was imported just now."""
    global _observer
    _observer = Observer(torch)
    wrap_all(_observer, torch)


def takes_evaluation(accuracy, loss, samples):
    """dtctl_report.evaluation() of a script that reports nothing else. False: the script reports its steps by itself."""
    return _observer is not None and _observer.take_evaluation(accuracy, loss, samples)
