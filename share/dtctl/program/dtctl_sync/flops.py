"""The floating-point operations of a sample, counted in one early step on rank 0, as the observer of other programs does."""

import contextlib
import math

import torch

import dtctl_flops
import dtctl_report

COUNTED_STEP = 3


class CountedStep:
    def __init__(self, models, is_wanted):
        self.models, self.counter = models, dtctl_flops.Counter(torch) if is_wanted else None
        self.of_sample, self._is_counting, self._steps = None, False, 0

    def begins_step(self):
        """The step after those that were made so far begins."""
        self._steps += 1
        self._is_counting = (self.counter is not None and self._steps == COUNTED_STEP and self.counter.mode is not None
                             and all(self.counter.can_look_into(model) for model in self.models))

    def mode(self):
        """The context in which a call of a model is counted."""
        return self.counter.mode if self._is_counting and not self.counter.why else contextlib.nullcontext()

    def begins_backward(self, loss):
        if self._is_counting and not self.counter.why and loss is not None:
            self.counter.look_at_graph(loss)

    def ends_step(self, samples):
        if not self._is_counting:
            return
        self._is_counting = False
        operations = self.counter.take()
        self.counter.end()
        if operations > 0 and samples:
            self.of_sample = operations / samples

    def report(self):
        if self.counter is None:
            return
        counter, rate, name, figure = self.counter, None, "-", dtctl_report._figure
        why = counter.why or ("" if self.of_sample else "no step was counted whole, or its samples are not known")
        device, precision = counter.device(), counter.precision()
        try:
            if device is not None:
                name = dtctl_flops.name_of(device, torch)
                rate = None if why else dtctl_flops.rate_of_products(device, precision, torch)
        except Exception:  # no memory is left on the device, for example
            rate = None
        rate = None if rate is None or math.isnan(rate) else rate
        dtctl_report._write("choice", f"FLOPs of a sample\t{'not known: ' + why if why else 'counted in one step: ' + counter.words()}")
        dtctl_report._write("flops", figure(None if why else self.of_sample), precision or "-", figure(rate), name)
