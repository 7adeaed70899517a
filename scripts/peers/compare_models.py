#!/usr/bin/python3
"""Loss and gradients of the engine's models beside PyTorch's, on the same weights and the same batch; see scripts/compare-pytorch."""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../recipes/library/programs"))
import networks
import near_ties

SAMPLES = {"lenet": 8}  # of the batch; 4 of small images, 2 of large ones
KEPT = ("running_mean", "running_var")


def input_of(name):
    _, shape, classes = networks.MODELS[name]
    count = SAMPLES.get(name, 4 if shape[1] <= 32 else 2)
    random = numpy.random.default_rng(1)
    return random.standard_normal((count, *shape)).astype("f4"), (numpy.arange(count) % classes).astype("f4")


def ours(options, folder, name, weights=None):
    """{"weights/…", "gradients/…", "loss"} as dtbench computes them; from its own seed without weights."""
    out = os.path.join(folder, "ours.npz")
    command = [options.dtbench, "gradients", "--model", name, "--input", os.path.join(folder, "input.npz"), "--threads",
               str(options.threads), "-o", out] + (["--weights", weights] if weights else [])
    command += [] if options.winograd else ["--no-winograd"]
    subprocess.run(command, check=True, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    return numpy.load(out)


def tensors_of(model):
    """Weights and running statistics in the order in which layers have them."""
    return [(key, value) for key, value in model.state_dict().items() if not key.endswith("num_batches_tracked")]


def set_weights(model, values):
    state = model.state_dict()
    names = [key for key, _ in tensors_of(model)]
    if [state[key].numel() for key in names] != [value.size for value in values]:
        sys.exit("the tensors of the two models differ in number or size")
    for key, value in zip(names, values):
        state[key].copy_(torch.from_numpy(value.reshape(state[key].shape)))


def learn_batch_statistics(model):
    """Running statistics become those of the next batch alone. What it gives is to be called after the backward pass: it makes
    their variances biased, as the engine has them."""
    counts = {}

    def count(layer, inputs, _output):
        counts[layer] = inputs[0].numel() // inputs[0].shape[1]

    for layer in model.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = 1.0
            layer.register_forward_hook(count)
    return lambda: [layer.running_var.mul_((n - 1) / n) for layer, n in counts.items()]


def model_of(name, values, dtype):
    model = networks.build(name).to(dtype).train()
    set_weights(model, values)
    return model


def loss_of(model, images, labels, dtype):
    return networks.loss_of(model, torch.from_numpy(images).to(dtype), torch.from_numpy(labels).long())


def theirs(name, values, images, labels, dtype, turned=()):
    """Loss and one array a tensor: its gradient, or what a running statistic is to learn of this batch; with these near ties
    turned."""
    model = model_of(name, values, dtype)
    near_ties.turn(model, turned)
    unbias = learn_batch_statistics(model)
    loss = loss_of(model, images, labels, dtype)
    loss.backward()
    unbias()
    parameters = dict(model.named_parameters())
    return loss.item(), [(value if key.endswith(KEPT) else parameters[key].grad).numpy() for key, value in tensors_of(model)]


def group(archive, prefix):
    return {key[len(prefix):]: archive[key] for key in archive.files if key.startswith(prefix)}


def distances(arrays, references):
    """Of each tensor: the norm of the difference over the reference's norm."""
    return numpy.array([numpy.linalg.norm(array.ravel().astype("f8") - reference.ravel()) / max(numpy.linalg.norm(reference), 1e-30)
                        for array, reference in zip(arrays, references)])


def furthest(arrays, references, names):
    """The tensor that is furthest from its reference."""
    each = distances(arrays, references)
    return each.max(), names[each.argmax()]


def with_ties_turned(options, name, values, images, labels, gradients):
    """How far ours are from float64's with those near ties turned that bring these nearer to ours; which they are. The deepest
    tensor that is wrong tells where to look for the next one."""

    def exact(turned):
        return distances(gradients, theirs(name, values, images, labels, torch.float64, turned)[1])

    model = model_of(name, values, torch.float64)
    ties = near_ties.near_ties(model, lambda model: loss_of(model, images, labels, torch.float64), options.ties)
    behind = near_ties.deciding_behind(model)
    turned, each, found = [], exact([]), True
    while found and each.max() > options.tolerance:
        deepest = numpy.flatnonzero(each > options.tolerance)[-1]
        found = False
        for tie in near_ties.suspects(ties, behind[deepest], turned, options.ties):
            tried = exact([*turned, tie])
            if tried[deepest] < each[deepest] / 2:
                turned, each, found = [*turned, tie], tried, True
                break
    return each.max(), turned


def compare(options, name, direction, found, images, labels):
    """One line of the table; whether it is within the tolerance."""
    weights, gradients = group(found, "weights/"), group(found, "gradients/")
    values, names = list(weights.values()), list(weights)
    exact_loss, exact = theirs(name, values, images, labels, torch.float64)
    loss, single = theirs(name, values, images, labels, torch.float32)
    our_error, where = furthest(list(gradients.values()), exact, names)
    their_error, _ = furthest(single, exact, names)
    loss_error, their_loss_error = abs(float(found["loss"][0]) - exact_loss) / exact_loss, abs(loss - exact_loss) / exact_loss
    good = loss_error <= options.loss_tolerance and our_error <= max(options.tolerance, options.factor * their_error)
    verdict = "yes" if good else "NO"
    if our_error > options.tolerance and options.ties:
        error, turned = with_ties_turned(options, name, values, images, labels, list(gradients.values()))
        good = good or (loss_error <= options.loss_tolerance and error <= options.tolerance)
        widest = f" (gaps up to {max(tie.gap for tie in turned):.1e})" if turned else ""
        verdict = f"{'yes' if good else 'NO'}; {error:.1e} with {len(turned)} near ties turned{widest}"
    print(f"| {name} | {direction} | {len(images)} | {loss_error:.1e} | {their_loss_error:.1e} | {our_error:.1e} ({where}) | "
          f"{their_error:.1e} | {verdict} |", flush=True)
    return good


def compare_model(options, name):
    images, labels = input_of(name)
    with tempfile.TemporaryDirectory() as folder:
        numpy.savez(os.path.join(folder, "input.npz"), images=images, labels=labels)
        found = ours(options, folder, name)
        good = compare(options, name, "ours to PyTorch", found, images, labels)
        torch.manual_seed(2)
        start = tensors_of(networks.build(name))
        weights = os.path.join(folder, "weights.npz")
        shapes = group(found, "weights/")
        numpy.savez(weights, **{key: value.numpy().reshape(shapes[key].shape) for key, (_, value) in zip(shapes, start)})
        del shapes, found
        return compare(options, name, "PyTorch to ours", ours(options, folder, name, weights), images, labels) and good


def main():
    parser = argparse.ArgumentParser(description="Loss and gradients of the engine's models beside PyTorch's, on equal weights.")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="which (all)")
    parser.add_argument("--dtbench", default="build/release/bin/dtbench")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-winograd", dest="winograd", action="store_false", help="no convolution by Winograd's algorithm")
    parser.add_argument("--loss-tolerance", type=float, default=1e-5, help="relative error of the loss (1e-5)")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="relative error of a tensor's gradient (1e-4)")
    parser.add_argument("--factor", type=float, default=3, help="or so many times PyTorch's own in float32 (3)")
    parser.add_argument("--ties", type=int, default=8, help="or the tolerance with near ties of float64 turned; tries for each (8)")
    options = parser.parse_args()
    unknown = set(options.models) - set(networks.MODELS)
    if unknown:
        parser.error(f"no model {', '.join(sorted(unknown))}; there are {', '.join(networks.MODELS)}")
    torch.set_num_threads(options.threads)
    print("| model | weights | batch | loss, ours | loss, PyTorch | gradient, ours (furthest tensor) | gradient, PyTorch | within |")
    print("|---|---|---|---|---|---|---|---|")
    return 0 if all([compare_model(options, name) for name in options.models or networks.MODELS]) else 1


if __name__ == "__main__":
    sys.exit(main())
