"""Training: one process's part of a training, with closures."""

import atexit
import contextlib
import ctypes
import itertools
import os
import sys
import threading

import torch

import dtctl_report

from . import library
from .comparing import Comparison
from .library import SyncError, call, size
from .loaders import Part
from .measuring import forget_calls, observe_calls
from .replica import Replica
from .waiting import ENDS, ServerEnds

KEPT_LOADERS = 16


class Training(Replica):
    """One process's part of a training.

    settings: keys of the recipe's block `sync` (strategy, period, allreduce, …), or of another block with its name
    ("train.warmup_steps"). In a run of dtctl whose recipe has that block, the recipe's values count instead.

    All processes must build the same model, and call step() equally often. strict types: all trained parameters are float32, or
    all float16 or bfloat16 where the strategy only sums gradients.
    """

    def __init__(self, model, optimizer, **settings):
        super().__init__(model, optimizer, settings)
        self.epoch = 0.0
        self._first_step = 0
        self._is_evaluating = self._has_begun = self._has_ended = self._is_broken = False
        self._parts, self._streams = {}, {}  # by the loader's id: this worker's part of it, and batches that go over epochs
        keeps = ctypes.c_int()
        call("keeps_equal", self._handle, ctypes.byref(keeps))
        self._comparison = Comparison(self._meeting, self._packed.weights, bool(keeps.value), self._mean_of)
        if self.worker >= 0:
            observe_calls(self._models, self)
        atexit.register(_end, self)

    def is_deaf(self):
        """Whether a call of a model is none of this training's steps."""
        return self._is_evaluating or threading.get_ident() != self._thread

    def calls_model(self, model, arguments, options):
        """A model is called from outside of it, or by another one. Returns the context of the call."""
        self._comparison.note_input([arguments, options])
        return self._measured.calls_model(model, arguments, options)

    # -- a step --

    def step(self, closure, samples=None, before_update=None, scaler=None):
        """One step: closure() makes the forward pass and returns the loss; the backward pass, the exchange and the update follow.

        A list of closures accumulates the gradients of their losses, each divided by their number. samples: of this step, where
        batches() does not count them. before_update(): called when the gradients are complete, for example to clip them. scaler:
        a torch.cuda.amp.GradScaler. Returns the (mean) loss of this rank, detached. Not to be called on a parameter server.
        """
        self._require_worker()
        if len(self._optimizers) > 1:
            raise SyncError("training.step() goes with one optimizer; several train in an ordinary loop, with prepare()")
        closures = list(closure) if isinstance(closure, (list, tuple)) else [closure]
        times = self._measured.times
        if samples is not None:
            times.samples.batches = [samples]

        def compute():
            self._packed.drop_gradients()
            for number, each in enumerate(closures, 1):
                self._collects = number == len(closures)
                loss = each() / len(closures) if len(closures) > 1 else each()
                self._measured.begins_backward(loss)
                times.losses.append(loss.detach())
                (scaler.scale(loss) if scaler else loss).backward()
                if not self._collects:
                    times.begins_pass()

        def update():
            if scaler:
                scaler.unscale_(self._optimizers[0])
            if before_update:
                before_update()
            if scaler:
                scaler.step(self._optimizers[0])
                scaler.update()
            else:
                self._own_update(self._optimizers[0])

        self._compute, self._update = compute, update
        times.opens()
        self._make_step()
        return times.losses[0] if len(times.losses) == 1 else torch.stack(times.losses).sum()

    def _own_update(self, optimizer):
        self._updates[id(optimizer)]()

    def _require_worker(self):
        if self.worker < 0:
            raise SyncError(f"rank {self.rank} is a parameter server, which has no batches: its loop over batches() makes its steps, so go over "
                            "`sync.batches(loader)` in place of the loader, and train nowhere else")

    def _rates(self):
        return [float(optimizer.param_groups[0]["lr"]) for optimizer in self._optimizers]

    def _make_step(self, optimizer=None):
        self._begin_report()
        self._error = None
        loss = ctypes.c_double()
        rate = float((optimizer or self._optimizers[0]).param_groups[0]["lr"])
        self._wait.begin(self.step_number + 1)
        try:
            call("step", self._handle, rate, self.epoch, ctypes.byref(loss))
        except SyncError as failure:
            self._break()
            raise (self._error or failure) from None
        finally:
            self._wait.end()
        self.step_number += 1
        self.mean_loss = loss.value
        losses = self._measured.times.losses
        if self.worker >= 0:
            self._measured.ends_exchange(self.step_number, self.mean_loss, rate, self.epoch)
            if len(self._optimizers) == 1:
                self._end_step()
        self._wait.begin(self.step_number)
        made = self.step_number - self._first_step
        # Only in the first steps: to read a loss makes the host wait for a GPU.
        self._comparison.ends_step(made, sum(map(float, losses)) if losses and made <= 3 else None, self._rates())
        self._wait.end()

    def _end_step(self):
        """What was noted since the last one is a step."""
        self._measured.ends_step()

    # -- batches --

    def batches(self, loader, steps=None, mine=None):
        """The batches of this rank for one epoch, each of the loader's size; the wait for them counts as input. All ranks must call it.

        A loader over a data set with a length is read with a sampler for this worker; of another one the worker takes every
        `workers`-th batch. mine: the loader has this worker's part of the data already (True), or the same as those of the other
        workers (False); without it the loaders are compared where it is not clear. On a parameter server it yields nothing and makes the
        server's steps. steps: exactly so many batches instead, the same number on every rank; the next call with `steps` goes on
        there, and behind the last batch of an epoch comes the next epoch. In evaluation() the batches are not trained with: they are
        this worker's part for an evaluation.
        """
        self._begin_report()
        if self.worker < 0 and not self._is_evaluating:
            self._leave_with_workers()
        part = self._part_of(loader, mine, steps is not None)
        if self._is_evaluating:
            batches = part.epoch(int(self.epoch))
            yield from () if self.worker < 0 else (batch for batch, _ in batches)
            return
        if steps is None:
            stream = self._epoch_of(part)
            self._board.passes(f"begins an epoch of {'unknown' if part.length is None else part.length} steps", self.step_number)
        else:
            stream = itertools.islice(self._streams.setdefault(id(loader), self._epochs_of(part)), steps)
            self._board.passes(f"begins {steps} steps", self.step_number)
        self._comparison.may_be_copies = part.may_be_copies()
        if self.worker < 0:
            for _ in stream:
                self._make_step()
            return
        while True:
            self._end_step()
            self._measured.times.asks_for_batch()
            batch, samples = next(stream, (stream, None))
            if batch is stream:
                self._measured.times.has_no_batch()
                return
            self._measured.times.has_batch(samples)
            yield batch

    def _leave_with_workers(self):
        """Ends the script of a server in a loop that only the workers leave, after so many steps that they count."""
        with self._waits():
            have_ended = self._board.awaits_end()
        if have_ended:
            print(f"dtctl_sync: rank {self.rank} is a parameter server, and ends with its workers", file=sys.stderr, flush=True)
            raise ServerEnds(0)

    def _epoch_of(self, part):
        """The batches of one epoch. Sets `epoch` before each batch and behind the last one."""
        epoch, length, number = int(self.epoch), part.length, -1
        for number, batch in enumerate(part.epoch(epoch)):
            if length:
                self.epoch = epoch + number / length
            yield batch if self.worker >= 0 else number
        if number < 0:
            raise SyncError(f"the loader has no batch for worker {self.worker} of {self.workers}")
        self.epoch = float(epoch + 1)

    def _epochs_of(self, part):
        while True:
            yield from self._epoch_of(part)

    def _part_of(self, loader, mine, has_steps):
        key = (id(loader), self._is_evaluating, has_steps)
        known = self._parts.get(key)
        if known is None or known[0] is not loader:
            while len(self._parts) >= KEPT_LOADERS:
                oldest = next(iter(self._parts))
                del self._parts[oldest]
                self._streams.pop(oldest[0], None)
            with self._meets("divides a loader"):
                self._parts[key] = (loader, Part(loader, self._meeting, self._seed, mine, self._is_evaluating, has_steps))
        return self._parts[key][1]

    def _begin_report(self):
        if not self._has_begun:
            dtctl_report.begin(self.step_number)
        self._has_begun = True

    # -- around the steps --

    @contextlib.contextmanager
    def _meets(self, what):
        """All ranks do this between two steps."""
        self._require_between_steps(what)
        self._end_step()
        self._board.passes(what, self.step_number)
        with self._waits():
            yield

    @contextlib.contextmanager
    def _waits(self):
        self._wait.begin(self.step_number)
        try:
            yield
        finally:
            self._wait.end()

    def _require_between_steps(self, what):
        pass

    @contextlib.contextmanager
    def no_sync(self):
        """Backward passes in this block only add to the gradients: for accumulation in an ordinary loop (see prepare())."""
        self._collects = False
        try:
            yield
        finally:
            self._collects = True

    @contextlib.contextmanager
    def evaluation(self):
        """In this block the model has the weights that evaluations use, the centre or the mean of the workers, and the mean of the
        workers' buffers. All ranks must enter it, between two steps."""
        packed = self._packed
        with self._meets("enters evaluation()"):
            host = torch.empty(packed.host_weights.numel())
            call("evaluated", self._handle, host.data_ptr())
            buffers = [b for b in self._structure.buffers() if b.is_floating_point()]
            kept = [b.clone() for b in [packed.weights, *buffers]]
            packed.weights.copy_(host)
            for buffer in buffers:
                self._share(buffer, "mean")
        was_training, self._is_evaluating = [model.training for model in self._models], True
        for model in self._models:
            model.eval()
        try:
            with torch.no_grad():
                yield self.model
        finally:
            self._is_evaluating = False
            for model, was in zip(self._models, was_training):
                model.train(was)
            for values, before in zip([packed.weights, *buffers], kept):
                values.copy_(before)

    def mean(self, *numbers):
        """The mean over the workers of each number, in float32: of the sums that every worker has of its part of an evaluation. All ranks
        must call it; the numbers of a parameter server do not count."""
        values = torch.tensor(numbers, dtype=torch.float32)
        with self._meets("calls mean()"):
            self._share(values, "mean")
        return values.tolist()

    def report_evaluation(self, accuracy, loss=None, samples=None):
        """Tells dtctl the accuracy (0 to 1) on the held-out set, if this is a run of dtctl."""
        self._end_step()
        self._measured.write()
        dtctl_report.evaluation(accuracy=accuracy, loss=loss, samples=samples)

    def state_dict(self):
        """The strategy's own state, for a checkpoint. Store it with those of model and optimizer, on every rank."""
        return {"step": self.step_number, "epoch": self.epoch, "buffers": {name: values.clone() for name, values in self._states()}}

    def load_state_dict(self, state):
        """Goes on after the step of a checkpoint; load model and optimizer before."""
        own, stored = self._states(), state["buffers"]
        if {name: values.shape for name, values in own} != {name: values.shape for name, values in stored.items()}:
            raise SyncError(f"the state is of another training: it has {', '.join(stored) or 'no buffers'}, and {self.setting('sync.strategy')} "
                            f"has {', '.join(name for name, _ in own) or 'none'} here; take the same model, strategy and number of ranks")
        for name, values in own:
            values.copy_(stored[name])
        self.step_number, self.epoch = state["step"], state["epoch"]
        self._first_step = self.step_number
        call("resume", self._handle, self.step_number)

    def _states(self):
        found = []
        while True:
            name, values, count = ctypes.c_char_p(), ctypes.c_void_p(), size()
            call("state", self._handle, len(found), ctypes.byref(name), ctypes.byref(values), ctypes.byref(count))
            if not values.value:
                return found
            memory = (ctypes.c_float * count.value).from_address(values.value)
            found.append((name.value.decode(), torch.frombuffer(memory, dtype=torch.float32)))

    def finish(self):
        """The training has reached its end. All ranks call it; leaving a `with` block without an exception does."""
        self._require_between_steps("ends its training")
        self._end_step()
        self._measured.write()
        self._tell_end()
        with self._waits():
            self._comparison.compare(self.step_number, self._rates())
            call("finish", self._handle)
        self._measured.finish(sum(p.numel() for p in self._packed.parameters))

    def close(self):
        if self._handle and os.getpid() == self._pid:
            forget_calls(self._models)
            self._vectors.close()
            call("close", self._handle)
        self._handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None or kind is ServerEnds:
            self.finish()
            self.close()
        else:
            if kind is SystemExit:  # the launcher takes exit code 0 for success
                self._tell_end()
            self._break()
        return False

    def _tell_end(self):
        if not self._has_ended:
            self._has_ended = True
            self._board.passes(ENDS, self.step_number)

    def _end_of_process(self):
        self._tell_end()
        self.close()

    def _break(self):
        self._is_broken = True
        library.note_failure()


def _end(training):
    """At the end of the process. After an exception MPI is left as it is: the launcher then ends the other ranks."""
    if os.getpid() != training._pid or not training._handle or library.has_failed() or training._is_broken:
        return
    try:
        training._end_of_process()
    except Exception as error:
        training._wait.end_all(str(error))  # an exception here would not change the exit code
