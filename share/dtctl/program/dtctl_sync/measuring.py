"""What the report has of this rank's steps: phases, samples, losses, FLOPs, the readiness of gradients, the timeline."""

import contextlib
import ctypes
import functools
import typing

import torch

import dtctl_report
from dtctl_measure.flops import StepFlops
from dtctl_measure.gradients import GradientTimes
from dtctl_measure.marks import OTHER, Clock
from dtctl_measure.samples import Calls

from .library import Times, call
from .structure import refuse_wrapped
from .times import StepTimes


class _Exchange(typing.NamedTuple):
    """What the report of a step needs of a step of the strategy."""

    number: int
    times: StepTimes
    waits: Times  # what the strategy has timed
    mean_loss: float  # over the workers; NaN: the strategy does not know it
    learning_rate: float
    epoch: float

    def loss(self):
        losses = self.times.losses
        return self.mean_loss if self.mean_loss == self.mean_loss or not losses else sum(map(float, losses))


class Measurement:
    def __init__(self, training, device, is_traced):
        self._handle, self._is_traced = training._handle, is_traced
        self._models, self._optimizers = training._models, training._optimizers
        self._clock = Clock(torch)
        self._clock.device = device if device.type == "cuda" else None
        self.times = StepTimes(self._clock)  # of the present step of the strategy
        self._calls = Calls(torch)
        is_reported = dtctl_report.is_active()
        self._gradient_times = GradientTimes(torch, self._clock) if is_reported else None
        self._flops = StepFlops(torch) if is_reported and training.rank == 0 and training.worker >= 0 else None
        self._exchanges = []  # of the step that is not reported yet: one, or one of each of several optimizers
        self._pending = []  # steps whose times are not known yet, and their backward passes if gradients were looked at
        for optimizer in self._optimizers:
            self._time_clearing(optimizer)

    def _time_clearing(self, optimizer):
        clear = optimizer.zero_grad

        @functools.wraps(clear)
        def zero_grad(*arguments, **options):
            return self.times.clears_gradients(lambda: clear(*arguments, **options))

        optimizer.zero_grad = zero_grad

    def calls_model(self, model, arguments, options):
        """Returns the context of the call."""
        self.times.calls_model(model, None if self.times.samples.batches else self._calls.count(model, arguments, options))
        return (self._flops and self._flops.counting(model)) or contextlib.nullcontext()

    def begins_backward(self, tensors):
        mark = self.times.begins_backward()
        if self._flops:
            self._flops.begins_backward(tensors)
        if self._gradient_times:
            self._gradient_times.begins_backward(mark)

    def ends_backward(self):
        mark = self.times.ends_backward()
        if self._gradient_times:
            self._gradient_times.ends_backward(mark)

    def ends_exchange(self, number, mean_loss, rate, epoch):
        """The strategy has made its step."""
        waits, times = Times(), self.times
        call("get_times", self._handle, ctypes.byref(waits))
        times.force_mark(OTHER)
        self._exchanges.append(_Exchange(number, times, waits, mean_loss, rate, epoch))
        self.times = StepTimes(self._clock)

    def ends_step(self):
        """What was noted since the last one is a step."""
        if not self._exchanges:
            return
        exchanges, self._exchanges = self._exchanges, []
        if self._flops and self._flops.ends_step():
            self._flops.has_counted(self._flops.counter.take(), exchanges[0].times.samples.number())
        passes = self._gradient_times.begins_step(self._optimizers, self._models) if self._gradient_times else []
        self._pending.append((exchanges, passes))
        self.write(most=2)

    def write(self, most=0):
        """Writes the reports of the steps whose times are known by now, and of all but `most`: the host is never more steps ahead of a GPU."""
        while self._pending:
            exchanges, passes = self._pending[0]
            last = exchanges[-1]
            if len(self._pending) <= most and not last.times.marks[-1].is_passed():
                return
            last.times.marks[-1].wait()
            self._pending.pop(0)
            if dtctl_report.is_active():
                self._write_step(exchanges, last, passes)
            for each in exchanges:
                self._clock.take_back(each.times.marks)

    def _write_step(self, exchanges, last, passes):
        phases = [each.times.phases(each.waits) for each in exchanges]
        for each in exchanges if self._is_traced else ():
            for name, begin, end in each.times.spans():
                call("span", self._handle, name.encode(), each.number, begin, end)
        dtctl_report.step(loss=sum(each.loss() for each in exchanges), samples=exchanges[0].times.samples.number(),
                          learning_rate=last.learning_rate, epoch=last.epoch, at=self._clock.seconds_of(last.times.marks[-1]),
                          phases={name: sum(each[name] for each in phases) for name in phases[0]})
        self._gradient_times.read(passes)

    def finish(self, parameters):
        if self._gradient_times:
            self._gradient_times.write(dtctl_report.script)
        if self._flops:
            self._flops.write(dtctl_report.script)
        dtctl_report.result(parameters=parameters)


# ---- calls of models --------------------------------------------------------------------------------------------------------------

_roots = {}  # id of a model -> its training
_is_observed = False


def observe_calls(models, training):
    """The training hears of the calls of its models. A hook of the model would be copied with it."""
    global _is_observed
    _roots.update((id(model), training) for model in models)
    if _is_observed:
        return
    _is_observed = True
    inner = torch.nn.Module.__call__

    @functools.wraps(inner)
    def observed(self, *arguments, **options):
        training = _roots.get(id(self))
        if training is None or training.is_deaf() or not torch.is_grad_enabled():
            return inner(self, *arguments, **options)
        with training.calls_model(self, arguments, options):
            return inner(self, *arguments, **options)

    torch.nn.Module.__call__ = observed
    Parallel = torch.nn.parallel.DistributedDataParallel
    begin = Parallel.__init__

    @functools.wraps(begin)
    def begin_unless_trained(self, module, *arguments, **options):
        if any(id(part) in _roots for part in module.modules()):
            refuse_wrapped([self])
        begin(self, module, *arguments, **options)

    Parallel.__init__ = begin_unless_trained


def forget_calls(models):
    for model in models:
        _roots.pop(id(model), None)
