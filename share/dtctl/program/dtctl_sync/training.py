"""Training: one process's part of a training, with closures."""

import atexit
import contextlib
import ctypes
import functools
import itertools
import os
import sys
import threading
import time
import typing

import torch

import dtctl_gradients
import dtctl_report
import dtctl_samples

from . import library
from .comparing import Comparison
from .flops import CountedStep
from .library import Callbacks, Place, SyncError, Times, call, size, words
from .loaders import Part
from .meeting import Meeting
from .packed import GRADIENTS, CopiesToHost, Packed, Vectors
from .structure import Structure, several
from .times import DeviceTimes, HostTimes, StepTimes
from .waiting import ENDS, Board, ServerEnds, Wait

KEPT_LOADERS = 16


class _Exchange(typing.NamedTuple):
    """What the report of a step needs of a step of the strategy."""

    number: int
    times: StepTimes
    waits: Times  # what the strategy has timed
    mean_loss: float  # over the workers; NaN: the strategy does not know it
    learning_rate: float
    epoch: float
    ended: float  # time.monotonic()

    def loss(self):
        losses = self.times.losses
        return self.mean_loss if self.mean_loss == self.mean_loss or not losses else sum(map(float, losses))


class Training:
    """One process's part of a training.

    settings: keys of the recipe's block `sync` (strategy, period, allreduce, …), or of another block with its name
    ("train.warmup_steps"). In a run of dtctl whose recipe has that block, the recipe's values count instead.

    All processes must build the same model, and call step() equally often. strict types: all trained parameters are float32, or
    all float16 or bfloat16 where the strategy only sums gradients.
    """

    def __init__(self, model, optimizer, **settings):
        self.model, self.optimizer = model, optimizer
        self._models, self._optimizers = several(model), several(optimizer)
        self._handle = ctypes.c_void_p()
        self._thread, self._pid = threading.get_ident(), os.getpid()
        library.begin_mpi()
        dtctl_samples.watch_draws(torch)
        call("open", " ".join([*self._rule_words(), *words(settings)]).encode(), ctypes.byref(self._handle))
        place = Place()
        call("get_place", self._handle, ctypes.byref(place))
        self.rank, self.ranks, self.local_rank = place.rank, place.ranks, place.local_rank
        self.worker, self.workers = place.worker, place.workers
        self.step_number, self.epoch = 0, 0.0
        self._first_step = 0
        self._updates = {id(optimizer): optimizer.step for optimizer in self._optimizers}  # their own step()
        self._collects = True  # gradients of the next backward pass are final
        self._is_evaluating = False
        self._error = None
        self._exchanges = []  # of the step that is not reported yet: one, or one of each of several optimizers
        self._pending = []  # steps whose times are not known yet
        self._is_traced = self.setting("train.trace") == "true"
        self._meeting = Meeting(self._handle, place)
        self._board = Board(self.rank, self.ranks, self._meeting.has_servers, self._meeting.share_object)
        self._wait = Wait(self.rank, int(self.setting("train.stall_after")), self._board)
        self._parts, self._streams = {}, {}  # by the loader's id: this worker's part of it, and batches that go over epochs
        self._pack()
        is_reported = dtctl_report.is_active()
        self._gradient_times = dtctl_gradients.GradientTimes(torch, self._times.kind.now, self._times.kind.seconds) if is_reported else None
        self._counted = CountedStep(self._models, is_reported and self.rank == 0 and self.worker >= 0)
        self._start()
        keeps = ctypes.c_int()
        call("keeps_equal", self._handle, ctypes.byref(keeps))
        self._comparison = Comparison(self._meeting, self._packed.weights, bool(keeps.value), self._mean_of)
        self._observe_calls()
        atexit.register(_end, self)

    # -- the model --

    def _rule_words(self):
        """The rule that a parameter server applies in place of the optimizer."""
        group = self._optimizers[0].param_groups[0]
        return [f"optimizer.{name}={group[name]}" for name in ("momentum", "weight_decay") if isinstance(group.get(name), (int, float))]

    def _pack(self):
        self._structure = Structure(self._models, self._optimizers)
        named = self._structure.named
        self._require_types(named)
        lengths = (size * len(named))(*[p.numel() for _, p in named])
        begins, floats = (size * len(named))(), size()
        call("layout", self._handle, len(named), lengths, begins, ctypes.byref(floats))
        self._packed = Packed(named, list(begins), floats.value)
        self._accumulators = [self._watch(p, i) for i, (_, p) in enumerate(named)]
        is_cuda = self._packed.device.type == "cuda"
        self._copies = CopiesToHost(self._packed, self._announce) if is_cuda else None
        self._times = StepTimes(DeviceTimes if is_cuda else HostTimes)
        for optimizer in self._optimizers:
            self._time_clearing(optimizer)

    def _require_types(self, named):
        kinds = {(p.dtype, p.device) for _, p in named}
        if len(kinds) > 1:
            raise SyncError("the trained parameters have several types or devices: " + ", ".join(sorted(f"{t} on {d}" for t, d in kinds)))
        ((dtype, _),) = kinds
        if dtype == torch.float32:
            return
        strategy = self.setting("sync.strategy")
        if dtype not in (torch.float16, torch.bfloat16) or strategy not in ("sync-sgd", "hsgd"):
            raise SyncError(f"the parameters are {dtype}, but {strategy} exchanges weights in float32 and would round them: keep float32 "
                            "parameters and compute with torch.autocast")

    def _watch(self, parameter, index):
        """Calls _has_gradient() whenever the gradient of a parameter has been added up; returns what must be kept for it."""

        def hook(*_):
            self._has_gradient(index)

        if hasattr(parameter, "register_post_accumulate_grad_hook"):
            return parameter.register_post_accumulate_grad_hook(hook)
        accumulator = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
        accumulator.register_hook(hook)
        return accumulator

    def _time_clearing(self, optimizer):
        clear = optimizer.zero_grad

        @functools.wraps(clear)
        def zero_grad(*arguments, **options):
            return self._times.clears_gradients(lambda: clear(*arguments, **options))

        optimizer.zero_grad = zero_grad

    def _observe_calls(self):
        if self.worker >= 0:
            _roots.update((id(model), self) for model in self._models)
            _observe_modules()

    def _calls_model(self, inner, model, arguments, options):
        """A model is called from outside of it, or by another one."""
        if self._is_evaluating or not torch.is_grad_enabled() or threading.get_ident() != self._thread:
            return inner(model, *arguments, **options)
        self._times.calls_model(model, None if self._times.batches else dtctl_samples.count_of_call(arguments, options))
        self._comparison.note_input([arguments, options])
        with self._counted.mode():
            return inner(model, *arguments, **options)

    def _start(self):
        description = "\n".join(f"{name} {tuple(p.shape)} {p.dtype}" for name, p in self._structure.named)
        # bfloat16 weights would round what a strategy computes on them.
        computes = not self._packed.on_host and self._packed.weights.dtype == torch.float32
        self._callbacks = Callbacks(
            None,
            Callbacks.COMPUTE(self._guard(self._on_compute)),
            Callbacks.UPDATE(self._guard(self._on_update)),
            Callbacks.FETCH(self._guard(self._on_fetch)),
            Callbacks.STORE(self._guard(self._on_store)),
            Callbacks.MAKE(self._guard(self._on_make)) if computes else Callbacks.MAKE(),
            Callbacks.COMBINE(self._guard(self._on_combine)) if computes else Callbacks.COMBINE(),
        )
        packed = self._packed
        self._vectors = Vectors(packed)
        call("start", self._handle, description.encode(), packed.host_weights.data_ptr(), packed.host_gradients.data_ptr(),
             ctypes.byref(self._callbacks))
        for values in [*self._structure.frozen, *self._structure.buffers()]:
            self._share(values, "broadcast")
        seed = torch.tensor([float(torch.initial_seed() % (1 << 24))])  # exact as a float
        self._share(seed, "broadcast")
        self._seed = int(seed)  # of the order of samples

    def _share(self, values, how):
        """broadcast or mean of a tensor that is not trained. Numbers that are not floats stay as they are."""
        if not values.is_floating_point() or values.numel() == 0:
            return
        host = values.detach().float().cpu().contiguous()
        call(how, self._handle, host.data_ptr(), host.numel())
        with torch.no_grad():
            values.copy_(host)

    def _mean_of(self, values):
        self._share(values, "mean")
        return values

    # -- what the strategy asks for --

    def _guard(self, action):
        """ctypes would drop an exception: keep it for the caller of step()."""

        def guarded(_, *arguments):
            is_waiting = self._wait.since is not None
            self._wait.end()
            try:
                action(*arguments)
                return 0
            except BaseException as error:  # KeyboardInterrupt too
                self._error = error
                return 1
            finally:
                if is_waiting:
                    self._wait.begin(self.step_number + 1)

        return guarded

    def _on_fetch(self, what, begin, end):
        packed = self._packed
        if what == GRADIENTS:
            packed.gather(range(len(packed.parameters)), self._stepping)
        if not packed.on_host:
            device, host = self._vectors.pair(what)
            host[begin:end].copy_(device[begin:end])

    def _on_store(self, what, begin, end):
        if self._packed.on_host:
            return
        device, host = self._vectors.pair(what)
        # Gradients are next written by copies that the device makes after this one; a strategy may write to others at once.
        device[begin:end].copy_(host[begin:end], non_blocking=what == GRADIENTS)

    def _on_make(self, what, host, floats):
        self._vectors.make(what, host, floats)

    def _on_combine(self, y, a, x, b, z, c, begin, end):
        with torch.no_grad():
            self._vectors.combine(y, a, x, b, z, c, slice(begin, end))

    _stepping = None  # numbers of the parameters whose optimizer makes this step; None: all

    def _on_compute(self, announce, mean_loss, samples):
        self._announces = bool(announce)
        self._structure.require_unchanged()
        self._packed.require_unmoved()
        try:
            self._compute()
        finally:
            if self._copies and announce:
                self._copies.end()
            self._announces = False
        absent = self._packed.without_gradient(self._stepping)
        for index in absent:
            call("absent", self._handle, index)
        if announce:  # those that were not announced
            late = absent if self._stepping is None else range(len(self._packed.parameters))
            self._packed.gather(late, self._stepping)
            self._packed.mirror(late)
        mean_loss[0] = self._loss_figure()
        samples[0] = int(self._times.samples() or 1)
        self._times.mark_once("backward")
        if self._gradient_times:
            self._gradient_times.ends_backward(self._times.marks["backward"])

    def _begins_backward(self, loss):
        self._counted.begins_backward(loss)
        if self._gradient_times:
            self._gradient_times.begins_backward(self._times.kind.now())

    def _has_gradient(self, index):
        if not (self._announces and self._collects):
            return
        if self._copies:
            return self._copies.add(index)
        self._packed.gather([index])
        self._packed.mirror([index])
        self._announce(index)

    _announces = False

    def _announce(self, index):
        call("gradient", self._handle, index)

    def _on_update(self, changed, factor):
        if changed:
            absent = self._absent_on_all_ranks()
            if factor != 1.0:
                self._packed.gradients.mul_(factor)
            if self._stepping is None:
                self._packed.use_packed_gradients(absent)
            else:
                self._packed.hand_out_gradients(self._stepping, absent)
        self._update()
        self._times.mark("end")

    def _absent_on_all_ranks(self):
        """Numbers of the parameters of which no rank has a gradient: the optimizer must not see one, as in a training on one process."""
        tensors, count = (size * len(self._packed.parameters))(), size()
        call("all_absent", self._handle, tensors, ctypes.byref(count))
        return set(tensors[:count.value])

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
        times = self._times
        if samples is not None:
            times.batches = [samples]

        def compute():
            self._packed.drop_gradients()
            for number, each in enumerate(closures, 1):
                self._collects = number == len(closures)
                loss = each() / len(closures) if len(closures) > 1 else each()
                times.mark("forward")
                self._begins_backward(loss)
                times.losses.append(loss.detach())
                (scaler.scale(loss) if scaler else loss).backward()
                if not self._collects:
                    times.end_pass()

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
        times.mark_once("begin")
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
            self._break(self._error or failure)
            raise (self._error or failure) from None
        finally:
            self._wait.end()
        self.step_number += 1
        self.mean_loss = loss.value
        losses = self._times.losses
        if self.worker >= 0:
            self._note_step(rate)
        self._wait.begin(self.step_number)
        self._comparison.ends_step(self.step_number - self._first_step, sum(map(float, losses)) if losses and self._compares_losses() else None,
                                   self._rates())
        self._wait.end()

    def _compares_losses(self):
        """Only in the first steps: to read a loss makes the host wait for a GPU."""
        return self.step_number - self._first_step <= 3

    _broken = False

    def _loss_figure(self):
        """The loss as a number, where it is known and that does not make the host wait for a GPU."""
        if self._times.losses and (self._packed.device.type == "cpu" or self._announces):
            return float(sum(map(float, self._times.losses)))
        return float("nan")

    def _note_step(self, rate):
        """Keeps what the report of this step needs; writes the reports of the steps whose times are known by now."""
        waits, times = Times(), self._times
        call("get_times", self._handle, ctypes.byref(waits))
        times.mark_once("end")  # a server has updated the weights
        self._exchanges.append(_Exchange(self.step_number, times, waits, self.mean_loss, rate, self.epoch, time.monotonic()))
        self._times = StepTimes(times.kind)
        if len(self._optimizers) == 1:
            self._end_step()

    def _end_step(self):
        """What was noted since the last one is a step."""
        if not self._exchanges:
            return
        exchanges, self._exchanges = self._exchanges, []
        self._counted.ends_step(exchanges[0].times.samples())
        self._pending.append(exchanges)
        self._write_reports(most=2)
        if self._gradient_times:
            self._gradient_times.begins_step(self._optimizers, self._models)
        self._counted.begins_step()

    def _write_reports(self, most=0):
        while self._pending and (len(self._pending) > most or self._pending[0][-1].times.is_known()):
            exchanges = self._pending.pop(0)
            last = exchanges[-1]
            last.times.wait()  # so that the host is never more than `most` steps ahead of a GPU
            if not dtctl_report.is_active():
                continue
            declared = dtctl_samples.declared().a_step
            samples = exchanges[0].times.samples() if declared is None else declared
            phases = [each.times.phases(each.waits) for each in exchanges]
            if self._is_traced:
                for each in exchanges:
                    self._draw(each)
            dtctl_report.step(loss=sum(each.loss() for each in exchanges), samples=samples, learning_rate=last.learning_rate, epoch=last.epoch,
                              at=last.ended, phases={name: sum(each[name] for each in phases) for name in phases[0]})

    def _draw(self, step):
        """Adds the step's phases to the timeline."""
        passes = [each for each in step.times.passes if "forward" in each.marks]
        if not passes:
            return
        begin = passes[0].on_host("begin") - step.times.input_s
        spans = [("step", begin, max(step.times.passes[-1].on_host("end"), step.ended)), ("input", begin, passes[0].on_host("begin"))]
        for each in passes:
            begin, forward, backward = (each.on_host(name) for name in ("begin", "forward", "backward"))
            spans += [("forward", begin, forward), ("backward", forward, backward)]
        for name, first, last in spans:
            if last > first:
                call("span", self._handle, name.encode(), step.number, first, last)

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
            began = time.perf_counter()
            batch, samples = next(stream, (stream, None))
            if batch is stream:
                return
            self._times.has_batch(samples, time.perf_counter() - began)
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

    _began = False

    def _begin_report(self):
        if not self._began:
            dtctl_report.begin(self.step_number)
        self._began = True

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
        self._write_reports()
        dtctl_report.evaluation(accuracy=accuracy, loss=loss, samples=samples)

    def setting(self, key):
        """The value of a recipe's key as text: training.setting("sync.period")."""
        value = ctypes.c_char_p()
        call("setting", self._handle, key.encode(), ctypes.byref(value))
        return value.value.decode()

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
        self._write_reports()
        self._tell_end()
        with self._waits():
            self._comparison.compare(self.step_number, self._rates())
            call("finish", self._handle)
        if self._gradient_times:
            for bytes_, lead_s, name in self._gradient_times.lines():
                dtctl_report._write("gradient", bytes_, repr(lead_s), name)
        self._counted.report()
        dtctl_report.result(parameters=sum(p.numel() for p in self._packed.parameters))

    def close(self):
        if self._handle and os.getpid() == self._pid:
            for model in self._models:
                _roots.pop(id(model), None)
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
            self._break(value)
        return False

    def _tell_end(self):
        if not self._has_finished:
            self._has_finished = True
            self._board.passes(ENDS, self.step_number)

    _has_finished = False

    def _end_of_process(self):
        self._tell_end()
        self.close()

    def _break(self, error):
        self._broken = True
        library.note_failure(error)


_roots = {}  # id of a model -> its training
_is_observed = False


def _observe_modules():
    """So that the training knows when its models are called. A hook of the model would be copied with it."""
    global _is_observed
    if _is_observed:
        return
    _is_observed = True
    inner = torch.nn.Module.__call__

    @functools.wraps(inner)
    def observed(self, *arguments, **options):
        training = _roots.get(id(self))
        return inner(self, *arguments, **options) if training is None else training._calls_model(inner, self, arguments, options)

    torch.nn.Module.__call__ = observed


def _end(training):
    """At the end of the process. After an exception MPI is left as it is: the launcher then ends the other ranks."""
    if os.getpid() != training._pid or not training._handle or library.has_failed() or training._broken:
        return
    try:
        training._end_of_process()
    except Exception as error:
        training._wait.end_all(str(error))  # an exception here would not change the exit code
