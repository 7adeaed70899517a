"""What a step consists of: batches of a loader, parts that train or evaluate, updates of optimizers."""

import collections

from dtctl_measure.samples import StepSamples

MOST_AHEAD = 2  # batches that a loop may have read ahead of the one that it trains with


class Batches:
    """Batches of one pass through a DataLoader that were read and not yet taken by an update."""

    def __init__(self):
        self.iterator = None  # a weak reference: what a pass that is gone has read and nobody trained with was dropped
        self.waiting = collections.deque()  # samples of each; None: unknown
        self.trained = collections.deque()  # for each of them: whether the part that began with it trains
        self.read = self.trained_parts = 0
        self.ahead = None  # batches that are read ahead, known with the first update
        self.opening = None  # the mark where the pass was opened
        self.has_ended = self.is_ignored = self.is_evaluation = False

    def is_read(self, samples):
        self.read += 1
        self.waiting.append(samples)
        self.trained.append(False)

    def trains(self):
        """The present part belongs to the training."""
        if self.has_ended:
            self.trained.append(True)  # with a batch that was read ahead
        elif self.trained and not self.trained[-1]:
            self.trained[-1] = True
            self.trained_parts += 1

    def tells_samples(self):
        """Whether the next update takes a batch of this pass."""
        return self.ahead is not None and not self.is_ignored and len(self.waiting) > self.ahead

    def take(self):
        """The samples of the batches that were trained with: batch i by the part that begins with batch i + ahead."""
        if self.trained_parts == 0:
            return []
        if self.ahead is None:
            self.ahead = max(0, self.read - self.trained_parts)
            self.is_ignored = self.is_ignored or self.ahead > MOST_AHEAD
        taken = []
        while not self.is_ignored and self.waiting and len(self.trained) > self.ahead:
            samples, is_trained = self.waiting.popleft(), self.trained[self.ahead]
            self.trained.popleft()
            if is_trained:
                taken.append(samples)
        return taken


class Part:
    """What happened since the last batch was asked for, or since the last update: it belongs to the training or to an evaluation."""

    def __init__(self, begin, batches=None, is_fetch=False):
        self.begin = begin  # index in the marks
        self.batches, self.is_fetch = batches, is_fetch
        self.trains = self.has_backward = self.has_evaluation = False
        self.first_use = self.last_use = None  # indices of the marks where its first evaluation began, and its last one ended

    def shift(self, marks):
        """The first marks are gone."""
        self.begin = max(0, self.begin - marks)
        if self.first_use is not None:
            self.first_use, self.last_use = max(0, self.first_use - marks), max(0, (self.last_use or 0) - marks)


class Step:
    """A step, beside its marks; or what happened since the last update, which the next update makes a part of the step."""

    def __init__(self, is_counted=True):
        self.end = None  # index of the mark after the last update; None: no update yet
        self.updated = set()  # ids of the optimizers that have stepped
        self.samples = StepSamples()
        self.has_backward = self.updates_in_backward = self.has_communication = False
        self.is_by_hand = False  # its gradients were made by no backward pass that is seen
        self.losses, self.losses_of_grad = [], []  # the latter are those of torch.autograd.grad()
        self.loss_of = None  # the id and the class of the optimizer that has stepped by the gradients of these losses
        self.learning_rate = None  # of the optimizer with the most parameters
        self.summed_numbers = self.exchanged_numbers = 0  # that calls of the script have summed over the ranks, and exchanged in any way
        self.buckets = []  # [bytes, ready, done] of the last backward pass
        self.gradients = []  # (bytes, ready) of the same, where the buckets themselves are not seen
        self.looked_at = []  # backward passes with the readiness of each gradient, in some steps
        self.is_counted, self.flops = is_counted, 0  # whether its FLOPs were counted from its begin on

    def add(self, later):
        """What an update, or another optimizer, has made of the same data."""
        losses = later.losses or later.losses_of_grad
        if losses:
            self.losses, self.loss_of = losses, later.loss_of
        self.end = self.end if later.end is None else later.end
        self.updated |= later.updated
        self.samples.add(later.samples)
        self.learning_rate = self.learning_rate if later.learning_rate is None else later.learning_rate
        self.is_counted &= later.is_counted
        self.flops += later.flops
        self.is_by_hand |= later.is_by_hand
        self.buckets = later.buckets or self.buckets
        self.gradients = later.gradients or self.gradients
        self.summed_numbers += later.summed_numbers
        self.has_communication |= later.has_communication
        self.updates_in_backward |= later.updates_in_backward
