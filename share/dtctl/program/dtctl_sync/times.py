"""Phases of a step, by the host's clock or by events on a GPU."""

import collections
import math
import time

import torch


class HostTimes:
    """Phases of a step by the host's clock."""

    now = staticmethod(time.perf_counter)

    @staticmethod
    def seconds(begin, end):
        return end - begin

    def __init__(self):
        self.marks = {}

    def mark(self, name):
        self.marks[name] = self.now()

    def between(self, begin, end):
        return self.seconds(self.marks[begin], self.marks[end])

    def on_host(self, name):
        """In seconds of time.perf_counter()."""
        return self.marks[name]

    def is_known(self):
        return True

    def wait(self):
        pass


class DeviceTimes:
    """Phases of a step by events on a GPU, which are read when they have happened."""

    _anchor = None  # an event, and when it happened by the host's clock

    @staticmethod
    def now():
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    @staticmethod
    def seconds(begin, end):
        return begin.elapsed_time(end) / 1e3

    def __init__(self):
        self.marks = {}

    def mark(self, name):
        self.marks[name] = self.now()

    def between(self, begin, end):
        return self.seconds(self.marks[begin], self.marks[end])

    def on_host(self, name):
        """In seconds of time.perf_counter(). Makes the host wait for the GPU once in ten seconds."""
        if DeviceTimes._anchor is None or time.perf_counter() - _DeviceTimes._anchor[1] > 10:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            event.synchronize()
            DeviceTimes._anchor = (event, time.perf_counter())
        event, happened = DeviceTimes._anchor
        return happened + event.elapsed_time(self.marks[name]) / 1e3

    def is_known(self):
        return self.marks["end"].query()

    def wait(self):
        self.marks["end"].synchronize()



class StepTimes:
    """What is timed of one step: its passes, each with the marks begin (a batch is there), first (the model is called), forward and backward
    (their ends), and in the last one handed (gradients are the script's), taken (it updates) and end."""

    def __init__(self, kind):
        self.kind, self.passes = kind, [kind()]
        self.clears = []  # [begin, end, whether it lies between a batch and the first use of the model]
        self.input_s, self.losses = 0.0, []
        self.batches = []  # samples of each that the loop has got; None: unknown
        self.calls = collections.Counter()  # samples of the calls of each model, for a loop without a loader; NaN: unknown

    @property
    def marks(self):
        return self.passes[-1].marks

    def mark(self, name):
        self.passes[-1].mark(name)

    def mark_once(self, name):
        if name not in self.marks:
            self.mark(name)

    def has_batch(self, samples, seconds):
        """seconds: that the loop has waited for it. samples: None if unknown."""
        self.input_s += seconds
        self.batches.append(samples)
        self.begin_pass()

    def calls_model(self, model, samples):
        self.mark_once("begin")
        self.mark_once("first")
        if model.training:
            self.calls[id(model)] += math.nan if samples is None else samples

    def samples(self):
        """None: unknown."""
        if self.batches:
            return None if None in self.batches else sum(self.batches)
        counts = set(self.calls.values())
        return counts.pop() if len(counts) == 1 and not math.isnan(sum(counts)) else None

    def begin_pass(self):
        if "forward" not in self.marks:
            self.marks.clear()  # what came before it was no pass
        self.mark("begin")

    def end_pass(self):
        """Another one follows in this step."""
        self.mark("backward")
        end = self.marks["backward"]
        self.passes.append(self.kind())
        self.marks["begin"] = end

    def clears_gradients(self, clear):
        begin, is_early = self.kind.now(), "begin" in self.marks and "first" not in self.marks
        try:
            return clear()
        finally:
            self.clears.append((begin, self.kind.now(), is_early))

    def is_known(self):
        return self.passes[-1].is_known()

    def wait(self):
        self.passes[-1].wait()

    def phases(self, waits):
        """Seconds by name. waits: what the library has timed of the step."""
        seconds, last = self.kind.seconds, self.passes[-1]
        early = sum(seconds(begin, end) for begin, end, is_early in self.clears if is_early)
        found = {"input": self.input_s, "forward": 0.0, "backward": 0.0}
        for each in self.passes:
            if "forward" not in each.marks:  # no backward pass followed
                continue
            first = "first" if "first" in each.marks else "begin"
            if first == "first":
                found["input"] += each.between("begin", "first")
            found["forward"] += each.between(first, "forward")
            found["backward"] += each.between("forward", "backward")
        found["input" if "first" in self.passes[0].marks else "forward"] -= early
        found["backward"] -= waits.in_compute_s
        of_script = last.between("handed", "taken") if {"handed", "taken"} <= last.marks.keys() else 0.0
        found["communication"] = waits.communication_s
        found["optimizer"] = last.between("backward", "end") - (waits.communication_s - waits.in_compute_s) - of_script
        found = {name: max(0.0, value) for name, value in found.items()}
        found["optimizer"] += sum(seconds(begin, end) for begin, end, _ in self.clears)
        return found
