"""Observes a PyTorch training from outside: steps, samples, loss, phases and communication of a script that nobody changed.

observe/sitecustomize.py imports this file in a run of dtctl when torch is imported, and calls watch(). It wraps the functions that
every loop goes through, whoever wrote the loop: batches of a DataLoader, the outermost module's call, backward passes, updates of
optimizers, and sums of gradients. docs/design/own-program.md has the rules: what a step is, what counts to which phase, and what
cannot be seen. What cannot be seen is reported as unknown.

An error in here never reaches the script: the observer says once on stderr what it cannot see, and is silent from then on.
"""

import atexit
import collections
import collections.abc
import functools
import importlib.util
import math
import os
import pathlib
import statistics
import sys
import threading
import time
import weakref

from dtctl_gradients import GradientTimes
from dtctl_timeline import Timeline

OTHER, INPUT, FORWARD, BACKWARD, COMMUNICATION, OPTIMIZER, EVALUATION = range(7)
HANDING_OVER = 7  # from a batch to the first use of a module: copies to the device
PHASE_NAMES = ("other", "input", "forward", "backward", "communication", "optimizer", "evaluation")
REPORTED = (INPUT, FORWARD, BACKWARD, COMMUNICATION, OPTIMIZER)  # in the order of dtctl_report.PHASES
MOST_AHEAD = 2  # batches that a loop may have read ahead of the one that it trains with
KEPT_STEPS = 1000  # of whose buckets means are made
LAST_WAIT_S = 10  # at the end of the program, for what a GPU still computes
FEW_NUMBERS = 64  # losses and counts of samples, whose sum over the ranks does not train a model
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


class _Mark:
    """The time at which a phase begins: on the host, and on the GPU's stream if there is one."""

    __slots__ = ("phase", "host_s", "event")

    def __init__(self, phase, host_s, event):
        self.phase, self.host_s, self.event = phase, host_s, event


class _Batches:
    """Batches of one pass through a DataLoader that were read and not trained with."""

    def __init__(self):
        self.iterator = None  # a weak reference: batches of a pass that is gone are trained with no more
        self.waiting = collections.deque()  # samples of each; None: unknown
        self.read = 0
        self.backwards = 0  # since the pass began
        self.ahead = None  # batches that are read ahead, known with the first update
        self.has_ended = self.is_ignored = False


class _Part:
    """What happened since the last batch was asked for, or since the last update: it belongs to the training or to an evaluation."""

    def __init__(self, begin, batches=None, is_fetch=False):
        self.begin = begin  # index in the marks
        self.batches, self.is_fetch = batches, is_fetch
        self.has_backward = self.has_evaluation = self.is_end = False


class _Recent:
    """What happened since the last update; the next update makes it a part of the step."""

    def __init__(self):
        self.has_backward = self.updates_in_backward = self.has_communication = False
        self.losses = []
        self.by_module = collections.Counter()  # samples of the forward passes of each module
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
        self.has_batches = self.has_unknown_samples = self.updates_in_backward = self.has_communication = False
        self.losses = []
        self.learning_rate = None
        self.by_module = collections.Counter()
        self.summed_numbers = 0
        self.buckets, self.gradients = [], []
        self.looked_at = []  # backward passes with the readiness of each gradient, in some steps
        self.is_counted, self.flops = True, 0

    def take(self, recent):
        self.is_counted &= recent.is_counted
        self.flops += recent.flops
        self.losses = recent.losses or self.losses
        self.buckets = recent.buckets or self.buckets
        self.gradients = recent.gradients or self.gradients
        self.by_module.update(recent.by_module)
        self.summed_numbers += recent.summed_numbers
        self.has_communication |= recent.has_communication
        self.updates_in_backward |= recent.updates_in_backward


