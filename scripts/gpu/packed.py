"""Weights and gradients of a module in flat buffers: what that costs a step on the device, and what it leaves alone."""
import torch

from common import DEVICE, IS_GPU, Packed, ResnetStep, attempt, copy_all, in_turn_ms, median_ms, ratio_row, row

BATCH = 128 if IS_GPU else 2
ROUNDS, STEPS, WARM = (10, 10, 6) if IS_GPU else (2, 2, 1)


def variants():
    plain = ResnetStep(BATCH)
    weights = ResnetStep(BATCH, lambda m: Packed(m, packs_gradients=False))
    views = ResnetStep(BATCH, Packed, clear="flat")
    gathered = ResnetStep(BATCH, lambda m: Packed(m, packs_gradients=False))
    flat = torch.zeros(gathered.packed.size, device=DEVICE)
    targets = [Packed.view(flat, b, e, p) for p, (b, e) in zip(gathered.packed.parameters, gathered.packed.ranges)]
    gathered.after_backward = lambda: copy_all(targets, [p.grad for p in gathered.packed.parameters])
    steps = {"plain": plain, "weights packed": weights, "weights and gradients packed": views, "gradients gathered after backward": gathered}
    times = in_turn_ms(steps, WARM, ROUNDS, STEPS)
    for name in steps:
        ratio_row(f"ResNet-50 b{BATCH} bf16 channels-last, {name}", times, name, "plain")
    row("a packed weight is still channels-last",
        views.module.conv1.weight.is_contiguous(memory_format=torch.channels_last) if hasattr(views.module, "conv1") else "not tried")


def losses_agree():
    torch.backends.cudnn.deterministic = True
    curves = []
    for packed, clear in ((None, "none"), (Packed, "flat")):
        step = ResnetStep(16 if IS_GPU else 2, packed, clear)
        curves.append([float(step()) for _ in range(5)])
    row("losses of 5 steps, plain and packed, largest difference", max(abs(a - b) for a, b in zip(*curves)), "", str(curves))


def flat_updates():
    """The updates of the elastic and outer rules on flat buffers of 25.6 M floats, beside the bytes that they must move."""
    count = 25_557_032 if IS_GPU else 100_000
    theta, center, delta, velocity = (torch.randn(count, device=DEVICE) for _ in range(4))
    other = torch.empty_like(theta)

    def elastic():
        torch.sub(theta, center, out=delta)
        theta.add_(delta, alpha=-0.1)
        center.add_(delta, alpha=0.1)

    def nesterov():
        torch.sub(center, theta, out=delta)
        velocity.mul_(0.9).add_(delta)
        center.add_(delta, alpha=-0.7).add_(velocity, alpha=-0.63)
        theta.copy_(center)

    for name, function, passes in (("copy", lambda: other.copy_(theta), 2), ("elastic", elastic, 3 + 3 + 3),
                                   ("outer Nesterov", nesterov, 3 + 2 + 3 + 3 + 3 + 2)):
        middle, low, high = median_ms(function, 5, 30)
        row(f"{name} on {count / 1e6:.1f} M floats", round(middle, 4), "ms",
            f"quartiles {low:.4f}, {high:.4f}; {4e-6 * count * passes / middle:.0f} GB/s")


def special_cases():
    from torch import nn

    shared = nn.Linear(64, 64).to(DEVICE)
    tied = nn.Sequential(shared, nn.ReLU(), shared)
    packed = Packed(tied)
    row("tied weights are one range", len(packed.ranges) == 2)
    tied(torch.randn(4, 64, device=DEVICE)).sum().backward()
    row("gradients of tied weights arrive in the flat buffer", bool(packed.gradients.abs().sum() > 0))
    tied.zero_grad()
    row("Module.zero_grad() cuts the views (p.grad is None)", packed.parameters[0].grad is None)
    if IS_GPU:
        fused = nn.Linear(256, 256).to(DEVICE)
        flat = Packed(fused)
        optimizer = torch.optim.AdamW(fused.parameters(), fused=True)
        fused(torch.randn(8, 256, device=DEVICE)).sum().backward()
        before = flat.weights.clone()
        optimizer.step()
        row("fused AdamW moves the flat weights", bool((flat.weights != before).any()))
        scaler = torch.amp.GradScaler("cuda")
        flat.gradients.zero_()
        with torch.autocast("cuda", torch.float16):
            loss = fused(torch.randn(8, 256, device=DEVICE)).sum()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        row("GradScaler.unscale_ writes into the flat gradients", float(flat.gradients.abs().max()))
        row("clip_grad_norm_ on views", float(torch.nn.utils.clip_grad_norm_(fused.parameters(), 1.0)), "",
            f"largest afterwards {float(flat.gradients.abs().max()):.4f}")


def compiled():
    if not IS_GPU:
        return
    from torch import nn
    import time

    module = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).to(DEVICE)
    packed = Packed(module)
    calls = []
    handles = [p.register_post_accumulate_grad_hook(lambda _: calls.append(1)) for p in packed.parameters]
    begin = time.perf_counter()
    fast = torch.compile(module)
    x = torch.randn(64, 512, device=DEVICE)
    fast(x).sum().backward()
    row("torch.compile over packed weights, first step", round(time.perf_counter() - begin, 1), "s", f"{len(calls)} of 4 gradient hooks ran")
    packed.gradients.zero_()
    fast(x).sum().backward()
    a = packed.gradients.clone()
    packed.gradients.zero_()
    module(x).sum().backward()
    row("compiled and eager gradients differ by", float((a - packed.gradients).norm() / packed.gradients.norm()))
    packed.weights.mul_(0.5)
    row("a compiled module sees changed flat weights", bool(torch.allclose(fast(x), module(x), rtol=1e-2, atol=1e-3)))
    del handles


attempt("packed variants", variants)
attempt("losses", losses_agree)
attempt("flat updates", flat_updates)
attempt("special cases", special_cases)
attempt("torch.compile", compiled)
