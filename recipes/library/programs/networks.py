"""The networks of dtengine in PyTorch: the same layers in the same order. Parameters come in dtengine's order, so they are matched by
place and shape, whatever their names. scripts/measure gradients compares losses and gradients of both.

MODELS: name -> (constructor, image shape (channels, height, width) and classes of the published network).
build(name, shape, classes, dropout): the network for images of another shape or another number of classes.
loss_of(model, images, labels): what is minimised, the losses of the auxiliary heads included.
"""
import functools
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

AUXILIARY_WEIGHT = 0.3  # of each of GoogLeNet's two heads beside the last


def relu():
    return nn.ReLU(inplace=True)


def conv_relu(inputs, outputs, kernel, stride=1, padding=0, groups=1):
    return [nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups), relu()]


def conv_norm(inputs, outputs, kernel, stride=1):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs)]


def classifier(widths, dropout):
    """Full connections of these widths, ReLU between them, and with `dropout` dropout before all but the last one."""
    layers = []
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        is_last = i == len(widths) - 2
        if dropout and not is_last:
            layers.append(nn.Dropout(0.5))
        layers.append(nn.Linear(inputs, outputs))
        if not is_last:
            layers.append(relu())
    return layers


def flat_size(features, shape):
    """Numbers that the features of one image of this shape have."""
    with torch.no_grad():
        return nn.Sequential(*features).eval()(torch.zeros(1, *shape)).numel()


class Chain(nn.Sequential):
    """Layers one after another: features, then full connections of these widths."""

    def __init__(self, features, shape, widths, dropout=False):
        head = classifier([flat_size(features, shape), *widths], dropout)
        super().__init__(*features, nn.Flatten(), *head)
        self.train()


def lenet(shape, classes, dropout):
    padding = 2 if min(shape[1:]) < 32 else 0
    features = [*conv_relu(shape[0], 6, 5, padding=padding), nn.MaxPool2d(2), *conv_relu(6, 16, 5), nn.MaxPool2d(2)]
    return Chain(features, shape, [120, 84, classes])


def alexnet(shape, classes, dropout):
    """One tower of the paper's widths, without normalisation."""
    features = [*conv_relu(shape[0], 96, 11, 4), nn.MaxPool2d(3, 2), *conv_relu(96, 256, 5, padding=2), nn.MaxPool2d(3, 2),
                *conv_relu(256, 384, 3, padding=1), *conv_relu(384, 384, 3, padding=1), *conv_relu(384, 256, 3, padding=1),
                nn.MaxPool2d(3, 2)]
    return Chain(features, shape, [4096, 4096, classes], dropout)


def local_norm():
    # PyTorch divides alpha by the channels that are summed, as oneDNN does; the paper does not.
    return nn.LocalResponseNorm(5, alpha=5e-4, beta=0.75, k=2.0)


def alexnet_cifar(shape, classes, dropout):
    features = [*conv_relu(shape[0], 48, 5, padding=2), nn.MaxPool2d(3, 2), *conv_relu(48, 128, 5, padding=2), nn.MaxPool2d(3, 2),
                *conv_relu(128, 192, 3, padding=1), *conv_relu(192, 192, 3, padding=1), *conv_relu(192, 128, 3, padding=1),
                nn.MaxPool2d(3, 2)]
    return Chain(features, shape, [1024, 1024, classes], dropout)


def alexnet_2012(shape, classes, dropout):
    """As published: two groups in the second, fourth and fifth convolution, normalisation over channels behind the first two."""
    features = [*conv_relu(shape[0], 96, 11, 4), local_norm(), nn.MaxPool2d(3, 2),
                *conv_relu(96, 256, 5, padding=2, groups=2), local_norm(), nn.MaxPool2d(3, 2),
                *conv_relu(256, 384, 3, padding=1), *conv_relu(384, 384, 3, padding=1, groups=2),
                *conv_relu(384, 256, 3, padding=1, groups=2), nn.MaxPool2d(3, 2)]
    return Chain(features, shape, [4096, 4096, classes], dropout)