def _guarded(method):
    """An error of the observer is told once and ends the observation."""

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
        self.pid, self.thread = os.getpid(), threading.main_thread().ident
        self.report = _own_report()
        self.seen_exchange, self.report._seen_exchange = self.report._seen_exchange, self._exchange
        self.timeline = Timeline(self.report.report_path()) if is_traced == "1" else None
        self.is_off = False
        self.is_inside = False  # of a module's call or a backward pass, whose inner calls do not count
        self.is_reading = self.in_backward = self.in_update = self.is_summing = False
        self.had_backward_in_update = False
        self.trouble = ""
        self.told = set()
        self.held = None  # reports that wait until it is known whether the script reports by itself
        self.is_claimed = self.has_begun = False
        self.steps = 0
        # FLOPs, counted in one early step.
        self.flops_module = _module("dtctl_flops", _FLOPS_FILE)
        self.counter = self.flops_module.Counter(torch)
        self.closed_steps = 0
        self.is_counting = False
        self.counted_step = None
        self.looked_into = weakref.WeakSet()  # modules that are not compiled
        self.flops_of_sample = None
        # The course of phases since the last boundary: of a step or of an evaluation.
        self.phase = self.base = OTHER  # base: the phase behind a forward pass's end
        self.marks = []
        self.part = None
        self.recent, self.step = _Recent(), _Step()
        self.evaluation_end = None  # index of the mark where the evaluation since the boundary has ended
        self.has_evaluation = False
        self.passes = []  # _Batches
        self.modules = weakref.WeakKeyDictionary()  # outermost modules that were called -> whether they have parameters
        self.latest_module = lambda: None  # of those with parameters, searched already
        self.searched = weakref.WeakSet()  # modules of the training, searched for those that communicate
        self.trained = {}  # ids of the parameters that optimizers hold -> their numbers
        self.trained_numbers = 0
        self.optimizers = weakref.WeakSet()
        self.unscaled = None  # the loss that a GradScaler has scaled, and what it became
        # Communication.
        self.unseen = ""  # why the waiting for other ranks is not known
        self.has_summed = False  # all gradients were summed over the ranks where it can be seen
        self.world = 1  # the largest number of ranks so far
        self.has_parallel = False  # DistributedDataParallel trains
        self.exchanges_in_forward = False  # a call of the script, so losses need not be those of this rank's batches
        self.exchanging_steps = 0  # in which the script has exchanged more than a few figures
        self.last_ready = None  # of the last bucket in this backward pass
        self.all_buckets = collections.deque(maxlen=KEPT_STEPS)  # of each step: (bytes, ready_s, lead_s)
        self.hidden_s = collections.deque(maxlen=KEPT_STEPS)
        self.hooks = weakref.WeakKeyDictionary()  # DistributedDataParallel -> _Hook
        self.bucket_sizes = []  # bytes
        self.gradient_times = GradientTimes(torch, lambda: self.now(OTHER), self._between)
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
        os.register_at_fork(after_in_child=self._leave_child)
        hook = sys.excepthook  # that of self.report, which reports the error and calls the one before

        def excepthook(kind, value, trace):
            hook(kind, value, _without_own_frames(value, trace))

        sys.excepthook = excepthook

    def _leave_child(self):
        """A process that the script forks, such as a worker of a DataLoader, reports nothing."""
        self.is_off = self.is_inside = True
        self.report._write = lambda *_: None

    def fail(self, error):
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        where = f"line {frame.tb_lineno} of dtctl_observe.py" if frame else "dtctl_observe.py"
        self.trouble = f"{type(error).__name__}: {error} ({where})"
        self.tell(f"observes no further step, because of an error of its own: {self.trouble}. The program goes on")
        self.be_silent()

    def be_silent(self):
        self.is_off = self.is_inside = True
        self.pending.clear()

    def tell(self, what):
        """Once, on rank 0 for all ranks."""
        if what in self.told or os.environ.get("RANK", "0") != "0":
            return
        self.told.add(what)
        try:
            print(f"dtctl: the observer of this program {what}.", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            pass

    def yields(self):
        """Whether the script reports its steps by itself, or another process of this rank is observed."""
        script = sys.modules.get("dtctl_report")
        if "dtctl_sync" in sys.modules or (script is not None and (script._step > 0 or script._mark is not None)):
            self.held = None
            self.be_silent()
        elif not self.is_claimed:
            self.is_claimed = True
            if script is not None:
                self.held = []
            if not _claim(self.report):
                self.tell("sees that another process of this rank trains too, and reports the steps of that one")
                self.be_silent()
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
        return _Mark(phase, time.monotonic(), event)

    def mark(self, phase):
        if phase != self.phase or not self.marks:
            self.marks.append(self.now(phase))
            self.phase = phase

    def force_mark(self, phase):
        self.marks.append(self.now(phase))
        self.phase = phase

    # ---- input ----

    @_guarded
    def asks_for_batch(self, batches):
        """The script asks a DataLoader for a batch (or for a pass through its data)."""
        self._end_part()
        if self.step.end is not None:
            self._close_step()
            if self.is_off:
                return
        self.force_mark(INPUT)
        self.part = _Part(len(self.marks) - 1, batches, True)

    @_guarded
    def has_batch(self, batches, batch):
        self.mark(HANDING_OVER)
        batches.read += 1
        batches.waiting.append(_samples(batch, self.torch))
        if batches.read == 1:
            self.passes.append(batches)

    @_guarded
    def has_no_batch(self, batches):
        batches.has_ended = True
        if batches.backwards == 0:
            batches.is_ignored = True  # everything was read in advance
        if self.part is not None:
            self.part.is_end = True
        self.mark(OTHER)

    def _end_part(self):
        """Decides whether what happened since the part's begin was an evaluation."""
        part = self.part
        if part is None or part.has_backward:
            return
        if part.has_evaluation:
            self.has_evaluation, self.evaluation_end = True, None
            if part.batches is not None and part.is_fetch:
                part.batches.is_ignored = True
        elif self.has_evaluation and self.evaluation_end is None and part.is_fetch and not part.is_end:
            self.evaluation_end = part.begin  # batches that are read ahead for the training

    # ---- forward, backward, update ----

    @_guarded
    def enters_module(self, module, args, kwargs):
        """Returns the context that counts the FLOPs of this call; None: they are not counted."""
        self._enter_module(module, args, kwargs)
        if not self.is_counting or self.phase == EVALUATION or self.counter.why:
            return None
        if module not in self.looked_into and not self.counter.can_look_into(module):
            return None
        self.looked_into.add(module)
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
                self.part = _Part(len(self.marks) - 1)
            else:
                self.mark(FORWARD)
            if module.training:
                self._count_forward(module, args, kwargs)
            elif part.is_fetch:
                part.has_evaluation = True  # unless a backward pass follows
        elif part.is_fetch or (self._is_trained(module) and not module.training):
            part.has_evaluation = True
            self.mark(EVALUATION)
        elif self.phase in (OTHER, HANDING_OVER):
            self.mark(FORWARD)

    @_guarded
    def leaves_module(self):
        if self.phase == EVALUATION:
            self.mark(OTHER)

    def _look_at(self, module):
        if self.latest_module() is module:
            return True
        known = self.modules.get(module)
        if known is None:
            first = next(module.parameters(), None)
            known = self.modules[module] = first is not None
            if known:
                self._use_device(first.device)
        if known and module not in self.searched and self.torch.is_grad_enabled():
            self.searched.add(module)
            _look_for_communication(self, module, self.torch)
        if known and module in self.searched:
            self.latest_module = weakref.ref(module)
        return known

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
        samples = _samples([args, kwargs] if kwargs else args, self.torch)
        self.recent.by_module[id(module)] += math.nan if samples is None else samples

    @_guarded
    def enters_backward(self, tensors):
        self.mark(BACKWARD)
        if self.part is None:
            self.part = _Part(len(self.marks) - 1)
        if self.has_evaluation and self.step.end is not None:
            self._close_step()
        if self.is_off or (not self.has_begun and not self._begin()):
            return
        if self.has_evaluation and not self.recent.has_backward:
            self._end_evaluation()
        self.part.has_backward = self.recent.has_backward = True
        for batches in self.passes:
            batches.backwards += 1
        if self.is_counting and not self.counter.why:
            self.counter.look_at_graph(tensors)
        self._take_loss(tensors)
        self.in_backward, self.last_ready, self.recent.buckets, self.recent.gradients = True, None, [], []
        self.gradient_times.begins_backward(self.marks[-1])
        self.had_backward_in_update = self.in_update

    @_guarded
    def leaves_backward(self):
        if not self.in_backward:
            return
        self.in_backward = False
        ready = self.last_ready
        if ready is not None:
            self.marks.append(ready)
            self.phase = COMMUNICATION
            self.recent.has_communication = bool(self.recent.buckets) or any(m.require_backward_grad_sync for m in self.hooks)
        self.force_mark(self.base)
        self.gradient_times.ends_backward(ready or self.marks[-1])
        if self.recent.updates_in_backward:
            self._end_update()

    def _take_loss(self, tensors):
        loss = tensors[0] if isinstance(tensors, (tuple, list)) and tensors else tensors
        if self.unscaled is not None and loss is self.unscaled[0]:
            loss = self.unscaled[1]
        self.unscaled = None
        if not isinstance(loss, self.torch.Tensor) or loss.numel() != 1:
            return
        if self.in_update:
            self.recent.losses = []  # of the last call of the closure alone
        if loss.is_cuda:
            if self.slots is None:
                self.slots = self.torch.zeros(1024, dtype=self.torch.float32, device="cpu", pin_memory=True)
            self.slot = (self.slot + 1) % len(self.slots)
            place = self.slots[self.slot]
            place.copy_(loss.detach().reshape(()), non_blocking=True)  # read when the GPU has passed the end of the step
            self.recent.losses.append(place)
        elif loss.device.type == "cpu":
            self.recent.losses.append(loss.item())

    @_guarded
    def scales(self, tensor, scaled):
        self.unscaled = (scaled, tensor)

    @_guarded
    def enters_update(self, optimizer):
        if optimizer not in self.optimizers:
            self.optimizers.add(optimizer)
            for group in optimizer.param_groups:
                self.trained.update((id(p), p.numel()) for p in group["params"])
            self.trained_numbers = sum(self.trained.values())
        if self.in_backward:
            self.recent.updates_in_backward = True
            return
        if self.step.end is not None and id(optimizer) in self.step.updated:
            self._close_step()
            if self.is_off:
                return
        self.step.updated.add(id(optimizer))
        rate = optimizer.param_groups[0].get("lr") if optimizer.param_groups else None
        self.step.learning_rate = rate if isinstance(rate, (int, float)) else None
        self.in_update, self.had_backward_in_update, self.base = True, False, OPTIMIZER
        self.mark(OPTIMIZER)
        if self.part is None:
            self.part = _Part(len(self.marks) - 1)

    @_guarded
    def leaves_update(self):
        if not self.in_update:
            return
        self.in_update, self.base = False, OTHER
        self.force_mark(OTHER)
        if self.recent.has_backward or self.step.end is not None:  # else no gradient was computed
            self._end_update()

    @_guarded
    def enters(self, phase):
        """Something else that takes time: clearing gradients, a sum over the ranks. Returns the phase before."""
        before = self.phase
        if self.marks and not self.in_backward:
            self.mark(phase)
        return before

    @_guarded
    def leaves(self, before):
        if self.marks and before is not None and not self.in_backward:
            self.mark(before)

    @_guarded
    def sums(self, tensors):
        self.recent.summed_numbers += _numbers(tensors, self.torch)

    @_guarded
    def exchanges(self, arguments):
        """A collective of the script begins."""
        numbers = _numbers(arguments, self.torch)
        self.recent.exchanged_numbers += numbers
        if numbers > 0 and (self.in_backward or self.phase in (HANDING_OVER, FORWARD)):
            self.exchanges_in_forward = True

    def _end_update(self):
        step = self.step
        self.exchanging_steps += self.recent.exchanged_numbers > FEW_NUMBERS
        step.end = len(self.marks) - 1
        if self.is_counting:
            self.recent.flops = self.counter.take()
        step.take(self.recent)
        self.recent = _Recent()
        self.recent.is_counted = self.is_counting
        self._take_samples()
        self.part = _Part(step.end)

    def _take_samples(self):
        """The batches that this update has trained with: all that were read, without those that the loop reads ahead."""
        step = self.step
        for batches in list(self.passes):
            if batches.ahead is None:
                batches.ahead = max(0, batches.read - batches.backwards)
                batches.is_ignored = batches.is_ignored or batches.ahead > MOST_AHEAD
            if batches.is_ignored or batches.iterator() is None:
                self.passes.remove(batches)
                continue
            ahead = 0 if batches.has_ended else batches.ahead
            while len(batches.waiting) > ahead:
                samples = batches.waiting.popleft()
                step.has_batches = True
                if samples is None:
                    step.has_unknown_samples = True
                else:
                    step.samples += samples
                if batches.has_ended and batches.ahead > 0:
                    break  # one for each update that is left

    # ---- boundaries ----

    def _begin(self):
        """The training begins with the part that has the first backward pass."""
        if self.yields():
            return False
        self.marks = self.marks[self.part.begin :]
        self.part.begin = 0
        self.has_evaluation, self.evaluation_end = False, None
        self.has_begun = True
        self._later("begin", [self.marks[0]])
        return True

    def _end_evaluation(self):
        """Leaves the evaluation since the last boundary out of the step that begins now."""
        end = self.part.begin if self.evaluation_end is None else self.evaluation_end
        if end > 0:
            self._later("evaluation", [self.marks[0], self.marks[end]])
        self.marks = self.marks[end:]
        self.part.begin -= end
        self.has_evaluation, self.evaluation_end = False, None

    def _close_step(self):
        """The step ends with its last update; what came after it belongs to the next step, or to an evaluation."""
        step, end = self.step, self.step.end
        if self.yields():
            return
        marks, self.marks = self.marks[: end + 1], self.marks[end:]
        if self.part is not None:
            self.part.begin = max(0, self.part.begin - end)
        self.step = _Step()
        step.looked_at = self.gradient_times.begins_step(self.optimizers, self.modules)
        self._count_flops(step)
        self._later("step", marks, step)
        self._resolve()

    def _count_flops(self, closed):
        """Begins to count after the first steps, and ends when a step was counted whole."""
        self.closed_steps += 1
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
        if not self.marks:
            self.force_mark(OTHER)
        self.force_mark(OTHER)
        self._later("evaluation", [self.marks[0], self.marks[-1]], (accuracy, loss, samples))
        self.marks, self.part = self.marks[-1:], _Part(0)
        self.has_evaluation, self.evaluation_end = False, None
        return True

    # ---- reports ----

    def _later(self, kind, marks, what=None):
        if marks[-1].event is None and not self.pending:
            self._write(kind, marks, what)
        else:
            self.pending.append((kind, marks, what))

    def _resolve(self):
        while self.pending and self._is_passed(self.pending[0][1][-1]):
            self._write(*self.pending.popleft())

    @staticmethod
    def _is_passed(mark):
        return mark.event is None or mark.event.query()

    @staticmethod
    def _between(a, b):
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
            clock_s = mark.host_s if last.event is None or mark.event is None else last_s + self._between(last, mark)
            clock_s = max(mark.host_s if math.isnan(clock_s) else clock_s, last_s)
        self.clock = (mark, clock_s)
        return clock_s

    def _write(self, kind, marks, what):
        clock_s = self._clock_of(marks[-1])
        if kind == "begin":
            if self.attempt == 1:  # a later attempt may go on from a checkpoint, at a step that nobody knows
                self.write(self.report.begin, at=clock_s)
        elif kind == "evaluation":
            accuracy, loss, samples = what or (None, None, None)
            self.write(self.report.evaluation, accuracy, loss, samples, at=clock_s)
        else:
            self._write_step(marks, what, clock_s)
        self.pool.extend(m.event for m in marks[:-1] if m.event is not None and m is not self.clock[0])

    def _write_step(self, marks, step, clock_s):
        seconds, begun = [0.0] * 8, set()
        for begin, end in zip(marks, marks[1:]):
            seconds[begin.phase] += self._between(begin, end)
            begun.add(begin.phase)
        seconds[FORWARD] += seconds[EVALUATION]  # a pass without gradients within a step, of a teacher for example
        if FORWARD in begun:
            seconds[INPUT] += seconds[HANDING_OVER]
        if step.updates_in_backward:
            begun.discard(OPTIMIZER)
        world = _world_size(self.torch)
        self.world = max(self.world, world)
        if self._is_communication_seen(step, world):
            begun.add(COMMUNICATION)
        self.steps += 1
        figure, report = self.report._figure, self.report
        mark, report._mark, report._step = report._mark, clock_s, self.steps
        length = "-" if mark is None else "%.7f" % (clock_s - mark)
        loss = figure(sum(map(float, step.losses)) if step.losses else None)
        samples = self._samples_of(step, world)
        if step is self.counted_step and samples and step.flops > 0:
            self.flops_of_sample = step.flops / samples
        phases = ["%.7f" % seconds[phase] if phase in begun and seconds[phase] == seconds[phase] else "-" for phase in REPORTED]
        figures = (clock_s, length, figure(samples), loss, figure(step.learning_rate), " ".join(phases))
        self.write(report._write, "step", self.steps, "%.7f %s %s %s %s - %s" % figures)
        if report._is_looked_at(self.steps):
            self.write(report._report_exchange, self._exchange())
        self._take_buckets(step, marks)
        if self.timeline:
            self._draw(step, marks, clock_s)

    def _draw(self, step, marks, clock_s):
        """Adds the step to the timeline: its phases, and in some steps when each gradient was ready."""
        first, lengths = marks[0], [self._between(begin, end) for begin, end in zip(marks, marks[1:])]
        begin_s = at_s = clock_s - sum(lengths)
        if not begin_s < clock_s:
            return
        self.timeline.add("step", "training", begin_s, clock_s, self.steps)
        for mark, length_s in zip(marks, lengths):
            phase = INPUT if mark.phase == HANDING_OVER else mark.phase
            if phase != OTHER:
                self.timeline.add(PHASE_NAMES[phase], "training", at_s, at_s + length_s, self.steps)
            at_s += length_s
        for begin, _, ready in step.looked_at:
            before_s = begin_s + self._between(first, begin)
            for parameter, mark in ready.items():
                bytes_, name = self.gradient_times.sizes[parameter]
                ready_s = begin_s + self._between(first, mark)
                self.timeline.add(name, "gradients", before_s, ready_s, self.steps, bytes_)
                before_s = ready_s

    def _samples_of(self, step, world):
        if self._is_partly_seen(world):
            return None
        if step.has_batches:
            return None if step.has_unknown_samples else step.samples
        counts = set(step.by_module.values())
        if len(counts) == 1 and not any(map(math.isnan, counts)):
            return counts.pop()
        self.tell("cannot see how many samples a step has: no DataLoader, and modules that got different numbers")
        return None

    def _is_partly_seen(self, world):
        """Whether the training has ranks that dtctl did not start."""
        if world <= max(1, self.ranks):
            return False
        self.tell(f"sees one of {world} ranks, but dtctl has started {self.ranks}; the samples of the others are not known")
        return True

    # ---- communication ----

    def _is_communication_seen(self, step, world):
        if self.ranks == 1 and world == 1:
            return True
        numbers = self.trained_numbers
        if step.has_communication or (numbers > 0 and 2 * step.summed_numbers >= numbers):
            self.has_summed = True
        if self.unseen or not self.has_summed:
            self.tell(f"cannot see how long ranks wait for each other: {self.unseen or 'gradients are summed in a way that it does not know'}")
            return False
        return True

    def _exchange(self):
        """The word of jobs/program/exchange.hpp: how this rank exchanges anything with others."""
        script = sys.modules.get("dtctl_report")
        if script is not None and script._phase_s.get("communication"):
            return "some"  # through files, for example
        if self.world <= 1:
            return self.seen_exchange()
        is_split = any(type(p).__name__ == "DTensor" for o in self.optimizers for group in o.param_groups for p in group["params"])
        if self.exchanges_in_forward or is_split:
            return "some"
        is_idle = self.exchanging_steps <= 1 and not self.has_parallel and not self.has_summed  # once: the weights at the begin
        return "idle" if is_idle else "gradients"

    def bucket_is_ready(self, gradients):
        """DistributedDataParallel has the gradients of a bucket, in a thread of autograd. Returns where its end is to be noted."""
        if self.is_off or not self.in_backward:
            return None
        try:
            self.last_ready = self.now(COMMUNICATION)
            bucket = [gradients.numel() * gradients.element_size(), self.last_ready, None]
            self.recent.buckets.append(bucket)
            return bucket
        except Exception as error:
            return self.fail(error)

    def gradient_is_ready(self, bytes_, *_):
        """Autograd has accumulated the gradient of a parameter of DistributedDataParallel."""
        if self.is_off or not self.in_backward:
            return
        try:
            self.last_ready = self.now(COMMUNICATION)
            self.recent.gradients.append((bytes_, self.last_ready))
        except Exception as error:
            self.fail(error)

    def bucket_is_summed(self, bucket):
        if bucket is None or self.is_off:
            return
        try:
            bucket[2] = self.now(OTHER)
        except Exception as error:
            self.fail(error)

    def _take_buckets(self, step, marks):
        """When each bucket was ready, and how long sums went on beside the rest of the backward pass."""
        if step.gradients and not step.buckets and not self.bucket_sizes and self.steps == 2:
            self.bucket_sizes = _bucket_sizes(self.hooks)
        if step.gradients and not step.buckets:
            step.buckets = _buckets_of(step.gradients, self.bucket_sizes)
        if not step.buckets or self.steps <= 1:  # DistributedDataParallel forms its buckets anew after the first pass
            return
        begin = next((m for m in marks if m.phase in (INPUT, FORWARD)), marks[0])
        last = step.buckets[-1][1]
        self.all_buckets.append([(b, self._between(begin, ready), self._between(ready, last)) for b, ready, _ in step.buckets])
        hidden, until = 0.0, 0.0
        for _, ready, done in step.buckets:
            if done is None or not self._is_passed(done):
                return
            from_s, to_s = self._between(begin, ready), min(self._between(begin, done), self._between(begin, last))
            hidden += max(0.0, to_s - max(from_s, until))
            until = max(until, to_s)
        self.hidden_s.append(hidden)

    def _report_communication(self):
        if os.environ.get("RANK", "0") != "0" or not self.all_buckets:
            return
        shapes = collections.Counter(tuple(b for b, _, _ in step) for step in self.all_buckets)
        usual = shapes.most_common(1)[0][0]
        steps = [step for step in self.all_buckets if tuple(b for b, _, _ in step) == usual]
        for i, bytes_ in enumerate(usual):
            ready, lead = (statistics.fmean(step[i][k] for step in steps) for k in (1, 2))
            self.write(self.report._write, "bucket", bytes_, repr(ready), repr(lead))
        if self.hidden_s:
            hidden = 1000 * statistics.median(self.hidden_s)
            self._fact("communication hidden behind the backward pass", f"{hidden:.3g} ms of a step (median)")

    def _why_no_flops(self):
        """Why the FLOPs of a sample are not known; empty if they are."""
        if self.counter.why:
            return self.counter.why
        if self.flops_of_sample is None:
            return "no step was counted whole, or its samples are not known" if self.closed_steps > UNCOUNTED_STEPS else "too few steps"
        if _world_size(self.torch) > 1 and not self.has_summed and "DataParallel" not in self.unseen:
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
        self._fact("FLOPs of a sample", f"not known: {why}" if why else f"counted in one step: {counter.words()}")
        rate = None if rate is None or math.isnan(rate) else rate
        self.write(self.report._write, "flops", figure(None if why else self.flops_of_sample), precision or "-", figure(rate), name)

    def _fact(self, name, text):
        self.write(self.report._write, "choice", f"{name}\t{text}")

    # ---- the end ----

    def finish(self):
        """At the end of the program, after an error too."""
        if os.getpid() != self.pid or (self.is_off and not self.trouble):
            return
        try:
            if not self.is_off:
                self._finish_steps()
            if self.is_off and not self.trouble:
                return
            if not self.steps:
                if _is_first_of_rank(self.report) and not self.report._has_failed:
                    self.tell("saw no step: in this process no optimizer has stepped after a backward pass")
            elif not self.report._has_failed:
                self._finish_report()
            self.release()
        except Exception as error:
            self.fail(error)

    def _finish_steps(self):
        self._end_part()
        if self.step.end is not None and not self.report._has_failed:
            self._close_step()
        until = time.monotonic() + (0 if self.report._has_failed else LAST_WAIT_S)
        while self.pending and not self.is_off:
            self._resolve()
            if time.monotonic() > until:
                break
            time.sleep(0.001)
        if self.has_evaluation and not self.is_off and not self.pending:
            ends = [i for i, (a, b) in enumerate(zip(self.marks, self.marks[1:]), 1) if a.phase == EVALUATION]
            if ends and self.has_begun:
                self._write("evaluation", [self.marks[0], self.marks[ends[-1]]], None)

    def _finish_report(self):
        self._fact("observed", f"PyTorch {self.torch.__version__}" + (f"; stopped at step {self.steps}: {self.trouble}" if self.trouble else ""))
        if self.unseen:
            self._fact("communication that could not be observed", self.unseen)
        self._report_communication()
        if self.timeline:
            self.timeline.write()
        for bytes_, lead_s, name in self.gradient_times.lines():
            self.write(self.report._write, "gradient", bytes_, repr(lead_s), name)
        self._report_flops()
        self.release()
        self.report.result(parameters=self.trained_numbers if not self.unseen else None)


def _claim(report):
    """Whether this process is the one of its rank that reports. A launcher may start several."""
    try:
        import fcntl

        claim = os.open(report.report_path(), os.O_WRONLY | os.O_APPEND)
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until the process ends
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return True


def _is_first_of_rank(report):
    """Whether dtctl or the program's launcher has started this process itself, and no process that this one has started was
    observed."""
    lines = pathlib.Path(report.report_path()).read_text(errors="replace").splitlines()
    begun = {line.split(" ", 1)[0] for line in lines}
    own = str(os.getppid() if os.environ.get("DTCTL_LAUNCHER") else os.getpid())
    return "step" not in begun and any(line.split()[2:3] == [own] for line in lines if line.startswith("rank "))


def _bucket_sizes(modules):
    """Of DistributedDataParallel after its first pass, in bytes; empty if it does not tell."""
    for module in modules:
        try:
            data = module._get_ddp_logging_data()
            text = data.get("rebuilt_bucket_sizes") or data.get("bucket_sizes") or ""
            return [int(word) for word in text.replace(",", " ").split()]
        except Exception:  # an interface of torch's own
            return []
    return []


def _buckets_of(gradients, sizes):
    """[bytes, ready, none]: buckets hold gradients in the order in which those became ready."""
    buckets, left = [], list(gradients)
    if sum(sizes) != sum(bytes_ for bytes_, _ in gradients):
        return []
    for size in sizes:
        taken, ready = 0, None
        while left and taken < size:
            bytes_, ready = left.pop(0)
            taken += bytes_
        if taken != size:
            return []
        buckets.append([size, ready, None])
    return buckets


def _world_size(torch):
    dist = torch.distributed
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def _samples(batch, torch):
    """The samples of a batch: the leading dimension of its tensors. None: unknown."""
    tensors = []
    _gather_tensors(batch, torch, tensors, 4)
    lengths = {t.shape[0] for t in tensors}
    if len(lengths) == 1:
        return lengths.pop()
    first = batch
    while isinstance(first, (tuple, list)) and len(first) > 0 and isinstance(first[0], (tuple, list)):
        first = first[0]
    if isinstance(first, (tuple, list)) and first is not batch:
        return len(first)  # of images of different sizes, for example
    return tensors[0].shape[0] if tensors else None


def _gather_tensors(value, torch, tensors, depth):
    if isinstance(value, torch.Tensor):
        if value.dim() > 0:
            tensors.append(value)
    elif depth > 0 and len(tensors) < 16:
        if isinstance(value, (tuple, list)):
            for each in value[:16]:
                _gather_tensors(each, torch, tensors, depth - 1)
        elif isinstance(value, collections.abc.Mapping):
            for each in list(value.values())[:16]:
                _gather_tensors(each, torch, tensors, depth - 1)


def _without_own_frames(value, trace, seen=None):
    """The trace of an uncaught exception as it would be without the observer."""
    seen = set() if seen is None else seen
    if value is not None and id(value) not in seen:
        seen.add(id(value))
        for other in (value.__cause__, value.__context__):
            if other is not None:
                other.__traceback__ = _without_own_frames(other, other.__traceback__, seen)
    own = (_FILE, _FLOPS_FILE)
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
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
    _wrap_input(observer)
    _wrap_modules(observer, torch, is_compiling)
    _wrap_backward(observer, torch)
    _wrap_optimizers(observer, torch, is_compiling)
    if torch.distributed.is_available():
        _wrap_collectives(observer, torch, is_compiling)
        _wrap_data_parallel(observer, torch)


def _wrap_input(o):
    from torch.utils.data import DataLoader
    from torch.utils.data.dataloader import _BaseDataLoaderIter

    begin, advance = DataLoader.__iter__, _BaseDataLoaderIter.__next__

    def remember(iterator, batches):
        batches.iterator = weakref.ref(iterator)
        vars(iterator)["_batches_of_dtctl"] = batches
        return batches

    @functools.wraps(begin)
    def iterate(self):
        if o.is_off or o.is_reading or threading.get_ident() != o.thread:
            return begin(self)
        batches = _Batches()
        was_inside, o.is_inside, o.is_reading = o.is_inside, True, True  # transforms may be modules
        o.asks_for_batch(batches)
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
        o.has_batch(batches, batch)
        return batch

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
    inner = torch.autograd.backward

    @functools.wraps(inner)
    def backward(tensors, *args, **kwargs):
        if o.is_off or o.in_backward or threading.get_ident() != o.thread:
            return inner(tensors, *args, **kwargs)
        was_inside, o.is_inside = o.is_inside, True
        o.enters_backward(tensors)
        try:
            return inner(tensors, *args, **kwargs)
        finally:
            o.is_inside = o.is_off or was_inside
            o.leaves_backward()

    torch.autograd.backward = backward


def _wrap_optimizers(o, torch, is_compiling):
    from torch.optim.optimizer import Optimizer

    def watched(update, optimizer_of):
        @functools.wraps(update)
        def step(*args, **kwargs):
            if o.is_off or o.in_update or is_compiling() or threading.get_ident() != o.thread:
                return update(*args, **kwargs)
            o.enters_update(optimizer_of(*args, **kwargs))
            try:
                return update(*args, **kwargs)
            finally:
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


_COLLECTIVES = """all_reduce reduce broadcast all_gather all_gather_into_tensor _all_gather_base gather scatter reduce_scatter
reduce_scatter_tensor _reduce_scatter_base all_to_all all_to_all_single all_reduce_coalesced all_gather_coalesced barrier send recv isend
irecv batch_isend_irecv""".split()
_REDUCING = ("all_reduce", "reduce", "reduce_scatter", "reduce_scatter_tensor", "_reduce_scatter_base", "all_reduce_coalesced")


def _numbers(tensors, torch):
    if isinstance(tensors, torch.Tensor):
        return tensors.numel()
    return sum(_numbers(each, torch) for each in tensors) if isinstance(tensors, (tuple, list)) else 0


def _wrap_collectives(o, torch, is_compiling):
    from torch.distributed import distributed_c10d

    def watched(name, inner):
        never_waits = name in ("isend", "irecv", "batch_isend_irecv")

        @functools.wraps(inner)
        def collective(*args, **kwargs):
            if not o.is_summing and threading.get_ident() == o.thread:
                o.exchanges([*args, *kwargs.values()])
            if o.is_off or o.in_backward or o.is_summing or is_compiling() or threading.get_ident() != o.thread:
                return inner(*args, **kwargs)
            if never_waits or kwargs.get("async_op"):
                o.unseen = o.unseen or f"it does not see where the program waits for torch.distributed.{name}" + ("" if never_waits else "(async_op=True)")
                return inner(*args, **kwargs)
            o.is_summing, before = True, o.enters(COMMUNICATION)
            try:
                return inner(*args, **kwargs)
            finally:
                o.is_summing = False
                o.leaves(before)
                if name in _REDUCING:
                    o.sums(args[0] if args else next(iter(kwargs.values()), None))

        return collective

    for name in _COLLECTIVES:
        inner = getattr(distributed_c10d, name, None)
        if inner is not None:
            outer = watched(name, inner)
            setattr(distributed_c10d, name, outer)
            if hasattr(torch.distributed, name):
                setattr(torch.distributed, name, outer)


class _Hook:
    """The hook by which DistributedDataParallel sums a bucket: that of the script, or else what it does without a hook."""

    def __init__(self, state, function, notes_end=False):
        self.state, self.function, self.notes_end = state, function, notes_end
        self.accumulators = []  # kept, because autograd does not keep them


def _wrap_data_parallel(o, torch):
    Parallel = torch.nn.parallel.DistributedDataParallel
    register, register_builtin, join = Parallel.register_comm_hook, Parallel._register_builtin_comm_hook, Parallel.join

    def of_hook(hook):
        def watched(state, bucket):
            noted = o.bucket_is_ready(bucket.buffer())
            o.is_summing, was_summing = True, o.is_summing
            try:
                future = hook.function(hook.state, bucket)
            finally:
                o.is_summing = was_summing
            if not hook.notes_end:
                return future

            def done(future):
                o.bucket_is_summed(noted)
                return future.value()[0]

            return future.then(done)

        return watched

    @functools.wraps(register)
    def register_comm_hook(self, state, hook):
        if o.is_off or not callable(hook):
            return register(self, state, hook)
        if self in o.hooks and o.hooks[self].function is not None:  # ours, which took the place of none
            o.hooks[self].state, o.hooks[self].function, o.hooks[self].notes_end = state, hook, False
            return None
        wrapped = o.hooks[self] = _Hook(state, hook)
        return register(self, state, functools.wraps(hook)(of_hook(wrapped)))

    @functools.wraps(register_builtin)
    def register_builtin_comm_hook(self, *args, **kwargs):
        o.unseen = "DistributedDataParallel has one of its built-in hooks"
        return register_builtin(self, *args, **kwargs)

    @functools.wraps(join)
    def join_(self, *args, **kwargs):
        if self not in o.hooks:
            o.unseen = "DistributedDataParallel.join() lets ranks end early"
        return join(self, *args, **kwargs)

    def install(module):
        """Of a module without a hook of the script."""
        group = module.process_group
        backend, is_on_gpu = torch.distributed.get_backend(group), next(module.parameters()).is_cuda
        if backend != "nccl" and not (backend == "undefined" and is_on_gpu):
            # Gloo ends its sums in a thread of its own. A hook would make it need Python, which aborts a program that ends just then.
            o.hooks[module] = _Hook(None, None)
            for parameter in module.parameters():
                if parameter.requires_grad:
                    accumulator = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
                    accumulator.register_hook(functools.partial(o.gradient_is_ready, parameter.numel() * parameter.element_size()))
                    o.hooks[module].accumulators.append(accumulator)
            return
        from torch.distributed.distributed_c10d import all_reduce

        share = 1.0 / group.size()

        def sum_of_bucket(_, bucket):
            """As DistributedDataParallel does without a hook: the gradients times 1 / ranks, then their sum."""
            gradients = bucket.buffer().mul_(share)
            return all_reduce(gradients, group=group, async_op=True).get_future()

        hook = _Hook(None, sum_of_bucket, notes_end=True)
        register(module, None, of_hook(hook))
        o.hooks[module] = hook

    o.install = install
    Parallel.register_comm_hook, Parallel._register_builtin_comm_hook, Parallel.join = register_comm_hook, register_builtin_comm_hook, join_


def _look_for_communication(o, module, torch):
    """Finds what sums gradients in a module that the training calls for the first time."""
    if not torch.distributed.is_available() or _world_size(torch) == 1:
        return
    Parallel = torch.nn.parallel.DistributedDataParallel
    parts = list(module.modules())
    is_sparse = any(getattr(part, "sparse", False) is True for part in parts)
    for part in parts:
        if any(c.__name__ in ("FullyShardedDataParallel", "FSDPModule") for c in type(part).__mro__):
            o.unseen = "FullyShardedDataParallel communicates beside the computation"
        o.has_parallel = o.has_parallel or isinstance(part, Parallel)
        if not isinstance(part, Parallel) or part in o.hooks or o.unseen:
            continue
        backend = torch.distributed.get_backend(part.process_group)
        if is_sparse or getattr(part, "mixed_precision", None) is not None:
            o.unseen = "DistributedDataParallel sums " + ("sparse gradients" if is_sparse else "in a precision of its own")
        elif backend not in ("gloo", "nccl", "undefined"):  # undefined: gloo for hosts and nccl for GPUs
            o.unseen = f"DistributedDataParallel sums by the backend {backend}"
        if o.unseen:
            continue
        o.install(part)
