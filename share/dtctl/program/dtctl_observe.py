"""Observes a PyTorch training from outside: steps, samples, loss, phases and communication of a script that nobody changed.

observe/sitecustomize.py imports this file in a run of dtctl when torch is imported, and calls watch(). It wraps the functions that
every loop goes through, whoever wrote the loop: batches of a DataLoader, the outermost module's call, backward passes, updates of
optimizers, and sums of gradients. docs/design/own-program.md has the rules: what a step is, what counts to which phase, and what
cannot be seen. What cannot be seen is reported as unknown.

An error in here never reaches the script. Where a part of the observer fails, it goes on without that part; where the steps
themselves can no longer be told, it stops. Either is a caveat of the run.
"""

import atexit
import collections
import collections.abc
import functools
import importlib.util
import math
import multiprocessing.process
import multiprocessing.util
import os
import pathlib
import sys
import threading
import time
import weakref

import dtctl_samples as samples_of
from dtctl_communication import __file__ as communication_file
from dtctl_communication import Communication, world_size, wrap_collectives, wrap_data_parallel
from dtctl_gradients import GradientTimes
from dtctl_phases import (AFTER_FORWARD, BACKWARD, CHECKPOINT, COMMUNICATION, EVALUATED, EVALUATION, FORWARD, HANDING_OVER, IDLE, INPUT, LOADER,
                          OPTIMIZER, OTHER, PAUSE, PHASES, PHASE_NAMES, REPORTED_EVALUATION, Mark, Modules)
from dtctl_timeline import Timeline

REPORTED = (INPUT, FORWARD, BACKWARD, COMMUNICATION, OPTIMIZER)  # in the order of dtctl_report.PHASES
MOST_AHEAD = 2  # batches that a loop may have read ahead of the one that it trains with
LAST_WAIT_S = 10  # at the end of the program, for what a GPU still computes
UNCOUNTED_STEPS, LAST_COUNTED_STEP = 2, 6  # FLOPs are counted in the first step between these that is seen whole

_FILE = os.path.abspath(__file__)
_FLOPS_FILE = os.path.join(os.path.dirname(_FILE), "dtctl_flops.py")
_observer = None


def watch(torch):
    """Begins to observe. torch was imported just now."""
    global _observer
    _observer = _Observer(torch)
    _wrap_all(_observer, torch)


def takes_evaluation(accuracy, loss, samples):
    """dtctl_report.evaluation() of a script that reports nothing else. False: the script reports its steps by itself."""
    return _observer is not None and _observer.take_evaluation(accuracy, loss, samples)


