"""Whether the workers compute what a strategy takes for granted: different batches, equal rates, and equal weights where it keeps them
equal. They compare a few numbers in some steps."""

import zlib

import torch

from .loaders import digest_of

FIRST_STEPS = 3  # whose inputs are compared
EVERY = 1000
TOLERANCE = 1e-5  # of the largest weight: processors of different kinds round differently


def is_compared_after(step):
    while step >= 10 and step % 10 == 0 and step < EVERY:
        step //= 10
    return step in (1, FIRST_STEPS) or step % EVERY == 0


def _hash_of(weights):
    """Exact and without regard to the order of the sum; as a float64."""
    width = {4: torch.int32, 2: torch.int16}[weights.element_size()]
    return float(int(weights.view(width).sum(dtype=torch.int64)) % (1 << 52))


class Comparison:
    """keeps_equal: whether the strategy gives all workers the same weights."""

    def __init__(self, ranks, weights, keeps_equal, mean_of):
        self.ranks, self.weights, self.keeps_equal, self.mean_of = ranks, weights, keeps_equal, mean_of
        self.step_inputs, self.losses, self.inputs = 0, [], []
        self.may_be_copies = True  # the batches do not come from a loader that this module has divided
        self.is_active = ranks.workers > 1

    def note_input(self, arguments):
        """The model is called with these in a step."""
        if self.is_active and len(self.inputs) < FIRST_STEPS:
            self.step_inputs = zlib.crc32(repr(digest_of(arguments)).encode(), self.step_inputs)

    def ends_step(self, step, loss, rates):
        """step: of this training, made since this process began. loss: of this rank; None: not known."""
        if not self.is_active:
            return
        if len(self.inputs) < FIRST_STEPS:
            self.inputs.append(float(self.step_inputs))
            self.losses.append(float("nan") if loss is None else float(loss))
            self.step_inputs = 0
            if len(self.inputs) == FIRST_STEPS:
                self._look_for_copies()
        if is_compared_after(step):
            self.compare(step, rates)

    def _look_for_copies(self):
        own = [float(self.may_be_copies), *self.inputs, *self.losses]
        found = self.ranks.of_workers(own)
        equal_inputs = all(each[1:1 + FIRST_STEPS] == found[0][1:1 + FIRST_STEPS] for each in found)
        losses = [each[1 + FIRST_STEPS:] for each in found]
        equal_losses = all(each == losses[0] for each in losses) and len(set(losses[0])) > 1
        is_seen = min(min(each[1:1 + FIRST_STEPS]) for each in found) > 0
        if all(each[0] for each in found) and (equal_inputs if is_seen else equal_losses):
            self.ranks.warn("copies", "inputs", f"every rank trains with the same batches, so {self.ranks.workers} workers compute what one would: give each "
                            "its part (`for batch in sync.batches(loader)`), or draw batches with a seed by rank")

    def compare(self, step, rates):
        """Between two steps. Collective."""
        if not self.is_active:
            return
        found = self.ranks.of_workers([_hash_of(self.weights) if self.keeps_equal else 0.0, *rates])
        other = next((i for i, each in enumerate(found) if each[1:] != found[0][1:]), None)
        if other is not None:
            ours, theirs = next((a, b) for a, b in zip(found[0][1:], found[other][1:]) if a != b)
            self.ranks.warn("replicas", "rates", f"after step {step} the learning rate of worker 0 is {ours:g}, and that of worker {other} is {theirs:g}: "
                            "what sets it must be equal on all ranks, for example training.mean(loss)[0] in place of a rank's own loss")
        if any(each[0] != found[0][0] for each in found):
            self._measure_distance(step)

    def _measure_distance(self, step):
        own = self.weights.detach().float().cpu()
        distance = float((self.mean_of(own.clone()) - own).abs().max())
        apart = max(each[0] for each in self.ranks.of_workers([distance / max(1e-30, float(own.abs().max()))]))
        if apart > TOLERANCE:
            self.ranks.warn("replicas", "weights", f"after step {step} the workers' weights are {100 * apart:.2g} % of the largest weight apart, but the "
                            "strategy keeps them equal: something else changes weights, gradients or learning rates on one rank")
