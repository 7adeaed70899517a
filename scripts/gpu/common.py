"""What the sections of scripts/check-gpu share: rows of the table, timing, MPI through ctypes, networks."""
import ctypes
import json
import statistics
import time

import torch

IS_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if IS_GPU else "cpu")


def row(what, value, unit="", note=""):
    """One row of the table; the driver reads these lines from standard output."""
    print(json.dumps({"what": what, "value": value, "unit": unit, "note": note}), flush=True)


def attempt(what, function):
    """Runs `function`; a failure is a row, so that the next facts are still read."""
    try:
        return function()
    except ModuleNotFoundError as error:
        row(what, "not there", "", str(error))
        return None
    except Exception as error:  # whatever a library throws is the fact
        row(what, "failed", "", f"{type(error).__name__}: {error}"[:300])
        return None


def synchronize():
    if IS_GPU:
        torch.cuda.synchronize()


def median_ms(step, warm_up, count):
    """The median time of `step` in ms on the wall clock, each ended by a synchronisation, and the quartiles."""
    for _ in range(warm_up):
        step()
    synchronize()
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        step()
        synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    quarters = statistics.quantiles(times, n=4) if len(times) > 3 else [min(times), statistics.median(times), max(times)]
    return statistics.median(times), quarters[0], quarters[2]


def in_turn_ms(steps, warm_up, rounds, steps_a_round):
    """Runs the steps of `steps` (name to function) in turn; a dictionary of name to the rounds' times of one step in ms."""
    times = {name: [] for name in steps}
    for step in steps.values():
        for _ in range(warm_up):
            step()
    for _ in range(rounds):
        for name, step in steps.items():
            synchronize()
            begin = time.perf_counter()
            for _ in range(steps_a_round):
                step()
            synchronize()
            times[name].append(1e3 * (time.perf_counter() - begin) / steps_a_round)
    return times


def ratio_row(what, times, name, base, note=""):
    ratios = [a / b for a, b in zip(times[name], times[base])]
    row(what, round(statistics.median(times[name]), 3), "ms",
        f"{statistics.median(ratios):.4f} of {base} [{min(ratios):.4f}, {max(ratios):.4f}] in {len(ratios)} rounds{note}")


class Mpi:
    """Just enough of Open MPI's C interface for a sum over host memory."""

    def __init__(self, level=1):
        self.lib = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
        provided = ctypes.c_int()
        self.lib.MPI_Init_thread(None, None, level, ctypes.byref(provided))
        self.provided = provided.value
        self.world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.lib, "ompi_mpi_comm_world")))
        self.float = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.lib, "ompi_mpi_float")))
        self.sum = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.lib, "ompi_mpi_op_sum")))
        rank, size = ctypes.c_int(), ctypes.c_int()
        self.lib.MPI_Comm_rank(self.world, ctypes.byref(rank))
        self.lib.MPI_Comm_size(self.world, ctypes.byref(size))
        self.rank, self.size = rank.value, size.value

    def sum_in_place(self, pointer, count):
        in_place = ctypes.c_void_p(1)
        code = self.lib.MPI_Allreduce(in_place, ctypes.c_void_p(pointer), count, self.float, self.sum, self.world)
        if code != 0:
            raise RuntimeError(f"MPI_Allreduce answered {code}")

    def barrier(self):
        self.lib.MPI_Barrier(self.world)

    def finish(self):
        self.lib.MPI_Finalize()


