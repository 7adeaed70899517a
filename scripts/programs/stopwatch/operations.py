"""Counts products of matrices, convolutions and recurrent cells by the formulas of textbooks, from the arguments of torch's functions.

A multiply-add is 2 operations. The backward pass costs as much again for each operand that needs a gradient.
"""

import torch
from torch.overrides import TorchFunctionMode


_product = lambda left, right, result: 2 * result.numel() * left.shape[-1]
_FORMULAS = {  # of both operands and the result
    "linear": lambda given, weight, result: 2 * given.numel() * weight.shape[0],
    "matmul": _product, "mm": _product, "bmm": _product, "__matmul__": _product,
    "conv2d": lambda given, weight, result: 2 * result.numel() * weight[0].numel(),
    "conv_transpose2d": lambda given, weight, result: 2 * given.numel() * weight[0].numel(),
}


class Operations(TorchFunctionMode):
    total, is_paused = 0, False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        if name in _FORMULAS:
            self.add(_FORMULAS[name](*args[:2], result), args[:2])
        else:
            self.recurrent(name, args)
        return result

    def add(self, forward, operands):
        if self.is_paused:
            return
        derived = sum(each.requires_grad for each in operands) if torch.is_grad_enabled() else 0
        self.total += forward * (1 + derived)

    def recurrent(self, name, args):
        """lstm(input, states, weights, …, batch_first) and lstm_cell(input, states, weights…): two products with matrices in each step."""
        if name == "lstm":
            given, (hidden, _), weights = args[0], args[1], [each for each in args[2] if each.dim() == 2]
            batch, steps = given.shape[:2] if args[8] else reversed(given.shape[:2])
            for layer, (of_input, of_hidden) in enumerate(zip(weights[::2], weights[1::2])):
                once = 2 * batch * of_hidden.numel()
                self.add(2 * batch * steps * of_input.numel(), (of_input, given if layer == 0 else of_input))
                self.add(once, (of_hidden, hidden))  # the first step's state comes from outside
                self.add(once * (steps - 1), (of_hidden, of_hidden))
        elif name == "lstm_cell":
            given, (hidden, _), weights = args[0], args[1], args[2:4]
            for operand, weight in zip((given, hidden), weights):
                self.add(2 * operand.shape[0] * weight.numel(), (operand, weight))
