"""Tells the steps of a script apart: what its calls begin and end, as marks of phases."""

import weakref

from dtctl_measure import samples as samples_of
from dtctl_measure.marks import (AFTER_FORWARD, BACKWARD, CHECKPOINT, COMMUNICATION, EVALUATED, EVALUATION, FORWARD, HANDING_OVER, INPUT, LOADER,
                                 OPTIMIZER, OTHER, PAUSE, Course, Modules)

from .process import guarded
from .reports import Reports
from .steps import Part, Step

IDLE = frozenset((OTHER, HANDING_OVER, FORWARD, AFTER_FORWARD))  # may be a part of the time between two epochs


class Observer(Course, Reports):
    def __init__(self, torch):
        Reports.__init__(self, torch)

    def begin_process(self):
        super().begin_process()
        self.is_reading = self.in_backward = self.in_update = self.had_backward_in_update = False
        self.base = OTHER  # the phase behind a backward pass's end
        self.has_evaluation = False
        self.earlier = None  # what another optimizer has made of this step before, without a DataLoader
        self.idle, self.is_between = 0, False  # index of the mark behind the last update or backward pass; whether an epoch ended since
        self.modules = Modules()  # outermost modules that were called and have parameters
        self.latest_module = lambda: None  # of those with parameters, searched already
        self.searched = Modules()  # modules of the training, searched for those that communicate
        self.calls = samples_of.Calls(self.torch)
        self.forget()

    def forget(self):
        """What happened so far belongs to no step."""
        Course.__init__(self, self.clock)
        self.part, self.passes = None, []  # Part, Batches
        self.recent, self.step = Step(is_counted=False), Step()

    # ---- input ----

    @guarded
    def opens_loader(self, batches):
        """The script begins a pass through the data of a DataLoader."""
        if self._ask(batches, LOADER):
            batches.opening, self.is_between = self.marks[-1], True

    @guarded
    def asks_for_batch(self, batches):
        self._ask(batches, INPUT)

    def _ask(self, batches, phase):
        self._end_part(batches)
        if self.step.end is not None:
            self._close_step()
            if self.is_off:
                return False
        self.force_mark(phase)
        self.part = Part(len(self.marks) - 1, batches, True)
        return True

    @guarded
    def has_batch(self, batches, iterator, batch):
        self.mark(HANDING_OVER)
        batches.is_read(self.attempt_to("the samples of batches", samples_of.of_loader, iterator, batch))
        if batches.read == 1:
            self.passes.append(batches)

    @guarded
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

    @guarded
    def enters_module(self, module, args, kwargs):
        """Returns the context that counts the FLOPs of this call; None: they are not counted."""
        self._enter_module(module, args, kwargs)
        is_counted = self.flops.is_counting and self.phase != EVALUATION
        return self.attempt_to("FLOPs", self.flops.counting, module) if is_counted else None

    def _enter_module(self, module, args, kwargs):
        has_gradients = self.torch.is_grad_enabled()
        if not self.marks:
            self.force_mark(OTHER)
        if self.part is None:
            self.part = Part(len(self.marks) - 1)
        part = self.part
        if not self._look_at(module):
            return  # it computes nothing that is trained: a loss continues the forward pass, a metric or a transform is none
        if has_gradients:
            if part.has_evaluation and not part.is_fetch:  # evaluated without a DataLoader
                self._end_part()
                self.force_mark(FORWARD)
                self.part = part = Part(len(self.marks) - 1)
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

    @guarded
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
            self.modules.put(module)
        if module not in self.searched and self.torch.is_grad_enabled():
            self.searched.put(module)
            self.attempt_to("communication", self.communication.look_at, module)
        if module in self.searched:
            self.latest_module = weakref.ref(module)
        return True

    def _use_device(self, device):
        if device.type == "cuda" and self.clock.device is None:
            self.clock.device = device
        elif device.type not in ("cuda", "cpu", "meta"):
            raise RuntimeError(f"devices of type {device.type} are not observed")

    def _is_trained(self, module):
        first = next((p for p in module.parameters() if p.requires_grad), None)
        return first is not None and id(first) in self.optimizers.trained

    def _count_forward(self, module, args, kwargs):
        if self.in_update and self.had_backward_in_update:
            return  # a closure that an optimizer calls again, for the same batch
        for batches in self.passes:
            if batches.tells_samples():
                return
        self.recent.samples.has_call(module, self.calls.count(module, args, kwargs))

    @guarded
    def enters_backward(self, tensors, is_backward=True):
        self.mark(BACKWARD)
        if self.part is None:
            self.part = Part(len(self.marks) - 1)
        if self.has_evaluation and self.step.end is not None:
            self._close_step()
        if self.is_off or (not self.has_begun and not self._begin()):
            return
        self._end_idle()
        self.part.has_backward = self.recent.has_backward = True
        self._trains()
        if self.recent.is_counted:
            self.attempt_to("FLOPs", self.flops.begins_backward, tensors)
        losses = self.recent.losses if is_backward else self.recent.losses_of_grad
        self.attempt_to("losses", self.losses.take, tensors, losses, self.in_update)
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

    @guarded
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

    @guarded
    def scales(self, tensor, scaled):
        self.losses.unscaled = (scaled, tensor)

    @guarded
    def enters_update(self, optimizer):
        rates = self.attempt_to("learning rates", self.optimizers.look_at, optimizer)
        if self.in_backward:
            self.recent.updates_in_backward = True
            return
        if self.step.end is not None:
            self._joins_step(id(optimizer))
            if self.is_off:
                return
        self.step.updated.add(id(optimizer))
        self.recent.loss_of = (id(optimizer), type(optimizer).__name__)
        if rates is not None and rates.is_main:
            self.step.learning_rate = rates.last
        self.in_update, self.had_backward_in_update, self.base = True, False, OPTIMIZER
        self.mark(OPTIMIZER)
        if self.part is None:
            self.part = Part(len(self.marks) - 1)

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
        elif earlier is None and self.recent.has_backward and not step.samples.batches:
            self.earlier, self.step = step, Step()

    @guarded
    def leaves_update(self):
        if not self.in_update:
            return
        self.in_update, self.base = False, OTHER
        self.force_mark(OTHER)
        if self.recent.has_backward or self.step.end is not None:
            self._end_update()

    @guarded
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

    @guarded
    def enters(self, phase):
        """Something else that takes time: clearing gradients, a sum over the ranks, a checkpoint. Returns the phase before."""
        before = self.phase
        if self.marks and (not self.in_backward or phase == COMMUNICATION):
            self.mark(phase)
            self.is_between = self.is_between or phase in (CHECKPOINT, LOADER)
        return before

    @guarded
    def leaves(self, before):
        if self.marks and before is not None and (not self.in_backward or self.phase == COMMUNICATION):
            self.mark(before)

    def _end_update(self):
        step = self.step
        step.end = self.idle = len(self.marks) - 1
        self.communication.ends_update(self.recent)
        if self.flops.is_counting:
            self.recent.flops = self.attempt_to("FLOPs", self.flops.counter.take) or 0
        step.add(self.recent)
        self.recent = Step(is_counted=self.flops.is_counting)
        self._take_samples()
        self.part = Part(step.end)

    def _take_samples(self):
        """The batches that this update has trained with: all that were read and used, without those that the loop reads ahead."""
        step = self.step
        for batches in list(self.passes):
            step.samples.batches += batches.take()
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
        self.later(self.write_begin, [self.marks[0]])
        return True

    def _close_step(self):
        """The step ends with its last update; what came after it belongs to the next step."""
        step, end = self.step, self.step.end
        if self.yields():
            return
        if self.earlier is not None:
            step, self.earlier = self.earlier, None
            step.add(self.step)
        marks, self.marks = self.marks[: end + 1], self.marks[end:]
        self.idle = max(0, self.idle - end)
        if self.part is not None:
            self.part.shift(end)
        self.step = Step()
        step.looked_at = self.attempt_to("the readiness of gradients", self.gradient_times.begins_step, self.optimizers.rates, self.modules) or []
        no_series = self.losses.why_no_series(step.loss_of)
        if no_series:
            self.caveat("losses", no_series)
        self.attempt_to("FLOPs", self._count_flops, step)
        self.later(self.write_step, marks, step)
        self.resolve()

    def _count_flops(self, closed):
        was_counting = self.flops.is_counting
        if self.flops.ends_step(closed.is_counted):
            self.counted_step = closed
        elif self.flops.is_counting and not was_counting:
            self.recent.is_counted = not (self.recent.has_backward or self.recent.samples.calls)

    def close_open_step(self):
        """At the end of the program."""
        self._end_part()
        if self.step.end is not None and not self.report.has_failed:
            self._close_step()
        if self.has_begun and not self.is_off and any(mark.phase == EVALUATED for mark in self.marks):
            self.force_mark(OTHER)
            self.later(self.write_evaluation, self.marks)

    @guarded
    def take_evaluation(self, accuracy, loss, samples):
        if self.yields():
            return False
        self._end_part()
        if self.step.end is not None:
            self._close_step()
        self.report.release()
        if not any(mark.phase == EVALUATED for mark in self.marks):  # it was not seen
            for mark in self.marks[self.idle :]:
                mark.phase = EVALUATED
        self.force_mark(OTHER)
        self.later(self.write_evaluation, list(self.marks), (accuracy, loss, samples))
        self.part = Part(len(self.marks) - 1)
        self.has_evaluation, self.is_between = False, True
        return True
