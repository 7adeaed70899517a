"""A network's decisions that rounding can turn: the signs that its ReLUs see, the places of its poolings' maxima.

One late decision of a small batch is 1e-2 of a gradient, so a program that rounds otherwise may be that far from an exact one
and be right. Here near ties of a PyTorch model are turned, while every value stays what it was.
"""
import dataclasses
import heapq

import torch
import torch.nn.functional as F


DECIDING = (torch.nn.ReLU, torch.nn.MaxPool2d)


@dataclasses.dataclass(frozen=True, order=True)
class Tie:
    """An entry of a layer's input that decides, and what it were to be for the decision to be the other one."""
    gap: float  # to the other decision, as a share of the input's mean size
    layer: int  # its number among those that decide
    place: int  # in the input, flat
    otherwise: float


def deciding_layers(model):
    return [layer for layer in model.modules() if isinstance(layer, DECIDING)]


def pool(layer, x):
    """Maxima, and their places in a plane."""
    return F.max_pool2d(x, layer.kernel_size, layer.stride, layer.padding, layer.dilation, layer.ceil_mode, return_indices=True)


def with_gradient_of(other, value):
    """The value, to which gradients come back as to the other: no tie behind it moves."""
    return value.detach() + (other - other.detach())


def turn(model, ties):
    """From now on the model's layers decide these ties the other way."""

    def decider(number, x):
        x = x.detach().clone()
        for tie in ties:
            if tie.layer == number:
                x.view(-1)[tie.place] = tie.otherwise
        return x

    def hook_of(number):
        def relu(_layer, inputs, output):
            return with_gradient_of(inputs[0] * (decider(number, inputs[0]) > 0), output)

        def maximum(layer, inputs, output):
            places = pool(layer, decider(number, inputs[0]))[1]
            return with_gradient_of(inputs[0].flatten(2).gather(2, places.flatten(2)).view_as(output), output)

        return relu if isinstance(layers[number], torch.nn.ReLU) else maximum

    layers = deciding_layers(model)
    for number in {tie.layer for tie in ties}:
        layers[number].inplace = False
        layers[number].register_forward_hook(hook_of(number))


def ties_of_relu(number, x, count):
    flat = x.flatten()
    nearest, places = flat.abs().topk(min(count, flat.numel()), largest=False)
    gaps = (nearest / flat.abs().mean()).tolist()
    return [Tie(gap, number, place, -flat[place].item()) for gap, place in zip(gaps, places.tolist())]


def largest_two(layer, x):
    """Of each window of a pooling: its largest two values, and where the largest lies in x, flat."""
    size, step, margin = layer.kernel_size, layer.stride, layer.padding
    height, width = pool(layer, x)[0].shape[2:]
    below = max(0, (height - 1) * step + size - x.shape[2] - margin)
    right = max(0, (width - 1) * step + size - x.shape[3] - margin)

    def windows(values, outside):
        padded = F.pad(values, (margin, right, margin, below), value=outside)
        return padded.unfold(2, size, step)[:, :, :height].unfold(3, size, step)[:, :, :, :width].flatten(4)

    values, which = windows(x, -float("inf")).topk(2)
    places = windows(torch.arange(x.numel(), dtype=x.dtype).view_as(x), -1.0).gather(4, which[..., :1])
    return values[..., 0].flatten(), values[..., 1].flatten(), places.flatten().long()


def ties_of_pool(number, layer, x, count):
    """Windows whose largest two are nearly equal: the largest were to be less than the second."""
    first, second, places = largest_two(layer, x)
    gaps = (first - second) / x.abs().mean()
    gaps[first <= 0] = float("inf")  # behind a ReLU nothing comes back through these
    nearest, windows = gaps.topk(min(count, gaps.numel()), largest=False)
    return [Tie(gap, number, places[window].item(), second[window].item() - 1e-12)
            for gap, window in zip(nearest.tolist(), windows.tolist())]


def near_ties(model, run, count):
    """The nearest decisions of run(model), the nearest first, a list for each layer that decides."""
    layers = deciding_layers(model)
    ties = [[] for _ in layers]

    def look(number):
        def hook(layer, inputs, _output):
            x = inputs[0].detach()
            ties[number] += ties_of_relu(number, x, count) if isinstance(layer, torch.nn.ReLU) else ties_of_pool(number, layer, x, count)

        return hook

    for number, layer in enumerate(layers):
        layer.inplace = False
        layer.register_forward_hook(look(number))
    run(model)
    return ties


def deciding_behind(model):
    """For each weight and running statistic: the number of the first layer behind it that decides."""
    numbers, count = [], 0
    for layer in model.modules():
        count += isinstance(layer, DECIDING)
        tensors = [*layer.named_parameters(recurse=False), *layer.named_buffers(recurse=False)]
        numbers += [count for name, _ in tensors if name != "num_batches_tracked"]
    return numbers


def suspects(ties, first, turned, count):
    """What may have fallen otherwise where gradients are wrong before the layer `first` and right behind it: the nearest ties there
    and in the two behind it (a pooling, a block's last ReLU)."""
    near = heapq.merge(*ties[first:first + 3])
    return [tie for tie in near if tie not in turned][:count]
