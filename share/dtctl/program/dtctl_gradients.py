"""When the gradients of a backward pass are ready: what a simulation of the program needs to know of its network.

Only some steps are looked at, because a look costs a call for each parameter. dtctl makes the run's compute profile from the lines.
"""

import collections
import os
import statistics

EVERY, MOST = 8, 32  # one step of EVERY is looked at, at most MOST times


class GradientTimes:
    def __init__(self, torch, now, between):
        """now(): a mark of the present time. between(a, b): seconds from one mark to another."""
        self.torch, self.now, self.between = torch, now, between
        self.is_wanted = os.environ.get("RANK", "0") == "0"
        self.steps = 0
        self.hooks, self.accumulators = [], []  # the latter are kept, because autograd does not keep them
        self.passes = []  # of the present step: [begin, end, {parameter: ready}]
        self.looks = []  # of each step that was looked at: its passes
        self.sizes = {}  # parameter -> (bytes, name)

    def begins_step(self, optimizers, modules):
        """A step has ended and the next one begins. Returns the passes of the step that has ended, if it was looked at."""
        if not self.is_wanted:
            return []
        passes = self._remove() if self.hooks else []
        self.steps += 1
        if self.steps % EVERY == 0 and len(self.looks) < MOST:
            self._install(optimizers, modules)
        return passes

    def begins_backward(self, mark):
        if self.hooks:
            self.passes.append([mark, None, {}])

    def ends_backward(self, mark):
        if self.passes and self.passes[-1][1] is None:
            self.passes[-1][1] = mark

    def _install(self, optimizers, modules):
        groups = [group for o in optimizers for group in getattr(o, "param_groups", None) or ()]
        parameters = [p for group in groups for p in group["params"] if p.requires_grad and p.is_leaf]
        if not self.sizes:
            names = {id(p): name for module in modules for name, p in module.named_parameters()}
            for i, p in enumerate(parameters):
                self.sizes[id(p)] = (p.numel() * p.element_size(), names.get(id(p), f"parameter {i}").removeprefix("module."))
        with self.torch.inference_mode(False), self.torch.enable_grad():  # a validation may be under way
            for p in parameters:
                if id(p) not in self.sizes:  # the optimizer was given more parameters since
                    continue
                accumulator = p.expand_as(p).grad_fn.next_functions[0][0]
                self.accumulators.append(accumulator)
                self.hooks.append(accumulator.register_hook(lambda *_, key=id(p): self._is_ready(key)))

    def _is_ready(self, parameter):
        if self.passes and self.passes[-1][1] is None:
            self.passes[-1][2][parameter] = self.now()

    def _remove(self):
        for hook in self.hooks:
            hook.remove()
        passes = [each for each in self.passes if each[1] is not None and each[2]]
        if passes:
            self.looks.append(passes)
        self.hooks, self.accumulators, self.passes = [], [], []
        return passes

    def lines(self):
        """(bytes, lead_s, name) of each gradient, in the order in which they are ready. lead_s: seconds until the step's last
        backward pass ends, without what lies between two passes; the median over the looks."""
        leads = collections.defaultdict(list)
        for passes in self.looks:
            later, found = 0.0, {}
            for begin, end, ready in reversed(passes):
                for parameter, mark in ready.items():
                    found.setdefault(parameter, later + max(0.0, self.between(mark, end)))
                later += self.between(begin, end)
            for parameter, lead in found.items():
                if lead == lead:
                    leads[parameter].append(lead)
        lines = []
        for parameter, each in leads.items():
            bytes_, name = self.sizes[parameter]
            lines.append((bytes_, statistics.median(each), name))
        return sorted(lines, key=lambda line: -line[1])
