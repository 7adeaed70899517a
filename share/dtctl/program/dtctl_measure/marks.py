"""Phases of a step, the marks where they begin, and the clock that reads the marks: the host's, or events on a GPU's stream."""

import math
import time
import weakref

OTHER, INPUT, FORWARD, BACKWARD, COMMUNICATION, OPTIMIZER, EVALUATION = range(7)
HANDING_OVER = 7  # from a batch to the first use of a module: copies to the device
AFTER_FORWARD = 8  # behind a forward pass: of the loss function if a backward pass follows, else outside of all phases
LOADER, CHECKPOINT, PAUSE = 9, 10, 11  # between epochs: a DataLoader opens or ends, torch.save(), all else
EVALUATED, REPORTED_EVALUATION = 12, 13  # an evaluation, which is left out of the step; the latter stands in the report already
PHASES = 14
PHASE_NAMES = {INPUT: "input", FORWARD: "forward", BACKWARD: "backward", COMMUNICATION: "communication", OPTIMIZER: "optimizer",
               EVALUATION: "evaluation", HANDING_OVER: "input", LOADER: "loader", CHECKPOINT: "checkpoint", PAUSE: "between epochs",
               EVALUATED: "evaluation", REPORTED_EVALUATION: "evaluation"}
REPORTED = {phase: PHASE_NAMES[phase] for phase in (INPUT, FORWARD, BACKWARD, COMMUNICATION, OPTIMIZER)}  # dtctl_report.PHASES


class Mark:
    """The time at which a phase begins: on the host, and on the GPU's stream if there is one."""

    __slots__ = ("phase", "host_s", "event")

    def __init__(self, phase, host_s, event):
        self.phase, self.host_s, self.event = phase, host_s, event

    def is_passed(self):
        """Whether the GPU has come so far; its times are known then."""
        return self.event is None or self.event.query()

    def wait(self):
        """Until the GPU has come so far."""
        if self.event is not None:
            self.event.synchronize()


class Clock:
    """Makes marks, and reads them when they are passed. Its time is that of the host; on a GPU the times between its events are added
    up from the first mark."""

    def __init__(self, torch):
        self._torch, self.device = torch, None  # the device: a GPU
        self._pool = []  # events that are free
        self._last = None  # the last mark that was read, and its time

    def now(self, phase=OTHER):
        event = None
        if self.device is not None and not self._torch.cuda.is_current_stream_capturing():
            event = self._pool.pop() if self._pool else self._torch.cuda.Event(enable_timing=True)
            event.record(self._torch.cuda.current_stream(self.device))
        return Mark(phase, time.monotonic(), event)

    @staticmethod
    def between(a, b):
        """Seconds; NaN: not known."""
        if a.event is None or b.event is None:
            return max(0.0, b.host_s - a.host_s)
        try:
            return max(0.0, a.event.elapsed_time(b.event) / 1000)
        except RuntimeError:  # another device or a stream that is behind
            return math.nan

    def seconds_of(self, mark):
        """Of time.monotonic(). To be called with one mark after another, in the order of their times."""
        seconds = mark.host_s
        if self._last is not None:
            last, last_s = self._last
            if last.event is not None and mark.event is not None:
                seconds = last_s + self.between(last, mark)
            seconds = max(mark.host_s if math.isnan(seconds) else seconds, last_s)
        self._last = (mark, seconds)
        return seconds

    def take_back(self, marks):
        """The marks were read, and nobody reads them again."""
        last = None if self._last is None else self._last[0]
        self._pool.extend(mark.event for mark in marks if mark.event is not None and mark is not last)

    def sums_of(self, marks):
        """Seconds of each phase between the first mark and the last one, and the phases that have begun."""
        seconds, begun = [0.0] * PHASES, set()
        for begin, end in zip(marks, marks[1:]):
            seconds[begin.phase] += self.between(begin, end)
            begun.add(begin.phase)
        return seconds, begun

    def spans_of(self, marks, end_s):
        """(phase, begin, end) of each, in seconds of time.monotonic(). end_s: the time of the last mark."""
        lengths = [self.between(begin, end) for begin, end in zip(marks, marks[1:])]
        at_s = end_s - sum(lengths)
        for mark, length_s in zip(marks, lengths):
            yield mark.phase, at_s, at_s + length_s
            at_s += length_s


class Course:
    """The marks since the last boundary."""

    def __init__(self, clock):
        self.clock, self.marks, self.phase = clock, [], OTHER

    def mark(self, phase):
        if phase != self.phase or not self.marks:
            self.force_mark(phase)

    def force_mark(self, phase):
        self.marks.append(self.clock.now(phase))
        self.phase = phase


class Modules:
    """A map of modules and other objects by their identity, which forgets those that are gone: a module of the program may have an
    equality of its own and no hash."""

    def __init__(self):
        self.entries = {}  # id -> (weak reference, value)

    def get(self, key):
        entry = self.entries.get(id(key))
        return entry[1] if entry is not None and entry[0]() is key else None

    def put(self, key, value=True):
        number, entries = id(key), self.entries
        entries[number] = (weakref.ref(key, lambda _: entries.pop(number, None)), value)

    def values(self):
        return [value for reference, value in list(self.entries.values()) if reference() is not None]

    def __contains__(self, key):
        return self.get(key) is not None

    def __iter__(self):
        return iter([key for key in (reference() for reference, _ in list(self.entries.values())) if key is not None])
