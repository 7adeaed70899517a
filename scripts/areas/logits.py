"""Logits of the engine's models beside PyTorch's, on the same weights and the same images.

Each network is rebuilt in PyTorch from what `dtctl recipe models NAME --json` prints, and from nothing else (docs/guide/going-on-from-weights.md).
Its weights, made here, go to `dtengine predict` as an archive of numpy.savez; what that writes is compared with what PyTorch computes in
float64. A model is within TOLERANCE if no logit is further off than that share of the largest one. Every model, if none is named, on
small images where its layers allow it; about two minutes. Exit code 1 when a model is beyond the tolerance. Needs python3-torch and numpy.
"""
import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F

from measuring import columns, row, stop

PROGRAMS = ["dtctl", "dtengine"]
TOLERANCE = 1e-4  # as a share of the largest logit
# Smaller than published where the full connections would be large.
SMALL = {"alexnet": "3x99x99", "alexnet-2012": "3x99x99", "vgg11": "3x64x64", "vgg16": "3x64x64", "vgg19": "3x64x64",
         "resnet18": "3x96x96", "resnet34": "3x96x96", "resnet50": "3x96x96", "resnet101": "3x96x96"}


def sizes(shape):
    return [int(side) for side in shape.split("x")]


def pooled(function, attributes, **more):
    return lambda x: function(x, attributes["kernel"], attributes["stride"], attributes["padding"], ceil_mode=attributes["ceil"], **more)


def module_of(layer):
    """The layer as a module, if it has parameters."""
    given, inputs = layer["attributes"], [sizes(shape) for shape in layer["inputs"]]
    if layer["kind"] == "convolution":
        return nn.Conv2d(inputs[0][0], given["channels"], given["kernel"], given["stride"], given["padding"], groups=given["groups"],
                         bias=given["bias"])
    if layer["kind"] == "inner product":
        return nn.Linear(int(numpy.prod(inputs[0])), given["outputs"], bias=given["bias"])
    if layer["kind"] == "batch norm":
        return nn.BatchNorm2d(inputs[0][0], eps=given["eps"], momentum=given["momentum"])
    return None


def function_of(layer):
    """What the layer computes of its inputs, if it has no parameters."""
    given, kind = layer["attributes"], layer["kind"]
    if kind == "relu":
        return torch.relu
    if kind == "max pooling":
        return pooled(F.max_pool2d, given)
    if kind == "average pooling":
        if given.get("global"):
            return lambda x: x.mean((2, 3), keepdim=True)
        return pooled(F.avg_pool2d, given, count_include_pad=given["counts_padding"])
    if kind == "local response norm":
        return lambda x: F.local_response_norm(x, given["size"], given["alpha"], given["beta"], given["k"])
    if kind == "dropout":
        return lambda x: x
    if kind == "add":
        return lambda *inputs: sum(inputs)
    if kind == "concat":
        return lambda *inputs: torch.cat(inputs, 1)
    stop(f"no PyTorch for a layer of kind {kind}")


class Network(nn.Module):
    """For an evaluation. Auxiliary classifiers are there with their weights, but their outputs go nowhere."""

    def __init__(self, description):
        super().__init__()
        self.layers, self.logits = description["layers"], description["logits"]
        for layer in self.layers:
            module = module_of(layer)
            if module is not None:
                self.add_module(layer["name"], module)

    def forward(self, images):
        outputs = {"images": images}
        for layer in self.layers:
            inputs = [outputs[name] for name in layer["from"]]
            module = getattr(self, layer["name"], None)
            if layer["kind"] == "inner product":
                inputs = [inputs[0].flatten(1)]
            result = module(*inputs) if module is not None else function_of(layer)(*inputs)
            outputs[layer["name"]] = result.reshape(result.shape[0], *sizes(layer["output"]))
        return outputs[self.logits].flatten(1)


def with_random_weights(description):
    """PyTorch's own first weights; statistics of batch norms that differ from mean 0 and variance 1."""
    torch.manual_seed(2)
    network = Network(description).eval()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.2, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.2, 0.2)
    return network


def weights_of(network):
    return {name: value.numpy() for name, value in network.state_dict().items() if not name.endswith("num_batches_tracked")}


def options(parser):
    parser.add_argument("models", nargs="*", metavar="MODEL", help="which (all)")


def compare(asked, place, name):
    description = place.json("dtctl", "recipe", "models", name, *(["--image", SMALL[name]] if name in SMALL else []))
    network = with_random_weights(description)
    count = sum(parameter.numel() for parameter in network.parameters())
    numpy.savez(place.folder / "weights.npz", **weights_of(network))
    place.run("dtengine", "predict", name, "--image", description["image"], "--weights", "weights.npz", "--data", "synthetic", "--samples", 3, "--images",
              "-o", f"logits-{name}.npz")
    ours = numpy.load(place.folder / f"logits-{name}.npz")
    logits, images = ours["logits"].astype("f8"), torch.from_numpy(ours["images"])
    with torch.no_grad():
        single = network(images).double().numpy()
        exact = network.double()(images.double()).numpy()
    largest = abs(exact).max()
    error, theirs = abs(logits - exact).max() / largest, abs(single - exact).max() / largest
    good = error <= TOLERANCE and count == description["parameters"]
    row(name, description["image"], count, f"{error:.1e}", f"{theirs:.1e}", "yes" if good else "NO")
    return good


def measure(asked, place):
    names = [model["name"] for model in place.json("dtctl", "recipe", "models")["models"] if model["parameters"]]
    columns("model", "images", "parameters", "logits, ours", "logits, PyTorch", "within")
    return 0 if all([compare(asked, place, name) for name in asked.models or names]) else 1
