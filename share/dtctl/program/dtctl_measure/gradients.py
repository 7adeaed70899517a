"""When the gradients of a backward pass are ready: what a simulation of the program needs to know of its network.

Only some steps are looked at, because a look costs a call for each parameter. dtctl makes the run's compute profile from the lines.
"""

import collections
import os
import statistics

EVERY, MOST = 8, 32  # one step of EVERY is looked at, at most MOST times


def watch_gradient(parameter, call):
    """Calls call() whenever a gradient of the parameter was added up. Returns what autograd does not keep, and the hook."""
    accumulator = parameter.expand_as(parameter).grad_fn.next_functions[0][0]

    def hook(*_):
        call()  # autograd takes a value for other gradients

    return accumulator, accumulator.register_hook(hook)


class GradientTimes:
    def __init__(self, torch, clock):
        self.torch, self.clock = torch, clock
        self.is_wanted = os.environ.get("RANK", "0") == "0"
        self.steps = 0
        self.hooks = []  # of watch_gradient(), in a step that is looked at
        self.passes = []  # of the present step: [begin, end, {parameter: ready}]
        self.looks = 0
        self.leads = collections.defaultdict(list)  # parameter -> seconds, in each look
        self.sizes = {}  # parameter -> (bytes, name)

    def begins_step(self, optimizers, modules):
        """A step has ended and the next one begins. Returns the passes of the step that has ended, if it was looked at."""
        if not self.is_wanted:
            return []
        passes = self._remove() if self.hooks else []
        self.steps += 1
        if self.steps % EVERY == 0 and self.looks < MOST:
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
                name = names.get(id(p), f"parameter {i}")
                self.sizes[id(p)] = (p.numel() * p.element_size(), name[len("module."):] if name.startswith("module.") else name)
        with self.torch.inference_mode(False), self.torch.enable_grad():  # a validation may be under way
            for p in parameters:
                if id(p) in self.sizes:  # the optimizer may have been given more parameters since
                    self.hooks.append(watch_gradient(p, lambda key=id(p): self._is_ready(key)))

    def _is_ready(self, parameter):
        if self.passes and self.passes[-1][1] is None:
            self.passes[-1][2][parameter] = self.clock.now()

    def _remove(self):
        for _, hook in self.hooks:
            hook.remove()
        passes = [each for each in self.passes if each[1] is not None and each[2]]
        self.looks += bool(passes)
        self.hooks, self.passes = [], []
        return passes

    def read(self, passes):
        """Of a step that was looked at, when its marks are passed. The lead of a gradient is the time from its readiness until the step's
        last backward pass ends, without what lies between two passes."""
        later, found = 0.0, {}
        for begin, end, ready in reversed(passes):
            for parameter, mark in ready.items():
                found.setdefault(parameter, later + self.clock.between(mark, end))
            later += self.clock.between(begin, end)
        for parameter, lead_s in found.items():
            if lead_s == lead_s:
                self.leads[parameter].append(lead_s)

    def write(self, report):
        """A line for each gradient, in the order in which they are ready: its bytes, the median of its leads, its name."""
        medians = {parameter: statistics.median(each) for parameter, each in self.leads.items()}
        for parameter, lead_s in sorted(medians.items(), key=lambda each: -each[1]):
            bytes_, name = self.sizes[parameter]
            report.write("gradient", bytes_, repr(lead_s), name)
