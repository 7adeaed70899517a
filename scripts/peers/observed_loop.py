"""One training loop of PyTorch plain, under dtctl's observer, and under both the observer and a stop-watch of its own, in turn in one process.

For scripts/measure observe on processors, and for the section observed of scripts/check-gpu.
"""
import os
import statistics
import time

import torch
from torch.utils.data.dataloader import _BaseDataLoaderIter

from measuring import in_turn, steps_of

IS_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if IS_GPU else "cpu")
TIMED = ("step_s", "input", "forward", "backward", "optimizer")
REPLACED = [(torch.nn.Module, "__call__"), (torch.autograd, "backward"), (torch.utils.data.DataLoader, "__iter__"), (_BaseDataLoaderIter, "__next__"),
            (torch.optim.Optimizer, "zero_grad"), (torch.optim.Optimizer, "__init__"), (torch.optim.SGD, "step")]  # what the observer puts its own for


def synchronize():
    if IS_GPU:
        torch.cuda.synchronize()


class Stopwatch:
    """Marks between the phases, by events of the device or by the host's clock."""

    def __init__(self):
        self.marks = []

    def __call__(self):
        if IS_GPU:
            self.marks.append(torch.cuda.Event(enable_timing=True))
            self.marks[-1].record()
        else:
            self.marks.append(time.perf_counter())

    def steps(self):
        """Of each pass but its first two steps, which have the time between passes. A pass has a mark at its begin, and in each step one
        behind the batch, the loss, the backward pass, the update and its end."""
        between = lambda a, b: a.elapsed_time(b) / 1000 if IS_GPU else b - a
        for i in range(10, len(self.marks) - 5, 5):
            begin, batch, loss, backward, update = self.marks[i:i + 5]
            yield {"step_s": between(self.marks[i - 1], update), "input": between(begin, batch), "forward": between(batch, loss),
                   "backward": between(loss, backward), "optimizer": between(backward, update)}


def train(module, optimizer, loader, precision=torch.float32, stop=lambda: None):
    """One pass over the loader; how many steps it had."""
    stop()
    for number, (images, labels) in enumerate(loader, 1):
        images, labels = images.to(DEVICE, non_blocking=True), labels.to(DEVICE, non_blocking=True)
        stop()
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=precision == torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(module(images), labels)
        stop()
        loss.backward()
        stop()
        optimizer.step()
        stop()
        optimizer.zero_grad(set_to_none=True)
        stop()
    return number


def compare(module, loader, report, rounds, round_s=0, precision=torch.float32):
    """Two things. Milliseconds of a step in each round of {"plain", "observed", "watched"}; a round lasts for round_s, and a pass at least. And
    {phase: (observer's, stop-watch's)} of TIMED: median seconds in the same steps. The observer reports into that new file."""
    report.touch()
    os.environ.update(DTCTL_OBSERVE="1 1", DTCTL_REPORT=str(report))
    sgd = lambda: torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)
    train(module, sgd(), loader, precision)  # torch wraps the class's step in its own way
    plain = [getattr(owner, name) for owner, name in REPLACED]
    import dtctl_observe

    dtctl_observe.watch(torch)
    optimizer = sgd()
    observed = [getattr(owner, name) for owner, name in REPLACED]
    observer, passes, seen, by_hand = dtctl_observe._observer, 1, [], []  # seen: of each step under the observer, whether a stop-watch compares it

    def use(functions):
        for (owner, name), function in zip(REPLACED, functions):
            setattr(owner, name, function)

    def step_ms(functions, is_watched=False):
        use(functions)
        synchronize()
        begin, watches = time.perf_counter(), [Stopwatch() if is_watched else lambda: None for _ in range(passes)]
        counts = [train(module, optimizer, loader, precision, stop) for stop in watches]
        synchronize()
        step_s = (time.perf_counter() - begin) / sum(counts)
        if functions is observed:
            seen.extend(is_watched and number > 1 for count in counts for number in range(count))
        by_hand.extend(step for watch in watches if is_watched for step in watch.steps())
        return 1e3 * step_s

    passes = max(1, round(1e3 * round_s / (step_ms(plain) * len(loader))))
    times = in_turn(rounds, {"plain": lambda: step_ms(plain), "observed": lambda: step_ms(observed), "watched": lambda: step_ms(observed, True)}, warm_up=1)
    use(observed)
    observer.finish()
    use(plain)
    reported = steps_of(report)
    if observer.trouble or len(reported) != len(seen):
        raise RuntimeError(observer.trouble or f"the observer reported {len(reported)} of {len(seen)} steps")
    own = [step for step, is_compared in zip(reported, seen) if is_compared]
    return times, {phase: tuple(statistics.median(step[phase] or 0 for step in steps) for steps in (own, by_hand)) for phase in TIMED}