def _module(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _own_report():
    """A dtctl_report of the observer's own: that of the script has a step counter and a clock of the script."""
    return _module("dtctl_report_of_observer", pathlib.Path(_FILE).with_name("dtctl_report.py"))


class _Batches:
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


class _Part:
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


class _Known:
    """Of an outermost module that was called and has parameters."""

    has_length_first = None  # whether a part of it takes the length in front of the samples; None: not asked yet


class _Rates:
    """The learning rates of an optimizer, of its first group of parameters."""

    def __init__(self, name):
        self.name, self.first, self.last = name, None, None
        self.parameters, self.numbers = -1, 0  # tensors that it holds, and their numbers
        self.is_main = False  # it holds the most numbers

    def take(self, rate):
        is_number = isinstance(rate, (int, float)) or getattr(getattr(rate, "device", None), "type", "") == "cpu"
        self.last = float(rate) if is_number else None
        self.first = self.last if self.first is None else self.first

    def __str__(self):
        return f"{self.name} {self.first:.6g}" + ("" if self.last == self.first else f" to {self.last:.6g}")


class _Recent:
    """What happened since the last update; the next update makes it a part of the step."""

    def __init__(self):
        self.has_backward = self.updates_in_backward = self.has_communication = False
        self.is_by_hand = False  # its gradients were made by no backward pass that is seen
        self.optimizer = None  # the id and the class of the one that has stepped
        self.losses_of_grad = []  # of torch.autograd.grad()
        self.losses = []
        self.by_module = {}  # samples of the forward passes of each module
        self.summed_numbers = 0  # that calls of the script have summed over the ranks
        self.exchanged_numbers = 0  # that calls of the script have exchanged in any way
        self.buckets = []  # [bytes, ready, done] of the last backward pass
        self.gradients = []  # (bytes, ready) of the same, where the buckets themselves are not seen
        self.is_counted = False  # its FLOPs were counted from its begin on
        self.flops = 0


class _Step:
    """What the updates since the last boundary have made a part of one step, beside its marks."""

    def __init__(self):
        self.end = None  # index of the mark after the last update; None: no update yet
        self.updated = set()  # ids of the optimizers that have stepped
        self.samples = 0
        self.has_batches = self.has_unknown_samples = self.updates_in_backward = self.has_communication = self.is_by_hand = False
        self.losses, self.loss_of = [], None  # the optimizer that has stepped by the gradients of these losses
        self.learning_rate = None  # of the optimizer with the most parameters
        self.by_module = {}
        self.summed_numbers = 0
        self.buckets, self.gradients = [], []
        self.looked_at = []  # backward passes with the readiness of each gradient, in some steps
        self.is_counted, self.flops = True, 0

    def take(self, recent):
        losses = recent.losses or recent.losses_of_grad
        if losses:
            self.losses, self.loss_of = losses, recent.optimizer
        self._add(recent)

    def take_later(self, step):
        """What another optimizer has made of the same data."""
        if step.losses:
            self.losses, self.loss_of = step.losses, step.loss_of
        self.end = step.end
        self.updated |= step.updated
        self.samples += step.samples
        self.has_batches |= step.has_batches
        self.has_unknown_samples |= step.has_unknown_samples
        self.learning_rate = self.learning_rate if step.learning_rate is None else step.learning_rate
        self._add(step)

    def _add(self, recent):
        self.is_counted &= recent.is_counted
        self.flops += recent.flops
        self.is_by_hand |= recent.is_by_hand
        self.buckets = recent.buckets or self.buckets
        self.gradients = recent.gradients or self.gradients
        for module, samples in recent.by_module.items():
            self.by_module[module] = self.by_module.get(module, 0) + samples
        self.summed_numbers += recent.summed_numbers
        self.has_communication |= recent.has_communication
        self.updates_in_backward |= recent.updates_in_backward


def _guarded(method):
    """An error here, where steps are told apart, ends the observation."""

    @functools.wraps(method)
    def call(self, *args):
        if self.is_off:
            return None
        try:
            return method(self, *args)
        except Exception as error:  # whatever it is, the script must not see it
            return self.fail(error)

    return call


class _Observer:
    def __init__(self, torch):
        self.torch = torch
        ranks, attempt, is_traced = (os.environ["DTCTL_OBSERVE"].split() + ["1", "1", "0"])[:3]
        self.ranks = int(ranks)
        self.attempt = int(attempt) + int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))  # that of this process
        self.is_traced = is_traced == "1"
        self.flops_module = _module("dtctl_flops", _FLOPS_FILE)
        self.is_forked = False  # a child that has not trained yet
        self._begin_process()
        os.register_at_fork(after_in_child=self._leave_child)
        hook = threading.excepthook

        def excepthook(args):
            self.thread_fails(args)
            hook(args)

        threading.excepthook = excepthook

    def _begin_process(self):
        """Of the program's process, or of one that it has forked and that trains."""
        self.pid, self.thread = os.getpid(), threading.get_ident()
        self.report = _own_report()
        self.seen_exchange, self.report._seen_exchange = self.report._seen_exchange, self._exchange
        self.timeline = Timeline(self.report.report_path()) if self.is_traced else None
        self.is_off = self.is_ended = False
        self.is_inside = False  # of a module's call or a backward pass, whose inner calls do not count
        self.is_reading = self.in_backward = self.in_update = False
        self.had_backward_in_update = False
        self.trouble = ""
        self.told, self.broken = set(), set()  # caveats; parts of the observer that have failed
        self.others = set()  # threads that train, too
        self.held = None  # reports that wait until it is known whether the script reports by itself
        self.is_claimed = self.has_begun = False
        self.steps = 0
        # FLOPs, counted in one early step.
        self.counter = self.flops_module.Counter(self.torch)
        self.closed_steps = 0
        self.is_counting = False
        self.counted_step = None
        self.looked_into = Modules()  # modules that are not compiled
        self.flops_of_sample = None
        # The course of phases since the last boundary.
        self.phase = self.base = OTHER  # base: the phase behind a forward pass's end
        self.marks = []
        self.part = None
        self.recent, self.step = _Recent(), _Step()
        self.earlier = None  # what another optimizer has made of this step before, without a DataLoader
        self.loss_of, self.losses_of = None, set()  # the optimizer of the last step's loss; all that had one
        self.has_evaluation = False
        self.idle, self.is_between = 0, False  # index of the mark behind the last update or backward pass; whether an epoch ended since
        self.passes = []  # _Batches
        self.modules = Modules()  # outermost modules that were called and have parameters -> whether the length may lead
        self.latest_module = lambda: None  # of those with parameters, searched already
        self.searched = Modules()  # modules of the training, searched for those that communicate
        self.trained = {}  # ids of the parameters that optimizers hold -> their numbers
        self.trained_numbers = 0
        self.optimizers = Modules()  # -> _Rates
        self.unscaled = None  # the loss that a GradScaler has scaled, and what it became
        self.communication = Communication(self)
        self.gradient_times = GradientTimes(self.torch, lambda: self.now(OTHER), self.between)
        # A GPU: events are read when the GPU has passed them.
        self.device = None
        self.pool = []
        self.pending = collections.deque()
        self.clock = None  # the last mark that was read, and its time
        self.slots, self.slot = None, 0
        self._listen_to_end()

    # ---- the process ----

    def _listen_to_end(self):
        atexit.register(self.finish)
        hook = sys.excepthook  # that of self.report, which reports the error and calls the one before

        def excepthook(kind, value, trace):
            hook(kind, value, _without_own_frames(value, trace))

        sys.excepthook = excepthook

    def _leave_child(self):
        """A process that the script forks reports nothing, unless it trains and is no worker of a DataLoader."""
        self.is_off = self.is_inside = self.is_forked = True
        self.report._write = lambda *_: None

    def revives(self):
        """Whether this is a forked process that begins to train now."""
        if not self.is_forked or self.torch.utils.data.get_worker_info() is not None:
            self.is_forked = False
            return False
        self.is_forked = False
        self._begin_process()
        return True

    def is_elsewhere(self, trains=False):
        """Whether this thread is another one than that of the training, which is the first to make a backward pass."""
        if threading.get_ident() == self.thread:
            return False
        if not trains or self.is_off:
            return True
        if self.has_begun:
            self.others.add(threading.get_ident())
            return True
        self.thread, self.is_inside = threading.get_ident(), False
        self.marks, self.part, self.passes, self.recent, self.step = [], None, [], _Recent(), _Step()
        return False

    def updates_elsewhere(self):
        """An optimizer has stepped in another thread than that of the training."""
        if threading.get_ident() in self.others:
            self.caveat("processes", "another thread of the program trains too, and only the steps of one are counted: the throughput is not known")

    def thread_fails(self, args):
        """An uncaught exception has ended a thread: the training has failed if it trained."""
        ident = args.thread.ident if args.thread is not None else None
        if args.exc_type is not SystemExit and self.has_begun and (ident == self.thread or ident in self.others):
            self.report._fail(args.exc_value)

    def _watch_child(self):
        """A child of multiprocessing leaves without atexit if it was forked, and catches its exception itself."""
        if multiprocessing.parent_process() is not None:
            multiprocessing.util.Finalize(None, self._leaves_child, exitpriority=100)

    def _leaves_child(self):
        error = sys.exc_info()[1]  # on its way out
        if isinstance(error, SystemExit):
            error = None if error.code in (None, 0) else error.__cause__ or error.__context__ or error
        if error is not None and self.pid == os.getpid():
            self.report._fail(error)
        self.finish()

    def fail(self, error):
        self.trouble = f"{type(error).__name__}: {error} ({_place_of(error)})"
        self.caveat("observation", f"the observer stopped at step {self.steps}, because of an error of its own, and no later step is counted: {self.trouble}",
                    of_all_ranks=False)
        self.be_silent()

    def goes_on_without(self, part, error):
        """A part of the observer has failed; what it finds is unknown from now on."""
        if part not in self.broken:
            self.broken.add(part)
            self.caveat("observation", f"the observer goes on without {part}, because of an error of its own: {type(error).__name__}: {error} "
                        f"({_place_of(error)})", of_all_ranks=False)

    def attempt_to(self, part, call, *args):
        """What the call returns; None if this part of the observer has failed."""
        if part in self.broken:
            return None
        try:
            return call(*args)
        except Exception as error:
            return self.goes_on_without(part, error)

    def be_silent(self):
        self.is_off = self.is_inside = True
        self.pending.clear()

    def caveat(self, kind, sentence, of_all_ranks=True):
        """Once, in the log and in the run's record. of_all_ranks: rank 0 tells it for all."""
        if sentence in self.told or (of_all_ranks and os.environ.get("RANK", "0") != "0"):
            return
        self.told.add(sentence)
        try:
            print(f"dtctl: {sentence}.", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            pass
        self.write(self.report._write, "caveat", f"{kind}\t{sentence}")

    def yields(self):
        """Whether the script reports its steps by itself, or another process of this rank is observed."""
        script = sys.modules.get("dtctl_report")
        if "dtctl_sync" in sys.modules or (script is not None and (script._step > 0 or script._mark is not None)):
            self.held = None
            self.be_silent()
        elif not self.is_claimed:
            self.is_claimed = True
            if self.torch.utils.data.get_worker_info() is not None:
                self.be_silent()
                return True
            self._watch_child()
            if not _claim(self.report):
                self.caveat("processes", "several processes of a rank train, and only the steps of one are counted: the throughput is not known",
                            of_all_ranks=False)
                self.be_silent()
                self.report._step = -1  # of an error that this process may still report: its steps are not counted
            elif script is not None:
                self.held = []
        return self.is_off

    def write(self, call, *args, **kwargs):
        if self.held is not None:
            self.held.append((call, args, kwargs))
        else:
            call(*args, **kwargs)

    def release(self):
        held, self.held = self.held, None
        for call, args, kwargs in held or ():
            call(*args, **kwargs)

    # ---- time ----

    def now(self, phase):
        event = None
        if self.device is not None and not self.torch.cuda.is_current_stream_capturing():
            event = self.pool.pop() if self.pool else self.torch.cuda.Event(enable_timing=True)
            event.record(self.torch.cuda.current_stream(self.device))
        return Mark(phase, time.monotonic(), event)

    def mark(self, phase):
        if phase != self.phase or not self.marks:
            self.force_mark(phase)

    def force_mark(self, phase):
        self.marks.append(self.now(phase))
        self.phase = phase

    # ---- input ----

    @_guarded
    def opens_loader(self, batches):
        """The script begins a pass through the data of a DataLoader."""
        if self._ask(batches, LOADER):
            batches.opening, self.is_between = self.marks[-1], True

    @_guarded
    def asks_for_batch(self, batches):
        self._ask(batches, INPUT)

    def _ask(self, batches, phase):
        self._end_part(batches)
        if self.step.end is not None:
            self._close_step()
            if self.is_off:
                return False
        self.force_mark(phase)
        self.part = _Part(len(self.marks) - 1, batches, True)
        return True

    @_guarded
    def has_batch(self, batches, iterator, batch):
        self.mark(HANDING_OVER)
        batches.is_read(self.attempt_to("the samples of batches", samples_of.of_loader, iterator, batch))
        if batches.read == 1:
            self.passes.append(batches)

    @_guarded
    def has_no_batch(self, batches):
        batches.has_ended = True
        if batches.trained_parts == 0:
            batches.is_ignored = True  # everything was read in advance
        if self.part is not None:
            self.marks[self.part.begin].phase = EVALUATED if batches.is_evaluation else LOADER
        self.is_between = True
        self.mark(OTHER)

    def _end_part(self, next_batches=None):
        """Decides whether what happened since the part's begin was an evaluation."""
        part = self.part
        if part is None or part.has_backward or not part.has_evaluation:
            return
        begin, end = part.first_use, part.last_use
        if part.is_fetch:
            begin = part.begin
            part.batches.is_ignored = part.batches.is_evaluation = True
            if part.batches.opening is not None:
                part.batches.opening.phase = EVALUATED
            if part.batches is next_batches:
                end = len(self.marks)
        for mark in self.marks[begin:end]:
            if mark.phase != CHECKPOINT:
                mark.phase = EVALUATED
        self.has_evaluation = self.is_between = True

    def _trains(self):
        """The present part belongs to the training."""
        if not self.part.trains:
            self.part.trains = True
            for batches in self.passes:
                batches.trains()

    # ---- forward, backward, update ----

    @_guarded
    def enters_module(self, module, args, kwargs):
        """Returns the context that counts the FLOPs of this call; None: they are not counted."""
        self._enter_module(module, args, kwargs)
        if not self.is_counting or self.phase == EVALUATION or self.counter.why:
            return None
        if module not in self.looked_into and not self.attempt_to("FLOPs", self.counter.can_look_into, module):
            return None
        self.looked_into.put(module)
        return self.counter.mode

    def _enter_module(self, module, args, kwargs):
        has_gradients = self.torch.is_grad_enabled()
        if not self.marks:
            self.force_mark(OTHER)
        if self.part is None:
            self.part = _Part(len(self.marks) - 1)
        part = self.part
        if not self._look_at(module):
            return  # it computes nothing that is trained: a loss continues the forward pass, a metric or a transform is none
        if has_gradients:
            if part.has_evaluation and not part.is_fetch:  # evaluated without a DataLoader
                self._end_part()
                self.force_mark(FORWARD)
                self.part = part = _Part(len(self.marks) - 1)
            else:
                self.mark(FORWARD)
            if module.training:
                self._trains()
                self._count_forward(module, args, kwargs)
            elif part.is_fetch:
                self._evaluates(part)  # unless a backward pass follows
        elif part.is_fetch or (self._is_trained(module) and not module.training):
            self.mark(EVALUATION)
            self._evaluates(part)
        elif self.phase in (OTHER, HANDING_OVER):
            self.mark(FORWARD)

    def _evaluates(self, part):
        part.has_evaluation = True
        if part.first_use is None:
            part.first_use = len(self.marks) - 1

    @_guarded
    def leaves_module(self):
        if self.phase == EVALUATION or (self.phase == FORWARD and not self.torch.is_grad_enabled()):
            self.mark(OTHER)
        elif self.phase == FORWARD and (self.step.end is not None or self.part.has_evaluation):
            self.mark(AFTER_FORWARD)  # behind an update, a forward pass may be for other things than a backward pass
        if self.part is not None and self.part.has_evaluation:
            self.part.last_use = len(self.marks) - 1

    def _look_at(self, module):
        if self.latest_module() is module:
            return True
        if module not in self.modules:
            about = vars(module)
            first = next(module.parameters(), None) if about.get("_modules", True) or about.get("_parameters", True) else None
            if first is None:
                return False  # or they are replaced, as torch.func.functional_call() does
            self._use_device(first.device)
            self.modules.put(module, _Known())
        if module not in self.searched and self.torch.is_grad_enabled():
            self.searched.put(module)
            self.attempt_to("communication", self.communication.look_at, module)
        if module in self.searched:
            self.latest_module = weakref.ref(module)
        return True

    def _use_device(self, device):
        if device.type == "cuda" and self.device is None:
            self.device = device
        elif device.type not in ("cuda", "cpu", "meta"):
            raise RuntimeError(f"devices of type {device.type} are not observed")

    def _is_trained(self, module):
        first = next((p for p in module.parameters() if p.requires_grad), None)
        return first is not None and id(first) in self.trained

    def _count_forward(self, module, args, kwargs):
        if self.in_update and self.had_backward_in_update:
            return  # a closure that an optimizer calls again, for the same batch
        for batches in self.passes:
            if batches.tells_samples():
                return
        samples = self.attempt_to("the samples of modules", self._samples_of_call, module, args, kwargs)
        of_each = self.recent.by_module
        of_each[id(module)] = of_each.get(id(module), 0) + (math.nan if samples is None else samples)

    def _samples_of_call(self, module, args, kwargs):
        known = self.modules.get(module)
        if known is not None and known.has_length_first is None:
            known.has_length_first = samples_of.has_length_first(module)
        if known is None or known.has_length_first and samples_of.declared().dimension is None or _is_transformed(self.torch):
            return None
        return samples_of.count_of_call(args, kwargs)

    @_guarded
    def enters_backward(self, tensors, is_backward=True):
        self.mark(BACKWARD)
        if self.part is None:
            self.part = _Part(len(self.marks) - 1)
        if self.has_evaluation and self.step.end is not None:
            self._close_step()
        if self.is_off or (not self.has_begun and not self._begin()):
            return
        self._end_idle()
        self.part.has_backward = self.recent.has_backward = True
        self._trains()
        if self.is_counting and self.recent.is_counted and not self.counter.why:
            self.attempt_to("FLOPs", self.counter.look_at_graph, tensors)
        self.attempt_to("losses", self._take_loss, tensors, self.recent.losses if is_backward else self.recent.losses_of_grad)
        self.in_backward, self.recent.buckets, self.recent.gradients = True, [], []
        self.communication.begins_backward()
        if self.gradient_times.hooks:
            self.attempt_to("the readiness of gradients", self.gradient_times.begins_backward, self.marks[-1])
        self.had_backward_in_update = self.in_update

    def _end_idle(self):
        """What lies before this part belongs to the time between two epochs, if one has ended; what lies in it, to the forward pass."""
        part = self.part
        if self.is_between and not part.has_backward:
            for mark in self.marks[self.idle : part.begin]:
                if mark.phase in IDLE:
                    mark.phase = PAUSE
        for mark in self.marks[part.begin :]:
            if mark.phase == AFTER_FORWARD:
                mark.phase = FORWARD
        self.is_between = self.has_evaluation = False

    @_guarded
    def leaves_backward(self):
        if not self.in_backward:
            return
        self.in_backward = False
        ready, is_summed = self.communication.in_this_backward()
        if ready is not None:
            self.marks.append(ready)
            self.phase, self.recent.has_communication = COMMUNICATION, is_summed
        self.force_mark(self.base)
        self.idle = len(self.marks) - 1
        if self.gradient_times.hooks:
            self.attempt_to("the readiness of gradients", self.gradient_times.ends_backward, ready or self.marks[-1])
        if self.recent.updates_in_backward:
            self._end_update()

    def _take_loss(self, tensors, losses):
        loss = tensors[0] if isinstance(tensors, (tuple, list)) and tensors else tensors
        if self.unscaled is not None and loss is self.unscaled[0]:
            loss = self.unscaled[1]
        self.unscaled = None
        if not isinstance(loss, self.torch.Tensor) or loss.numel() != 1:
            return
        if self.in_update:
            losses.clear()  # those of the last call of the closure count alone
        if loss.is_cuda:
            if self.slots is None:
                self.slots = self.torch.zeros(1024, dtype=self.torch.float32, device="cpu", pin_memory=True)
            self.slot = (self.slot + 1) % len(self.slots)
            place = self.slots[self.slot]
            place.copy_(loss.detach().reshape(()), non_blocking=True)  # read when the GPU has passed the end of the step
            losses.append(place)
        elif loss.device.type == "cpu":
            losses.append(loss.item())

    @_guarded
    def scales(self, tensor, scaled):
        self.unscaled = (scaled, tensor)

    @_guarded
    def enters_update(self, optimizer):
        rates = self.attempt_to("learning rates", self._look_at_optimizer, optimizer)
        if self.in_backward:
            self.recent.updates_in_backward = True
            return
        if self.step.end is not None:
            self._joins_step(id(optimizer))
            if self.is_off:
                return
        self.step.updated.add(id(optimizer))
        self.recent.optimizer = (id(optimizer), type(optimizer).__name__)
        if rates is not None and rates.is_main:
            self.step.learning_rate = rates.last
        self.in_update, self.had_backward_in_update, self.base = True, False, OPTIMIZER
        self.mark(OPTIMIZER)
        if self.part is None:
            self.part = _Part(len(self.marks) - 1)

    def _joins_step(self, optimizer):
        """An optimizer begins the next step if it has stepped in this one. If it steps again before the first one does, that had
        made the last step of its own: layers, or a policy and its value, are trained one after the other."""
        earlier, step = self.earlier, self.step
        if optimizer in step.updated and earlier is not None:
            self.earlier, self.step = None, earlier
            self._close_step()
            step.end -= earlier.end
            self.step = step
        if optimizer in step.updated or (earlier is not None and optimizer in earlier.updated):
            self._close_step()
        elif earlier is None and self.recent.has_backward and not step.has_batches:
            self.earlier, self.step = step, _Step()

    def _look_at_optimizer(self, optimizer):
        """Its parameters, of which it may get more, and its learning rate."""
        groups = getattr(optimizer, "param_groups", None) or []
        rates, numbers = self.optimizers.get(optimizer), 0
        for group in groups:
            numbers += len(group["params"])
        if rates is None or rates.parameters != numbers:
            rates = rates or _Rates(type(optimizer).__name__)
            self.optimizers.put(optimizer, rates)
            sizes = {id(p): p.numel() for group in groups for p in group["params"]}
            rates.parameters, rates.numbers = numbers, sum(sizes.values())
            self.trained.update(sizes)
            self.trained_numbers = sum(self.trained.values())
            all_rates = [self.optimizers.get(each) for each in self.optimizers]
            for each in all_rates:
                each.is_main = each is max(all_rates, key=lambda one: one.numbers)
        rates.take(groups[0].get("lr") if groups else None)
        return rates

    @_guarded
    def leaves_update(self):
        if not self.in_update:
            return
        self.in_update, self.base = False, OTHER
        self.force_mark(OTHER)
        if self.recent.has_backward or self.step.end is not None:
            self._end_update()

    @_guarded
    def steps_without_backward(self, optimizer):
        """An update of gradients that no backward pass has made: they were computed by torch.func, or assigned."""
        if self.recent.has_backward or self.step.end is not None or not self.in_update:
            return
        groups = getattr(optimizer, "param_groups", None) or []
        if not any(p.grad is not None for group in groups for p in group["params"]) or (not self.has_begun and not self._begin()):
            return
        self._end_idle()
        self._trains()
        self.part.has_backward = self.recent.has_backward = self.recent.is_by_hand = True

    @_guarded
    def enters(self, phase):
        """Something else that takes time: clearing gradients, a sum over the ranks, a checkpoint. Returns the phase before."""
        before = self.phase
        if self.marks and not self.in_backward:
            self.mark(phase)
            self.is_between = self.is_between or phase in (CHECKPOINT, LOADER)
        return before

    @_guarded
    def leaves(self, before):
        if self.marks and before is not None and not self.in_backward:
            self.mark(before)

    def _end_update(self):
        step = self.step
        step.end = self.idle = len(self.marks) - 1
        self.communication.ends_update(self.recent)
        if self.is_counting:
            self.recent.flops = self.attempt_to("FLOPs", self.counter.take) or 0
        step.take(self.recent)
        self.recent = _Recent()
        self.recent.is_counted = self.is_counting
        self._take_samples()
        self.part = _Part(step.end)

    def _take_samples(self):
        """The batches that this update has trained with: all that were read and used, without those that the loop reads ahead."""
        step = self.step
        for batches in list(self.passes):
            for samples in batches.take():
                step.has_batches = True
                if samples is None:
                    step.has_unknown_samples = True
                else:
                    step.samples += samples
            if batches.is_ignored or batches.iterator() is None or (batches.has_ended and not batches.waiting):
                self.passes.remove(batches)

    # ---- boundaries ----

    def _begin(self):
        """The training begins with the part that has the first backward pass."""
        if self.yields():
            return False
        self.marks = self.marks[self.part.begin :]
        self.part.shift(self.part.begin)
        self.idle = 0
        self.has_evaluation = self.is_between = False
        self.has_begun = True
        self._later("begin", [self.marks[0]])
        return True

    def _close_step(self):
        """The step ends with its last update; what came after it belongs to the next step."""
        step, end = self.step, self.step.end
        if self.yields():
            return
        if self.earlier is not None:
            step, self.earlier = self.earlier, None
            step.take_later(self.step)
        marks, self.marks = self.marks[: end + 1], self.marks[end:]
        self.idle = max(0, self.idle - end)
        if self.part is not None:
            self.part.shift(end)
        self.step = _Step()
        step.looked_at = self.attempt_to("the readiness of gradients", self.gradient_times.begins_step, self.optimizers, self.modules) or []
        self.closed_steps += 1
        self._look_at_losses(step.loss_of)
        if self.is_counting or self.closed_steps == UNCOUNTED_STEPS:
            self.attempt_to("FLOPs", self._count_flops, step)
        self._later("step", marks, step)
        self._resolve()

    def _look_at_losses(self, optimizer):
        """Two optimizers whose losses come in turn, as those of a GAN's networks, make one series of two quantities."""
        if optimizer is None or optimizer == self.loss_of:
            return
        if optimizer in self.losses_of:
            names = ", ".join(sorted({name for _, name in self.losses_of}))
            self.caveat("losses", f"the loss of a step is of one optimizer now, of another then ({names}): the steps' losses are no one series")
        self.loss_of = optimizer
        self.losses_of.add(optimizer)

    def _count_flops(self, closed):
        """Begins to count after the first steps, and ends when a step was counted whole."""
        if self.is_counting and (closed.is_counted or self.counter.why or self.closed_steps >= LAST_COUNTED_STEP):
            self.is_counting = False
            self.counter.end()
            self.counted_step = closed if closed.is_counted else None
        elif self.closed_steps == UNCOUNTED_STEPS and self.counter.mode is not None:
            self.is_counting = True
            self.recent.is_counted = not (self.recent.has_backward or self.recent.by_module)

    @_guarded
    def take_evaluation(self, accuracy, loss, samples):
        if self.yields():
            return False
        self._end_part()
        if self.step.end is not None:
            self._close_step()
        self.release()
        if not any(mark.phase == EVALUATED for mark in self.marks):  # it was not seen
            for mark in self.marks[self.idle :]:
                mark.phase = EVALUATED
        self.force_mark(OTHER)
        self._later("evaluation", list(self.marks), (accuracy, loss, samples))
        self.part = _Part(len(self.marks) - 1)
        self.has_evaluation, self.is_between = False, True
        return True

    # ---- reports ----

    def _later(self, kind, marks, what=None):
        if marks[-1].event is None and not self.pending:
            self._write(kind, marks, what)
        else:
            self.pending.append((kind, marks, what))

    def _resolve(self):
        while self.pending and self.is_passed(self.pending[0][1][-1]):
            self._write(*self.pending.popleft())

    @staticmethod
    def is_passed(mark):
        return mark.event is None or mark.event.query()

    @staticmethod
    def between(a, b):
        if a.event is None or b.event is None:
            return max(0.0, b.host_s - a.host_s)
        try:
            return max(0.0, a.event.elapsed_time(b.event) / 1000)
        except RuntimeError:  # another device or a stream that is behind
            return math.nan

    def _clock_of(self, mark):
        """Seconds of the host's clock: those of a GPU are added up from the first mark."""
        if self.clock is None:
            clock_s = mark.host_s
        else:
            last, last_s = self.clock
            clock_s = mark.host_s if last.event is None or mark.event is None else last_s + self.between(last, mark)
            clock_s = max(mark.host_s if math.isnan(clock_s) else clock_s, last_s)
        self.clock = (mark, clock_s)
        return clock_s

    def _write(self, kind, marks, what):
        clock_s = self._clock_of(marks[-1])
        if kind == "begin":
            self.report._mark = clock_s
            if self.attempt == 1:  # a later attempt may go on from a checkpoint, at a step that nobody knows
                self.write(self.report._write, "begin", repr(clock_s), 0)
        elif kind == "evaluation":
            self._write_evaluation(marks, clock_s, *what or ())
        else:
            self._write_step(marks, what, clock_s)
            self.pool.extend(m.event for m in marks[:-1] if m.event is not None and m is not self.clock[0])

    def _write_evaluation(self, marks, clock_s, accuracy=None, loss=None, samples=None):
        """The evaluations between these marks, as one. Their time is no part of the step."""
        evaluated_s = 0.0
        for begin, end in zip(marks, marks[1:]):
            if begin.phase == EVALUATED:
                evaluated_s += self.between(begin, end)
                begin.phase = REPORTED_EVALUATION
        report = self.report
        words = [report._accuracy(accuracy), report._figure(loss), report._quantity(samples, "samples")]
        self.write(report._write, "eval", report._step, "%.7f" % clock_s, _seconds(evaluated_s), *words)

    def _write_step(self, marks, step, clock_s):
        seconds, begun = [0.0] * PHASES, set()
        for begin, end in zip(marks, marks[1:]):
            seconds[begin.phase] += self.between(begin, end)
            begun.add(begin.phase)
        if EVALUATED in begun:
            behind = max(i for i, mark in enumerate(marks) if mark.phase == EVALUATED) + 1
            self._write_evaluation(marks, clock_s - self.between(marks[behind], marks[-1]))
            seconds[REPORTED_EVALUATION] += seconds[EVALUATED]
        seconds[FORWARD] += seconds[EVALUATION]  # a pass without gradients within a step, of a teacher for example
        if FORWARD in begun:
            seconds[INPUT] += seconds[HANDING_OVER]
        if step.has_batches:
            begun.add(INPUT)  # it may have been read in the step before
        if step.updates_in_backward:
            begun.discard(OPTIMIZER)
        if step.is_by_hand:
            begun -= {FORWARD, BACKWARD}
        world = world_size(self.torch)
        if self.communication.is_seen(step, world):
            begun.add(COMMUNICATION)
        self.steps += 1
        figure, report = self.report._figure, self.report
        mark, report._mark, report._step = report._mark, clock_s, self.steps
        length = "-" if mark is None else _seconds(max(0.0, clock_s - mark - seconds[REPORTED_EVALUATION]))
        loss = figure(sum(map(float, step.losses)) if step.losses else None)
        samples = self._samples_of(step, world)
        if step is self.counted_step and samples and step.flops > 0:
            self.flops_of_sample = step.flops / samples
        phases = ["%.7f" % seconds[phase] if phase in begun and seconds[phase] == seconds[phase] else "-" for phase in REPORTED]
        if LOADER in begun or CHECKPOINT in begun or PAUSE in begun:
            self.write(report._write, "pause", *(_seconds(seconds[phase]) for phase in (LOADER, CHECKPOINT, PAUSE)))
        figures = (clock_s, length, figure(samples), loss, figure(step.learning_rate), " ".join(phases))
        self.write(report._write, "step", self.steps, "%.7f %s %s %s %s - %s" % figures)
        if report._is_looked_at(self.steps):
            self.write(report._report_exchange, self._exchange())
        if step.buckets or step.gradients:
            self.attempt_to("buckets", self.communication.take_buckets, step, marks)
        if self.timeline:
            self.attempt_to("the timeline", self._draw, step, marks, clock_s)

    def _draw(self, step, marks, clock_s):
        """Adds the step to the timeline: its phases, and in some steps when each gradient was ready."""
        first, lengths = marks[0], [self.between(begin, end) for begin, end in zip(marks, marks[1:])]
        begin_s = at_s = clock_s - sum(lengths)
        if not begin_s < clock_s:
            return
        self.timeline.add("step", "training", begin_s, clock_s, self.steps)
        for mark, length_s in zip(marks, lengths):
            if mark.phase in PHASE_NAMES:
                self.timeline.add(PHASE_NAMES[mark.phase], "training", at_s, at_s + length_s, self.steps)
            at_s += length_s
        for begin, _, ready in step.looked_at:
            before_s = begin_s + self.between(first, begin)
            for parameter, mark in ready.items():
                bytes_, name = self.gradient_times.sizes[parameter]
                ready_s = begin_s + self.between(first, mark)
                self.timeline.add(name, "gradients", before_s, ready_s, self.steps, bytes_)
                before_s = ready_s

    def _samples_of(self, step, world):
        declared = samples_of.declared().a_step
        if self._is_partly_seen(world):
            return None
        if declared is not None:
            return declared
        why = ""
        if step.has_batches:
            if not step.has_unknown_samples:
                return step.samples
            why = "the parts of a batch do not agree on one number of samples"
        else:
            counts = set(step.by_module.values())
            if len(counts) == 1 and not any(map(math.isnan, counts)):
                return counts.pop()
            if len(counts) > 1:
                why = "there is no DataLoader, and modules got different numbers"
            else:
                why = "there is no DataLoader, and what the module gets does not tell"
        if self.steps > 1:  # the first step of a thread or of a process may have begun before it was seen
            self.caveat("samples", f"the samples of a step are not known: {why}. The recipe can say them: `program.samples`")
        return None

    def _exchange(self):
        """The word of jobs/program/exchange.hpp: how this rank exchanges anything with others."""
        script = sys.modules.get("dtctl_report")
        if script is not None and script._phase_s.get("communication"):
            return "some"  # through files, for example
        return self.seen_exchange() if self.communication.world <= 1 else self.communication.exchange()

    def _is_partly_seen(self, world):
        """Whether the training has ranks that dtctl did not start."""
        if world <= max(1, self.ranks):
            return False
        self.caveat("samples", f"the samples of a step are not known: the program trains with {world} ranks, but dtctl has started {self.ranks}")
        return True

    def _why_no_flops(self):
        """Why the FLOPs of a sample are not known; empty if they are."""
        if self.counter.why:
            return self.counter.why
        if "FLOPs" in self.broken:
            return "an error of the observer"
        if self.flops_of_sample is None:
            return "no step was counted whole, or its samples are not known" if self.closed_steps > UNCOUNTED_STEPS else "too few steps"
        if world_size(self.torch) > 1 and not self.communication.has_summed and "DataParallel" not in self.communication.unseen:
            return "it is not seen whether each rank computes the whole model"
        return ""

    def _report_flops(self):
        if os.environ.get("RANK", "0") != "0":
            return
        counter, figure = self.counter, self.report._figure
        why, name, rate = self._why_no_flops(), "-", None
        device, precision = counter.device(), counter.precision()
        try:
            if device is not None:
                name = self.flops_module.name_of(device, self.torch)
            if device is not None and not why:
                rate = self.flops_module.rate_of_products(device, precision, self.torch)
        except Exception:  # no memory is left on the device, for example
            rate = None
        self.fact("FLOPs of a sample", f"not known: {why}" if why else f"counted in one step: {counter.words()}")
        rate = None if rate is None or math.isnan(rate) else rate
        self.write(self.report._write, "flops", figure(None if why else self.flops_of_sample), precision or "-", figure(rate), name)

    def fact(self, name, text):
        self.write(self.report._write, "choice", f"{name}\t{text}")

    # ---- the end ----

    def finish(self):
        """At the end of the program, after an error too."""
        if os.getpid() != self.pid or self.is_ended or (self.is_off and not self.trouble):
            return
        self.is_ended = True
        try:
            if not self.is_off:
                self._finish_steps()
            if self.is_off and not self.trouble:
                return
            if not self.steps:
                if _is_first_of_rank(self.report) and not self.report._has_failed:
                    self.caveat("observation", "the observer saw no step: in this process no optimizer has stepped after a backward pass")
            elif not self.report._has_failed:
                self._finish_report()
            self.release()
        except Exception as error:
            self.fail(error)

    def _finish_steps(self):
        self._end_part()
        if self.step.end is not None and not self.report._has_failed:
            self._close_step()
        if self.has_begun and not self.is_off and any(mark.phase == EVALUATED for mark in self.marks):
            self.force_mark(OTHER)
            self._later("evaluation", self.marks)
        until = time.monotonic() + (0 if self.report._has_failed else LAST_WAIT_S)
        while self.pending and not self.is_off:
            self._resolve()
            if time.monotonic() > until:
                break
            time.sleep(0.001)

    def _finish_report(self):
        unseen = self.communication.unseen
        self.fact("observed", f"PyTorch {self.torch.__version__}" + (f"; stopped at step {self.steps}: {self.trouble}" if self.trouble else ""))
        if unseen:
            self.fact("communication that could not be observed", unseen)
        if len(self.optimizers) > 1:
            self.fact("learning rates", "; ".join(str(each) for each in self.optimizers.values() if each.last is not None))
        self.attempt_to("buckets", self.communication.write_report)
        if self.timeline:
            self.attempt_to("the timeline", self.timeline.write)
        for bytes_, lead_s, name in self.attempt_to("the readiness of gradients", self.gradient_times.lines) or ():
            self.write(self.report._write, "gradient", bytes_, repr(lead_s), name)
        self.attempt_to("FLOPs", self._report_flops)
        self.release()
        self.report.result(parameters=self.trained_numbers if not unseen else None)


def _claim(report):
    """Whether this process is the one of its rank that reports. A launcher may start several."""
    try:
        import fcntl

        claim = os.open(report.report_path(), os.O_RDWR | os.O_APPEND)
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until the process ends
        with open(claim, "rb", closefd=False) as lines:  # of a process that has trained before; a launcher may start its ranks again
            return bool(os.environ.get("DTCTL_LAUNCHER")) or b"\nstep " not in lines.read()
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return True


def _place_of(error):
    """The line where it was raised."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return f"line {frame.tb_lineno} of {os.path.basename(frame.tb_frame.f_code.co_filename)}" if frame else os.path.basename(_FILE)


def _seconds(length_s):
    return "%.7f" % length_s if length_s == length_s else "-"


def _is_transformed(torch):
    """Whether a transform of torch.func is under way: vmap() hides a dimension of its tensors."""
    is_active = getattr(getattr(torch._C, "_functorch", None), "are_transforms_active", None)
    return is_active is not None and is_active()


def _is_first_of_rank(report):
    """Whether dtctl or the program's launcher has started this process itself, and no process that this one has started was
    observed."""
    lines = pathlib.Path(report.report_path()).read_text(errors="replace").splitlines()
    begun = {line.split(" ", 1)[0] for line in lines}
    own = str(os.getppid() if os.environ.get("DTCTL_LAUNCHER") else os.getpid())
    return "step" not in begun and any(line.split()[2:3] == [own] for line in lines if line.startswith("rank "))


def _without_own_frames(value, trace, seen=None):
    """The trace of an uncaught exception as it would be without the observer."""
    seen = set() if seen is None else seen
    if value is not None and id(value) not in seen:
        seen.add(id(value))
        for other in (value.__cause__, value.__context__):
            if other is not None:
                other.__traceback__ = _without_own_frames(other, other.__traceback__, seen)
    own = (_FILE, _FLOPS_FILE, communication_file)
    while trace is not None and trace.tb_frame.f_code.co_filename in own:
        trace = trace.tb_next
    each = trace
    while each is not None:
        after = each.tb_next
        while after is not None and after.tb_frame.f_code.co_filename in own:
            after = after.tb_next
        each.tb_next = after
        each = after
    if value is not None:
        value.__traceback__ = trace
    return trace


# ---- what is wrapped ------------------------------------------------------------------------------------------------------------


def _wrap_all(observer, torch):
    samples_of.watch_draws(torch)
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
    _wrap_input(observer)
    _wrap_modules(observer, torch, is_compiling)
    _wrap_backward(observer, torch)
    _wrap_optimizers(observer, torch, is_compiling)
    _wrap_save(observer, torch)
    if torch.distributed.is_available():
        wrap_collectives(observer, torch, is_compiling)
        wrap_data_parallel(observer, torch)


def _wrap_input(o):
    from torch.utils.data import DataLoader
    from torch.utils.data.dataloader import _BaseDataLoaderIter, _MultiProcessingDataLoaderIter

    begin, advance = DataLoader.__iter__, _BaseDataLoaderIter.__next__

    def remember(iterator, batches):
        batches.iterator = weakref.ref(iterator)
        vars(iterator)["_batches_of_dtctl"] = batches
        return batches

    @functools.wraps(begin)
    def iterate(self):
        if (o.is_off and not o.revives()) or o.is_reading or threading.get_ident() != o.thread:
            return begin(self)
        batches = _Batches()
        was_inside, o.is_inside, o.is_reading = o.is_inside, True, True  # transforms may be modules
        o.opens_loader(batches)
        try:
            iterator = begin(self)
        finally:
            o.is_inside, o.is_reading = o.is_off or was_inside, False
        remember(iterator, batches)
        return iterator

    @functools.wraps(advance)
    def next_batch(self):
        if o.is_off or o.is_reading or threading.get_ident() != o.thread:
            return advance(self)
        batches = vars(self).get("_batches_of_dtctl")
        if batches is None:
            batches = remember(self, _Batches())
        was_inside, o.is_inside, o.is_reading = o.is_inside, True, True  # transforms may be modules
        o.asks_for_batch(batches)
        try:
            batch = advance(self)
        except StopIteration:
            o.has_no_batch(batches)
            raise
        finally:
            o.is_inside, o.is_reading = o.is_off or was_inside, False
        o.has_batch(batches, self, batch)
        return batch

    end_workers = _MultiProcessingDataLoaderIter._shutdown_workers

    @functools.wraps(end_workers)
    def shut_down(self):
        """Of a pass that the loop has left early."""
        if o.is_off or o.is_inside or o.is_reading or threading.get_ident() != o.thread:
            return end_workers(self)
        before = o.enters(LOADER)
        try:
            return end_workers(self)
        finally:
            o.leaves(before)

    _MultiProcessingDataLoaderIter._shutdown_workers = shut_down
    DataLoader.__iter__ = iterate
    _BaseDataLoaderIter.__next__ = next_batch


def _wrap_modules(o, torch, is_compiling):
    inner = torch.nn.Module.__call__

    @functools.wraps(inner)
    def call(self, *args, **kwargs):
        if o.is_inside or is_compiling() or threading.get_ident() != o.thread:
            return inner(self, *args, **kwargs)
        o.is_inside = True
        counting = o.enters_module(self, args, kwargs)
        try:
            if counting is None:
                return inner(self, *args, **kwargs)
            with counting:
                return inner(self, *args, **kwargs)
        finally:
            o.is_inside = o.is_off
            o.leaves_module()

    torch.nn.Module.__call__ = call


def _wrap_backward(o, torch):
    inner, grad = torch.autograd.backward, torch.autograd.grad

    def observed(tensors, is_backward, call, args, kwargs):
        was_inside, o.is_inside = o.is_inside, True
        o.enters_backward(tensors, is_backward)
        try:
            return call(tensors, *args, **kwargs)
        finally:
            o.is_inside = o.is_off or was_inside
            o.leaves_backward()

    @functools.wraps(inner)
    def backward(tensors, *args, **kwargs):
        if (o.is_off and not o.revives()) or o.in_backward or o.is_elsewhere(trains=True):
            return inner(tensors, *args, **kwargs)
        return observed(tensors, True, inner, args, kwargs)

    @functools.wraps(grad)
    def gradients(outputs, inputs, *args, **kwargs):
        """A backward pass if it derives by what is trained, and the derivative itself is not derived: as a penalty's is."""
        first = inputs[0] if isinstance(inputs, (list, tuple)) and inputs else inputs
        if o.is_inside or o.in_backward or id(first) not in o.trained or kwargs.get("create_graph") or o.is_elsewhere(trains=True):
            return grad(outputs, inputs, *args, **kwargs)
        return observed(outputs, False, grad, (inputs, *args), kwargs)

    torch.autograd.backward, torch.autograd.grad = backward, gradients


def _wrap_save(o, torch):
    inner = torch.save

    @functools.wraps(inner)
    def save(*args, **kwargs):
        if o.is_off or o.is_inside or threading.get_ident() != o.thread:
            return inner(*args, **kwargs)
        before = o.enters(CHECKPOINT)
        try:
            return inner(*args, **kwargs)
        finally:
            o.leaves(before)

    torch.save = save


def _wrap_optimizers(o, torch, is_compiling):
    from torch.optim.optimizer import Optimizer

    def watched(update, optimizer_of):
        @functools.wraps(update)
        def step(*args, **kwargs):
            if o.is_off or o.in_update or is_compiling() or threading.get_ident() != o.thread:
                if o.others and not o.is_off:
                    o.updates_elsewhere()
                return update(*args, **kwargs)
            optimizer = optimizer_of(*args, **kwargs)
            o.enters_update(optimizer)
            try:
                return update(*args, **kwargs)
            finally:
                if not o.recent.has_backward:
                    o.steps_without_backward(optimizer)
                o.leaves_update()

        step.is_watched_by_dtctl = True
        return step

    begin = Optimizer.__init__

    @functools.wraps(begin)
    def initialise(self, *args, **kwargs):
        begin(self, *args, **kwargs)
        owner = next((c for c in type(self).__mro__ if "step" in vars(c)), None)
        if owner is not None and not hasattr(vars(owner)["step"], "is_watched_by_dtctl"):
            owner.step = watched(vars(owner)["step"], lambda self, *_, **__: self)

    Optimizer.__init__ = initialise
    clear = Optimizer.zero_grad

    @functools.wraps(clear)
    def zero_grad(self, *args, **kwargs):
        if o.is_off or is_compiling() or threading.get_ident() != o.thread:
            return clear(self, *args, **kwargs)
        before = o.enters(OPTIMIZER)
        try:
            return clear(self, *args, **kwargs)
        finally:
            o.leaves(before)

    Optimizer.zero_grad = zero_grad

    # A scaler skips the optimizer's step where gradients overflowed. The samples were computed all the same, so it is a step.
    try:
        from torch.amp import GradScaler
    except ImportError:
        from torch.cuda.amp import GradScaler
    GradScaler.step = watched(GradScaler.step, lambda self, optimizer, *_, **__: optimizer)
    scale = GradScaler.scale

    @functools.wraps(scale)
    def scaled(self, outputs):
        result = scale(self, outputs)
        if isinstance(outputs, torch.Tensor):
            o.scales(outputs, result)
        return result

    GradScaler.scale = scaled
