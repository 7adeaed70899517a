"""What can be seen of an unchanged training loop: which functions loops of other libraries call, events' cost, FLOPs, the peak."""
import os
import tempfile
import time

import torch

from common import DEVICE, IS_GPU, Gpt, ResnetStep, attempt, in_turn_ms, median_ms, ratio_row, row

COUNTS = {}


def count(owner, name):
    inner = getattr(owner, name)

    def wrapped(*args, **kwargs):
        COUNTS[name] = COUNTS.get(name, 0) + 1
        return inner(*args, **kwargs)

    setattr(owner, name, wrapped)


def watch():
    """Counts what an observer would wrap: batches, the outermost module's calls, backward passes, updates."""
    from torch.utils.data.dataloader import _BaseDataLoaderIter

    count(_BaseDataLoaderIter, "__next__")
    count(torch.autograd, "backward")
    depth = [0]
    inner = torch.nn.Module.__call__

    def call(self, *args, **kwargs):
        if depth[0] == 0 and torch.is_grad_enabled():
            COUNTS["forward"] = COUNTS.get("forward", 0) + 1
        depth[0] += 1
        try:
            return inner(self, *args, **kwargs)
        finally:
            depth[0] -= 1

    torch.nn.Module.__call__ = call
    try:  # the module is not an attribute of torch.optim, and has these hooks since torch 2.0
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(lambda *_: COUNTS.__setitem__("step", COUNTS.get("step", 0) + 1))
    except ImportError:
        row("hooks of every optimizer's step", "not there")


def seen(what, train):
    COUNTS.clear()
    begin = time.perf_counter()
    train()
    row(f"8 batches in {what}: seen", str(dict(sorted(COUNTS.items()))), "", f"{time.perf_counter() - begin:.1f} s")


def data():
    return torch.utils.data.TensorDataset(torch.randn(64, 16), torch.randint(0, 4, (64,)))


def plain_loop():
    module = torch.nn.Linear(16, 4).to(DEVICE)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    for images, labels in torch.utils.data.DataLoader(data(), batch_size=8, num_workers=2, pin_memory=IS_GPU):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(module(images.to(DEVICE)), labels.to(DEVICE)).backward()
        optimizer.step()


def lightning_loop():
    import lightning
    import logging

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(16, 4)

        def training_step(self, batch, index):
            return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    trainer = lightning.Trainer(
        max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, devices=1
    )
    seen("Lightning", lambda: trainer.fit(Module(), torch.utils.data.DataLoader(data(), batch_size=8)))


def accelerate_loop():
    import accelerate

    accelerator = accelerate.Accelerator()
    module = torch.nn.Linear(16, 4)
    module, optimizer, loader = accelerator.prepare(
        module, torch.optim.SGD(module.parameters(), lr=0.1), torch.utils.data.DataLoader(data(), batch_size=8)
    )

    def train():
        for images, labels in loader:
            optimizer.zero_grad()
            accelerator.backward(torch.nn.functional.cross_entropy(module(images), labels))
            optimizer.step()

    seen("Accelerate", train)


def transformers_loop():
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import transformers
    from torch import nn

    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(16, 4)

        def forward(self, x=None, labels=None):
            logits = self.layer(x)
            return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}

    rows = [{"x": torch.randn(16), "labels": torch.tensor(1)} for _ in range(64)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(folder, per_device_train_batch_size=8, num_train_epochs=1, report_to=[], save_strategy="no",
                                                   logging_strategy="no", disable_tqdm=True)
        trainer = transformers.Trainer(Module(), arguments, train_dataset=rows)
        seen("transformers.Trainer", trainer.train)


def events():
    """A pair of events around each phase, read one step later, beside the plain step."""
    batch = 128 if IS_GPU else 2
    plain, watched = ResnetStep(batch), ResnetStep(batch)
    pairs = []

    def timed():
        begin = torch.cuda.Event(enable_timing=True) if IS_GPU else None
        end = torch.cuda.Event(enable_timing=True) if IS_GPU else None
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(4)] if IS_GPU else []
        if IS_GPU:
            begin.record()
        watched()
        if IS_GPU:
            for mark in marks:
                mark.record()
            end.record()
            pairs.append((begin, end))
            if len(pairs) > 2:
                first, last = pairs.pop(0)
                if last.query():
                    first.elapsed_time(last)

    times = in_turn_ms({"plain": plain, "watched": timed}, *((6, 6, 10) if IS_GPU else (1, 2, 1)))
    ratio_row("a step with 6 timed events", times, "watched", "plain")
    if IS_GPU:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        plain()
        host = time.perf_counter() - begin
        torch.cuda.synchronize()
        row("ResNet-50 step: host returns after, device ends after", f"{1e3 * host:.1f}, {1e3 * (time.perf_counter() - begin):.1f}", "ms")


def flops():
    from torch.utils.flop_counter import FlopCounterMode

    size = 8192 if IS_GPU else 256
    a, b = (torch.randn(size, size, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    middle, low, high = median_ms(lambda: a @ b, 5, 20)
    peak = 2e-9 * size**3 / middle
    row(f"bf16 product of {size}^3", round(peak, 1), "TFLOP/s", f"quartiles of ms {low:.3f}, {high:.3f}")
    batch = 128 if IS_GPU else 2
    step = ResnetStep(batch)
    step()
    with FlopCounterMode(display=False) as counter:
        step()
    middle, _, _ = median_ms(step, 3, 20)
    total = counter.get_total_flops()
    row("ResNet-50, FLOPs a sample counted in a step", round(total / batch / 1e9, 3), "GFLOP",
        f"forward and backward; {batch / middle * 1e3:.0f} samples/s; {1e-9 * total / middle:.1f} TFLOP/s, {1e-9 * total / middle / peak:.3f} of the product's rate")
    gpt = Gpt().to(DEVICE)
    optimizer = torch.optim.AdamW(gpt.parameters(), lr=1e-4)
    text = torch.randint(0, 256, (64 if IS_GPU else 1, 256), device=DEVICE)

    def gpt_step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE.type, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(gpt(text).flatten(0, 1), text.flatten())
        loss.backward()
        optimizer.step()

    gpt_step()
    with FlopCounterMode(display=False) as counter:
        gpt_step()
    middle, _, _ = median_ms(gpt_step, 3, 20)
    total = counter.get_total_flops()
    weights = sum(p.numel() for p in gpt.parameters())
    row("small GPT (10.7 M), FLOPs a token counted", round(total / text.numel() / 1e6, 2), "MFLOP",
        f"6 N = {6e-6 * weights:.2f}; {text.numel() / middle * 1e3:.0f} tokens/s; {1e-9 * total / middle / peak:.3f} of the product's rate")


attempt("wrapping", watch)
attempt("plain loop", lambda: seen("a plain loop", plain_loop))
attempt("Lightning", lightning_loop)
attempt("Accelerate", accelerate_loop)
attempt("transformers", transformers_loop)
attempt("events", events)
attempt("FLOPs", flops)
