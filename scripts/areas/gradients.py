"""Loss and gradients of the engine's models beside PyTorch's of the same layers, on the same weights and one fixed batch.

Weights from our seed are loaded into PyTorch, then PyTorch's into ours. Both are held against PyTorch in double precision. Exit code 1 when a
model is beyond TOLERANCE. Some minutes. Needs python3-torch and numpy.
"""
import numpy
import torch

import networks
from measuring import columns, one_of, row, stop
from peers import near_ties

PROGRAMS = ["dtbench"]
SAMPLES = {"lenet": 8}  # of the batch; 4 of small images, 2 of large ones
KEPT = ("running_mean", "running_var")
# A model is within: relative errors of the loss, and of each tensor's gradient; or so many times PyTorch's own in float32; or with near ties of
# float64 turned, of which so many are tried for each.
LOSS_TOLERANCE, TOLERANCE, FACTOR, TIES = 1e-5, 1e-4, 3, 8


def options(parser):
    parser.add_argument("models", nargs="*", type=one_of(networks.MODELS), metavar="MODEL", help="which (all)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-winograd", dest="winograd", action="store_false", help="no convolution by Winograd's algorithm")


def input_of(name):
    _, shape, classes = networks.MODELS[name]
    count = SAMPLES.get(name, 4 if shape[1] <= 32 else 2)
    random = numpy.random.default_rng(1)
    return random.standard_normal((count, *shape)).astype("f4"), (numpy.arange(count) % classes).astype("f4")


def ours(asked, place, name, weights=()):
    """{"weights/…", "gradients/…", "loss"} as dtbench computes them; from its own seed without weights."""
    place.run("dtbench", "gradients", "--model", name, "--input", "input.npz", "--threads", asked.threads, "-o", "ours.npz",
              *(["--weights", weights] if weights else []), *([] if asked.winograd else ["--no-winograd"]),
              env={**place.environment, "OMP_WAIT_POLICY": "passive"})
    return numpy.load(place.folder / "ours.npz")


def tensors_of(model):
    """Weights and running statistics in the order in which layers have them."""
    return [(key, value) for key, value in model.state_dict().items() if not key.endswith("num_batches_tracked")]


def set_weights(model, values):
    state = model.state_dict()
    names = [key for key, _ in tensors_of(model)]
    if [state[key].numel() for key in names] != [value.size for value in values]:
        stop("the tensors of the two models differ in number or size", 1)
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


def with_ties_turned(asked, name, values, images, labels, gradients):
    """How far ours are from float64's with those near ties turned that bring these nearer to ours; which they are. The deepest
    tensor that is wrong tells where to look for the next one."""

    def exact(turned):
        return distances(gradients, theirs(name, values, images, labels, torch.float64, turned)[1])

    model = model_of(name, values, torch.float64)
    ties = near_ties.near_ties(model, lambda model: loss_of(model, images, labels, torch.float64), TIES)
    behind = near_ties.deciding_behind(model)
    turned, each, found = [], exact([]), True
    while found and each.max() > TOLERANCE:
        deepest = numpy.flatnonzero(each > TOLERANCE)[-1]
        found = False
        for tie in near_ties.suspects(ties, behind[deepest], turned, TIES):
            tried = exact([*turned, tie])
            if tried[deepest] < each[deepest] / 2:
                turned, each, found = [*turned, tie], tried, True
                break
    return each.max(), turned


def compare(asked, name, direction, found, images, labels):
    """One line of the table; whether it is within the tolerance."""
    weights, gradients = group(found, "weights/"), group(found, "gradients/")
    values, names = list(weights.values()), list(weights)
    exact_loss, exact = theirs(name, values, images, labels, torch.float64)
    loss, single = theirs(name, values, images, labels, torch.float32)
    our_error, where = furthest(list(gradients.values()), exact, names)
    their_error, _ = furthest(single, exact, names)
    loss_error, their_loss_error = abs(float(found["loss"][0]) - exact_loss) / exact_loss, abs(loss - exact_loss) / exact_loss
    good = loss_error <= LOSS_TOLERANCE and our_error <= max(TOLERANCE, FACTOR * their_error)
    verdict = "yes" if good else "NO"
    if our_error > TOLERANCE:
        error, turned = with_ties_turned(asked, name, values, images, labels, list(gradients.values()))
        good = good or (loss_error <= LOSS_TOLERANCE and error <= TOLERANCE)
        widest = f" (gaps up to {max(tie.gap for tie in turned):.1e})" if turned else ""
        verdict = f"{'yes' if good else 'NO'}; {error:.1e} with {len(turned)} near ties turned{widest}"
    row(name, direction, len(images), f"{loss_error:.1e}", f"{their_loss_error:.1e}", f"{our_error:.1e} ({where})", f"{their_error:.1e}", verdict)
    return good


def compare_model(asked, place, name):
    images, labels = input_of(name)
    numpy.savez(place.folder / "input.npz", images=images, labels=labels)
    found = ours(asked, place, name)
    good = compare(asked, name, "ours to PyTorch", found, images, labels)
    torch.manual_seed(2)
    start = tensors_of(networks.build(name))
    shapes = group(found, "weights/")
    numpy.savez(place.folder / "weights.npz", **{key: value.numpy().reshape(shapes[key].shape) for key, (_, value) in zip(shapes, start)})
    del shapes, found
    return compare(asked, name, "PyTorch to ours", ours(asked, place, name, "weights.npz"), images, labels) and good


def measure(asked, place):
    torch.set_num_threads(asked.threads)
    columns("model", "weights", "batch", "loss, ours", "loss, PyTorch", "gradient, ours (furthest tensor)", "gradient, PyTorch", "within")
    return 0 if all([compare_model(asked, place, name) for name in asked.models or networks.MODELS]) else 1
