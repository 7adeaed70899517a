"""What is timed of a step under a strategy, as marks of phases."""

import contextlib

from dtctl_measure.marks import BACKWARD, COMMUNICATION, FORWARD, HANDING_OVER, INPUT, OPTIMIZER, OTHER, REPORTED, Course
from dtctl_measure.samples import StepSamples


class StepTimes(Course):
    """Its phases: the wait for a batch, handing it over to the model, forward and backward passes, the update with the exchange, and what the
    script does between gradients and update."""

    def __init__(self, clock):
        super().__init__(clock)
        self.samples, self.losses = StepSamples(), []
        self._pass = 0  # index of the mark where the present pass began
        self._is_open = True  # no backward pass has followed

    def asks_for_batch(self):
        if self._is_open:
            self._drop_pass()
        self.force_mark(INPUT)

    def has_no_batch(self):
        self.marks[-1].phase = self.phase = OTHER

    def has_batch(self, samples):
        """samples: None if unknown."""
        self.samples.batches.append(samples)
        self.begins_pass()

    def begins_pass(self):
        self.force_mark(HANDING_OVER)
        self._pass, self._is_open = len(self.marks) - 1, True

    def opens(self):
        """A pass begins here if none has begun with a batch or a call of a model."""
        if self.phase == OTHER:
            self.begins_pass()

    def _drop_pass(self):
        """What came before was no pass, because no backward pass has followed."""
        for mark in self.marks[self._pass:]:
            if mark.phase in (HANDING_OVER, FORWARD):
                mark.phase = OTHER

    def calls_model(self, model, samples):
        if self._is_open:
            self.mark(FORWARD)
        if model.training:
            self.samples.has_call(model, samples)

    def begins_backward(self):
        """Returns the mark."""
        passed = self.marks[self._pass:]
        if not any(mark.phase == FORWARD for mark in passed):  # the script has called no model that is known
            for mark in passed:
                mark.phase = FORWARD if mark.phase == HANDING_OVER else mark.phase
        self.force_mark(BACKWARD)
        self._is_open = False
        return self.marks[-1]

    def ends_backward(self):
        """Returns the mark. The gradients are exchanged next, and the weights updated."""
        if self._is_open:
            self._drop_pass()
        self.force_mark(OPTIMIZER)
        return self.marks[-1]

    def clears_gradients(self, clear):
        with self._within(OPTIMIZER):
            return clear()

    def communicating(self):
        """A context, in which the device waits for sums over the ranks."""
        return self._within(COMMUNICATION)

    @contextlib.contextmanager
    def _within(self, phase):
        before = self.phase
        self.force_mark(phase)
        try:
            yield
        finally:
            self.force_mark(before)

    def phases(self, waits):
        """Seconds by name. waits: what the library has timed of the step: communication of the host."""
        seconds, _ = self.clock.sums_of(self.marks)
        found = {name: seconds[phase] for phase, name in REPORTED.items()}
        found["input"] += seconds[HANDING_OVER]
        found["backward"] -= waits.in_compute_s
        found["communication"] += waits.communication_s
        found["optimizer"] -= waits.communication_s - waits.in_compute_s
        return {name: max(0.0, value) for name, value in found.items()}

    def spans(self):
        """(name, begin, end) of the step and of its phases for the timeline."""
        names = {INPUT: "input", FORWARD: "forward", BACKWARD: "backward"}
        spans = list(self.clock.spans_of(self.marks, self.clock.seconds_of(self.marks[-1])))
        if any(phase == BACKWARD for phase, _, _ in spans):
            begin = next(begin for phase, begin, _ in spans if phase not in (OTHER, OPTIMIZER))
            yield "step", begin, spans[-1][2]
            yield from ((names[phase], begin, end) for phase, begin, end in spans if phase in names and end > begin)
