"""From the marks of steps and evaluations to the lines of the report."""

import collections
import os
import sys
import time

from dtctl_measure.flops import StepFlops
from dtctl_measure.gradients import GradientTimes
from dtctl_measure.marks import (BACKWARD, CHECKPOINT, COMMUNICATION, EVALUATED, EVALUATION, FORWARD, HANDING_OVER, INPUT, LOADER, OPTIMIZER,
                                 PAUSE, PHASE_NAMES, REPORTED, REPORTED_EVALUATION, Clock)

from .communication import Communication, world_size
from .optimizers import Losses, Optimizers
from .process import Process, dtctl_report
from .timeline import Timeline

LAST_WAIT_S = 10  # at the end of the program, for what a GPU still computes


class Reports(Process):
    def begin_process(self):
        super().begin_process()
        self.clock = Clock(self.torch)
        self.pending = collections.deque()  # what is written when the GPU has passed its last mark: (function, marks, …)
        self.timeline = Timeline(dtctl_report.report_path()) if self.is_traced else None
        self.optimizers, self.losses = Optimizers(), Losses(self.torch)
        self.communication = Communication(self)
        self.gradient_times = GradientTimes(self.torch, self.clock)
        self.flops, self.counted_step = StepFlops(self.torch), None

    def later(self, write, marks, *about):
        if marks[-1].event is None and not self.pending:
            write(marks, *about)
        else:
            self.pending.append((write, marks, *about))

    def resolve(self):
        while self.pending and self.pending[0][1][-1].is_passed():
            write, *about = self.pending.popleft()
            write(*about)

    def be_silent(self):
        super().be_silent()
        self.pending.clear()

    # ---- lines ----

    def write_begin(self, marks):
        at = self.clock.seconds_of(marks[-1])
        self.report.mark = at
        if self.attempt == 1:  # a later attempt may go on from a checkpoint, at a step that nobody knows
            self.report.begins(0, at)

    def write_evaluation(self, marks, figures=()):
        self._write_evaluation(marks, self.clock.seconds_of(marks[-1]), *figures)

    def _write_evaluation(self, marks, at, accuracy=None, loss=None, samples=None):
        """The evaluations between these marks, as one. Their time is no part of the step."""
        evaluated_s = 0.0
        for begin, end in zip(marks, marks[1:]):
            if begin.phase == EVALUATED:
                evaluated_s += self.clock.between(begin, end)
                begin.phase = REPORTED_EVALUATION
        self.report.evaluates(at, _known(evaluated_s), accuracy, loss, samples)

    def write_step(self, marks, step):
        at = self.clock.seconds_of(marks[-1])
        seconds, begun = self.clock.sums_of(marks)
        if EVALUATED in begun:
            behind = max(i for i, mark in enumerate(marks) if mark.phase == EVALUATED) + 1
            self._write_evaluation(marks, at - self.clock.between(marks[behind], marks[-1]))
            seconds[REPORTED_EVALUATION] += seconds[EVALUATED]
        seconds[FORWARD] += seconds[EVALUATION]  # a pass without gradients within a step, of a teacher for example
        if FORWARD in begun:
            seconds[INPUT] += seconds[HANDING_OVER]
        if step.samples.batches:
            begun.add(INPUT)  # it may have been read in the step before
        if step.updates_in_backward:
            begun.discard(OPTIMIZER)
        if step.is_by_hand:
            begun -= {FORWARD, BACKWARD}
        world = world_size(self.torch)
        if self.communication.is_seen(step, world):
            begun.add(COMMUNICATION)
        self.steps += 1
        samples = self._samples_of(step, world)
        if step is self.counted_step:
            self.flops.has_counted(step.flops, samples)
        if not begun.isdisjoint((LOADER, CHECKPOINT, PAUSE)):
            self.report.pauses(*(_known(seconds[phase]) for phase in (LOADER, CHECKPOINT, PAUSE)))
        phases = {name: _known(seconds[phase]) for phase, name in REPORTED.items() if phase in begun}
        loss = sum(map(float, step.losses)) if step.losses else None
        self.report.ends_step(at, phases, samples, loss, step.learning_rate, apart_s=seconds[REPORTED_EVALUATION])
        if self.report.is_exchange_looked_at():
            self.report.tell_exchange(self._exchange())
        if step.buckets or step.gradients:
            self.attempt_to("buckets", self.communication.take_buckets, step, marks)
        if step.looked_at:
            self.attempt_to("the readiness of gradients", self.gradient_times.read, step.looked_at)
        if self.timeline:
            self.attempt_to("the timeline", self._draw, step, marks, at)
        self.clock.take_back(marks[:-1])

    def _draw(self, step, marks, at):
        """Adds the step to the timeline: its phases, and in some steps when each gradient was ready."""
        spans = list(self.clock.spans_of(marks, at))
        begin_s = spans[0][1] if spans else at
        if not begin_s < at:
            return
        self.timeline.add("step", "training", begin_s, at, self.steps)
        for phase, from_s, to_s in spans:
            if phase in PHASE_NAMES:
                self.timeline.add(PHASE_NAMES[phase], "training", from_s, to_s, self.steps)
        for begin, _, ready in step.looked_at:
            before_s = begin_s + self.clock.between(marks[0], begin)
            for parameter, mark in ready.items():
                bytes_, name = self.gradient_times.sizes[parameter]
                ready_s = begin_s + self.clock.between(marks[0], mark)
                self.timeline.add(name, "gradients", before_s, ready_s, self.steps, bytes_)
                before_s = ready_s

    # ---- what a step tells, and what not ----

    def _samples_of(self, step, world):
        if world > max(1, self.ranks):
            self.caveat("samples", f"the samples of a step are not known: the program trains with {world} ranks, but dtctl has started {self.ranks}")
            return None
        samples = step.samples.number()
        if samples is None and self.steps > 1:  # the first step of a thread or of a process may have begun before it was seen
            self.caveat("samples", f"the samples of a step are not known: {step.samples.why_unknown()}. The recipe can say them: `program.samples`")
        return samples

    def _exchange(self):
        """The word of jobs/program/reports/exchange.hpp: how this rank exchanges anything with others."""
        script = sys.modules.get("dtctl_report")
        if script is not None and script._phase_s.get("communication"):
            return "some"  # through files, for example
        return dtctl_report.seen_exchange() if self.communication.world <= 1 else self.communication.exchange()

    def _write_flops(self):
        if os.environ.get("RANK", "0") != "0":
            return
        is_seen = world_size(self.torch) == 1 or self.communication.has_summed or "DataParallel" in self.communication.unseen
        self.flops.write(self.report, "" if is_seen else "it is not seen whether each rank computes the whole model")

    # ---- the end ----

    def finish_steps(self):
        self.close_open_step()
        until = time.monotonic() + (0 if self.report.has_failed else LAST_WAIT_S)
        while self.pending and not self.is_off:
            self.resolve()
            if time.monotonic() > until:
                break
            time.sleep(0.001)

    def finish_report(self):
        report, unseen = self.report, self.communication.unseen
        report.fact("observed", f"PyTorch {self.torch.__version__}" + (f"; stopped at step {self.steps}: {self.trouble}" if self.trouble else ""))
        if unseen:
            report.fact("communication that could not be observed", unseen)
        if self.optimizers.words():
            report.fact("learning rates", self.optimizers.words())
        self.attempt_to("buckets", self.communication.write_report)
        if self.timeline:
            self.attempt_to("the timeline", self.timeline.write)
        self.attempt_to("the readiness of gradients", self.gradient_times.write, report)
        self.attempt_to("FLOPs", self._write_flops)
        report.release()
        report.tell_exchange(self._exchange())
        report.result(None if unseen else self.optimizers.numbers)


def _known(seconds):
    return seconds if seconds == seconds else None