VGG_CONVOLUTIONS = {11: (1, 1, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def vgg_stages(depth, inputs, convolution):
    features = []
    for outputs, count in zip((64, 128, 256, 512, 512), VGG_CONVOLUTIONS[depth]):
        for _ in range(count):
            features += convolution(inputs, outputs)
            inputs = outputs
        features.append(nn.MaxPool2d(2))
    return features


def vgg(depth, shape, classes, dropout):
    features = vgg_stages(depth, shape[0], lambda inputs, outputs: conv_relu(inputs, outputs, 3, padding=1))
    return Chain(features, shape, [4096, 4096, classes], dropout)


def vgg_cifar(depth, shape, classes, dropout):
    """With batch norm behind each convolution, and one full connection."""
    features = vgg_stages(depth, shape[0], lambda inputs, outputs: [*conv_norm(inputs, outputs, 3), relu()])
    return Chain(features, shape, [classes])


class Block(nn.Module):
    """A residual block: two 3x3 convolutions, or 1x1, 3x3 and 1x1 (bottleneck) with the stride in the 3x3; a 1x1 convolution on
    the shortcut where the shape changes."""

    def __init__(self, inputs, width, stride, bottleneck):
        super().__init__()
        outputs = 4 * width if bottleneck else width
        if bottleneck:
            layers = conv_norm(inputs, width, 1) + [relu()] + conv_norm(width, width, 3, stride) + [relu()]
            layers += conv_norm(width, outputs, 1)
        else:
            layers = conv_norm(inputs, width, 3, stride) + [relu()] + conv_norm(width, width, 3)
        self.branch = nn.Sequential(*layers[:-1])
        changes = stride != 1 or outputs != inputs
        self.projection = nn.Sequential(*conv_norm(inputs, outputs, 1, stride)) if changes else None
        self.norm = layers[-1]  # behind the projection, as the engine has it, which computes it and the sum in one
        self.end = relu()

    def forward(self, x):
        y = self.norm(self.branch(x))
        y += x if self.projection is None else self.projection(x)
        return self.end(y)


def residual_stages(inputs, width, counts, bottleneck):
    blocks = []
    for stage, count in enumerate(counts):
        for place in range(count):
            blocks.append(Block(inputs, width, 2 if place == 0 and stage > 0 else 1, bottleneck))
            inputs = 4 * width if bottleneck else width
        width *= 2
    return blocks


RESNET_STAGES = {18: (False, (2, 2, 2, 2)), 34: (False, (3, 4, 6, 3)), 50: (True, (3, 4, 6, 3)), 101: (True, (3, 4, 23, 3))}


def resnet(depth, shape, classes, dropout):
    bottleneck, counts = RESNET_STAGES[depth]
    stages = residual_stages(64, 64, counts, bottleneck)
    features = [*conv_norm(shape[0], 64, 7, 2), relu(), nn.MaxPool2d(3, 2, 1), *stages, nn.AdaptiveAvgPool2d(1)]
    return Chain(features, shape, [classes])


def resnet_cifar(depth, shape, classes, dropout):
    """6n + 2 layers: three stages of n blocks, 16, 32 and 64 wide."""
    stages = residual_stages(16, 16, ((depth - 2) // 6,) * 3, False)
    return Chain([*conv_norm(shape[0], 16, 3), relu(), *stages, nn.AdaptiveAvgPool2d(1)], shape, [classes])


class Inception(nn.Module):
    """Four branches side by side, joined by channels: 1x1; 1x1 and 3x3; 1x1 and 5x5; pooling and 1x1."""

    def __init__(self, inputs, one, reduce3, three, reduce5, five, pooled, convolution):
        super().__init__()
        self.one = nn.Sequential(*convolution(inputs, one, 1))
        self.three = nn.Sequential(*convolution(inputs, reduce3, 1), *convolution(reduce3, three, 3))
        self.five = nn.Sequential(*convolution(inputs, reduce5, 1), *convolution(reduce5, five, 5))
        self.pooled = nn.Sequential(nn.MaxPool2d(3, 1, 1), *convolution(inputs, pooled, 1))

    def forward(self, x):
        return torch.cat([self.one(x), self.three(x), self.five(x), self.pooled(x)], 1)


def auxiliary_head(shape, classes, dropout):
    features = [nn.AvgPool2d(5, 3), *conv_relu(shape[0], 128, 1)]
    return nn.Sequential(*features, nn.Flatten(), nn.Linear(flat_size(features, shape), 1024), relu(),
                         *([nn.Dropout(0.7)] if dropout else []), nn.Linear(1024, classes))


def square_conv_relu(inputs, outputs, kernel):
    return conv_relu(inputs, outputs, kernel, padding=kernel // 2)


def square_conv_norm_relu(inputs, outputs, kernel):
    return [*conv_norm(inputs, outputs, kernel), relu()]


# Channels of an inception: into it; 1x1; 3x3 behind its reduction; 5x5 behind its reduction; behind the pooling.
INCEPTIONS = {
    "3a": (192, 64, 96, 128, 16, 32, 32), "3b": (256, 128, 128, 192, 32, 96, 64), "4a": (480, 192, 96, 208, 16, 48, 64),
    "4b": (512, 160, 112, 224, 24, 64, 64), "4c": (512, 128, 128, 256, 24, 64, 64), "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128), "5a": (832, 256, 160, 320, 32, 128, 128), "5b": (832, 384, 192, 384, 48, 128, 128),
}


def inceptions(names, convolution):
    return [Inception(*INCEPTIONS[name], convolution) for name in names.split()]


def halving():
    return nn.MaxPool2d(3, 2, ceil_mode=True)


class GoogLeNet(nn.Module):
    """While it trains it gives three outputs: the first head's, the second's, the last."""

    def __init__(self, shape, classes, dropout):
        super().__init__()
        of = square_conv_relu
        self.stem = nn.Sequential(*conv_relu(shape[0], 64, 7, 2, 3), halving(), self.norm(), *of(64, 64, 1), *of(64, 192, 3), self.norm(),
                                  halving())
        self.to_4a = nn.Sequential(*inceptions("3a 3b", of), halving(), *inceptions("4a", of))
        side = self.to_4a(self.stem(torch.zeros(1, *shape))).shape[2:]
        self.head1 = auxiliary_head((512, *side), classes, dropout)
        self.to_4d = nn.Sequential(*inceptions("4b 4c 4d", of))
        self.head2 = auxiliary_head((528, *side), classes, dropout)
        self.to_end = nn.Sequential(*inceptions("4e", of), halving(), *inceptions("5a 5b", of), nn.AdaptiveAvgPool2d(1),
                                    nn.Flatten(), *([nn.Dropout(0.4)] if dropout else []), nn.Linear(1024, classes))

    @staticmethod
    def norm():
        return nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=1.0)

    def forward(self, x):
        x = self.to_4a(self.stem(x))
        first = self.head1(x) if self.training else None
        x = self.to_4d(x)
        second = self.head2(x) if self.training else None
        last = self.to_end(x)
        return (first, second, last) if self.training else last


def googlenet_cifar(shape, classes, dropout):
    """Without the stem's poolings and without auxiliary heads, with batch norm behind each convolution."""
    of = square_conv_norm_relu
    features = [*of(shape[0], 192, 3), *inceptions("3a 3b", of), halving(), *inceptions("4a 4b 4c 4d 4e", of), halving(),
                *inceptions("5a 5b", of), nn.AdaptiveAvgPool2d(1), *([nn.Dropout(0.4)] if dropout else [])]
    return Chain(features, shape, [classes])


def loss_of(model, images, labels, label_smoothing=0.0):
    outputs = model(images)
    *heads, last = [outputs] if torch.is_tensor(outputs) else outputs
    losses = [F.cross_entropy(each, labels, label_smoothing=label_smoothing) for each in [last, *heads]]
    return losses[0] + AUXILIARY_WEIGHT * sum(losses[1:])


def build(name, shape=None, classes=None, dropout=False):
    construct, *published = MODELS[name]
    return construct(shape or published[0], classes or published[1], dropout)


def fill_initial_weights(model):
    """Weights as dtengine begins, though not the same numbers: uniform with variance g / inputs of an output, g being 2 before a ReLU
    and 1 else; biases 0."""
    layers = list(model.modules())
    for place, layer in enumerate(layers):
        if not isinstance(layer, (nn.Conv2d, nn.Linear)):
            continue
        behind = [each for each in layers[place + 1:place + 3] if not isinstance(each, nn.BatchNorm2d)]
        gain = 2 if behind and isinstance(behind[0], nn.ReLU) else 1
        bound = math.sqrt(3 * gain / layer.weight[0].numel())
        nn.init.uniform_(layer.weight, -bound, bound)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


def _of_depth(constructor, depth):
    return functools.partial(constructor, depth)


_photo, _tile = (3, 224, 224), (3, 32, 32)
MODELS = {
    "lenet": (lenet, (1, 28, 28), 10),
    "alexnet": (alexnet, (3, 227, 227), 1000),
    "alexnet-2012": (alexnet_2012, (3, 227, 227), 1000),
    "alexnet-cifar": (alexnet_cifar, _tile, 10),
    **{f"vgg{depth}": (_of_depth(vgg, depth), _photo, 1000) for depth in VGG_CONVOLUTIONS},
    **{f"vgg{depth}-cifar": (_of_depth(vgg_cifar, depth), _tile, 10) for depth in VGG_CONVOLUTIONS},
    **{f"resnet{depth}": (_of_depth(resnet, depth), _photo, 1000) for depth in RESNET_STAGES},
    **{f"resnet{depth}": (_of_depth(resnet_cifar, depth), _tile, 10) for depth in (20, 56)},
    "googlenet": (GoogLeNet, _photo, 1000),
    "googlenet-cifar": (googlenet_cifar, _tile, 10),
}