class Packed:
    """All parameters of a module as views into one flat buffer, gradients likewise, in the order in which gradients become final.

    Each tensor begins at a multiple of 16 floats. A channels-last weight keeps its layout.
    """

    def __init__(self, module, is_pinned=False, packs_weights=True, packs_gradients=True):
        self.parameters = [p for p in reversed(list(module.parameters())) if p.requires_grad]
        self.ranges, end = [], 0
        for p in self.parameters:
            begin = (end + 15) // 16 * 16
            end = begin + p.numel()
            self.ranges.append((begin, end))
        self.size = end
        device = self.parameters[0].device
        self.weights = torch.zeros(end, device=device) if packs_weights else None
        self.gradients = torch.zeros(end, device=device) if packs_gradients else None
        self.mirror = torch.zeros(end, pin_memory=is_pinned) if is_pinned else None
        with torch.no_grad():
            for p, (begin, stop) in zip(self.parameters, self.ranges):
                if packs_weights:
                    view = self.view(self.weights, begin, stop, p)
                    view.copy_(p.data)
                    p.data = view
                if packs_gradients:
                    p.grad = self.view(self.gradients, begin, stop, p)

    @staticmethod
    def view(flat, begin, stop, p):
        return (flat[begin:stop].as_strided(p.shape, p.stride(), flat.storage_offset() + begin) if p.dim() == 4 else flat[begin:stop].view(p.shape))

    def buckets(self, size_bytes):
        """Ranges of whole tensors of at least `size_bytes`, with the number of tensors in each."""
        buckets, begin, count = [], 0, 0
        for index, (_, stop) in enumerate(self.ranges):
            count += 1
            if 4 * (stop - begin) >= size_bytes or index + 1 == len(self.ranges):
                buckets.append((begin, stop, count))
                begin, count = stop, 0
        return buckets


def copy_all(targets, sources):
    """Copies each of `sources` into its target: one call on the device where torch has it (2.1)."""
    if hasattr(torch, "_foreach_copy_"):
        torch._foreach_copy_(targets, sources)
    else:
        for target, source in zip(targets, sources):
            target.copy_(source)


def on_final_gradient(p, function):
    """Calls function() when the gradient of `p` is final in a backward pass; the answer must be kept."""
    if hasattr(p, "register_post_accumulate_grad_hook"):
        return p.register_post_accumulate_grad_hook(lambda _: function())
    accumulator = p.expand_as(p).grad_fn.next_functions[0][0]
    accumulator.register_hook(lambda *_: function())
    return accumulator


def resnet50():
    """torchvision's where it is there, else a plain stack of convolutions for the trial on a CPU."""
    try:
        import torchvision

        return torchvision.models.resnet50()
    except ImportError:
        from torch import nn

        return nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.BatchNorm2d(32), nn.ReLU(),
                             nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 1000))


class Gpt(torch.nn.Module):
    """A small decoder: 6 layers of width 384, 10.6 M parameters, the size of the usual character-level example."""

    def __init__(self, tokens=256, width=384, layers=6, heads=6, length=256):
        super().__init__()
        self.words = torch.nn.Embedding(tokens, width)
        self.places = torch.nn.Parameter(torch.zeros(length, width))
        layer = torch.nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
        self.body = torch.nn.TransformerEncoder(layer, layers)
        self.head = torch.nn.Linear(width, tokens)
        self.register_buffer("mask", torch.triu(torch.full((length, length), float("-inf")), 1))

    def forward(self, text):
        hidden = self.words(text) + self.places
        return self.head(self.body(hidden, mask=self.mask))


class ResnetStep:
    """forward, backward and update of ResNet-50 in bf16, channels-last, over one batch that stays on the device."""

    def __init__(self, batch, packed=None, clear="none", after_backward=None, gradient_hook=None, seed=1):
        torch.manual_seed(seed)
        self.module = resnet50().to(DEVICE).to(memory_format=torch.channels_last)
        side = 224 if IS_GPU else 32
        self.images = torch.randn(batch, 3, side, side, device=DEVICE).to(memory_format=torch.channels_last)
        self.labels = torch.randint(0, 1000, (batch,), device=DEVICE)
        self.packed = packed(self.module) if packed else None
        self.clear, self.after_backward, self.gradient_hook = clear, after_backward, gradient_hook
        self.optimizer = torch.optim.SGD(self.module.parameters(), lr=0.01, momentum=0.9)

    def __call__(self):
        if self.clear == "none":
            self.optimizer.zero_grad(set_to_none=True)
        elif self.clear == "flat":
            self.packed.gradients.zero_()
        with torch.autocast(DEVICE.type, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(self.module(self.images), self.labels)
        loss.backward()
        if self.after_backward:
            self.after_backward()
        self.optimizer.step()
        return loss
