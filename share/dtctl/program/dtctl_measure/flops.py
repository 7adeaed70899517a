"""Counts the floating-point operations of one training step. docs/design/own-program.md has the rules.

Counted are products of matrices, convolutions and attention, as the modules of the step call them. A multiply-add is 2 operations, and
the derivative by each operand costs as much as the forward pass. Other operations count as 0. What cannot be counted makes the
number unknown: it is never too small.
"""

import collections
import contextlib
import functools
import math
import sys
import time

from .marks import Modules

UNCOUNTED_STEPS, LAST_COUNTED_STEP = 2, 6  # the first step between these that is seen whole is counted

_NAMESPACES = ("aten", "prim", "prims", "c10d", "c10d_functional", "_c10d_functional", "fsdp", "profiler")  # without hidden products
_UNCOUNTED = """_cudnn_rnn miopen_rnn mkldnn_rnn_layer _trilinear _cdist_forward _fft_r2c _fft_c2c _fft_c2r _int_mm _grouped_mm
_scaled_grouped_mm _sparse_mm _sparse_addmm _sparse_sparse_matmul _flash_attention_forward _efficient_attention_forward
_native_multi_head_attention _transformer_encoder_layer_fwd""".split()
_PLAIN_LINALG = ("linalg_vector_norm", "linalg_cross")
_PRODUCT_NODES = """ConvolutionBackward AddmmBackward MmBackward BmmBackward BaddbmmBackward AddbmmBackward MvBackward AddmvBackward
DotBackward LinearBackward""".split()  # autograd's names, without the number at the end
_HIDING = {
    "CheckpointFunction": "torch.utils.checkpoint with use_reentrant hides its operations",
    "CompiledFunction": "the model is compiled",
    "Graphed": "the model is a CUDA graph",
}
_ROUNDED = {"torch.float64": "fp64", "torch.float32": "fp32", "torch.float16": "fp16", "torch.bfloat16": "bf16"}


# ---- operations ---------------------------------------------------------------------------------------------------------------------
# Each returns its products: [(operations of the forward pass, whether each operand is derived by)].


def _product(a, b):
    return [(2 * a.numel() * (b.shape[-1] if b.dim() > 1 else 1), (a.requires_grad, b.requires_grad))]


def _linear(x, weight):
    return [(2 * x.numel() * weight.shape[0], (x.requires_grad, weight.requires_grad))]


def _convolution(args, result):
    x, weight, is_transposed = args[0], args[1], args[6]
    pixels = x.numel() if is_transposed else result.numel()
    return [(2 * pixels * weight[0].numel(), (x.requires_grad, weight.requires_grad))]


def _attention(q, k, v):
    scores = q.numel() // q.shape[-1] * k.shape[-2]
    is_derived = q.requires_grad or k.requires_grad
    return [(2 * scores * q.shape[-1], (q.requires_grad, k.requires_grad)), (2 * scores * v.shape[-1], (is_derived, v.requires_grad))]


_FORMULAS = {
    "convolution": ("convolution", _convolution),
    "convolution_overrideable": ("convolution", _convolution),
    "linear": ("product of matrices", lambda args, _: _linear(args[0], args[1])),
}
for _name in ("mm", "bmm", "mv", "dot", "_scaled_mm"):
    _FORMULAS[_name] = ("product of matrices", lambda args, _: _product(args[0], args[1]))
for _name in ("addmm", "_addmm_activation", "baddbmm", "addbmm", "addmv"):
    _FORMULAS[_name] = ("product of matrices", lambda args, _: _product(args[1], args[2]))
for _name in ("flash_attention", "flash_attention_for_cpu", "efficient_attention", "cudnn_attention", "fused_attention_overrideable"):
    _FORMULAS["_scaled_dot_product_" + _name] = ("attention", lambda args, _: _attention(*args[:3]))


def _precision_of_gpu(backends, kind):
    """Of operands in float32: "tf32" if the program allows it. None: not known."""
    is_convolution = kind == "convolution"
    try:
        word = (backends.cudnn.conv if is_convolution else backends.cuda.matmul).fp32_precision  # since torch 2.9
        if word in ("tf32", "ieee"):
            return "tf32" if word == "tf32" else "fp32"
    except (AttributeError, AssertionError):
        pass
    try:
        return "tf32" if (backends.cudnn if is_convolution else backends.cuda.matmul).allow_tf32 else "fp32"
    except RuntimeError:  # it was set in both ways
        return None


def _guarded(method):
    """Whatever goes wrong in it makes the number unknown; neither the program nor the observer sees it."""

    @functools.wraps(method)
    def call(self, *args):
        try:
            return method(self, *args)
        except Exception as error:
            self.give_up(f"{type(error).__name__} in {method.__name__}: {error}")
            return False

    return call


class Counter:
    """The operations since take(). `mode` is a context in which they are counted; None: this torch has none."""

    def __init__(self, torch):
        self.torch = torch
        self.why = ""  # why the number is not known
        self.kinds = collections.Counter()  # calls by kind, up to the last take()
        self._kinds = collections.Counter()  # since then
        self.devices = set()
        self._operations = 0
        self._by_precision = collections.Counter()
        self._derived = 0  # calls that autograd derives
        self._nodes = {}  # those of them that a backward pass has reached, by id: kept, so that ids stay theirs
        self.mode = _mode_of(self, torch)
        if self.mode is None:
            self.give_up(f"PyTorch {torch.__version__} has no modes of its dispatcher")

    def give_up(self, why):
        self.why = self.why or why

    def take(self):
        """The operations, forward and backward, since the last call."""
        taken, self._operations = self._operations, 0
        self.kinds.update(self._kinds)
        self._kinds.clear()
        return taken

    def end(self):
        self._nodes = {}

    # ---- forward ----

    @_guarded
    def can_look_into(self, module):
        """False: a mode could disturb the program. torch.compile may give up a function for ever that it meets under one."""
        dynamo = sys.modules.get("torch._dynamo.utils")
        if dynamo is not None and any(dynamo.counters.values()):
            self.give_up("the program uses torch.compile")
        if "torch.nn.attention.flex_attention" in sys.modules and not hasattr(type(self.mode), "supports_higher_order_operators"):
            self.give_up("flex_attention takes no modes")
        if any(isinstance(part, self.torch.jit.ScriptModule) for part in module.modules()):
            self.give_up("the model is compiled")
        return not self.why

    @_guarded
    def add(self, function, args, result):
        namespace, _, name = str(function).partition(".")
        name = name.split(".")[0].rstrip("_")  # "add" of "aten.add_.Tensor", an operation in place
        if not name:
            self.give_up(f"{function} is made of other operations")
        elif namespace not in _NAMESPACES:
            self.give_up(f"the operation {namespace}::{name} is not one of PyTorch's own")
        elif name in _UNCOUNTED or (name.startswith("linalg_") and name not in _PLAIN_LINALG):
            self.give_up(f"the operations of {name} are not known")
        elif name in _FORMULAS:
            self._add(*_FORMULAS[name], args, result)

    def _add(self, kind, formula, args, result):
        operand = args[1]
        if type(operand).__torch_dispatch__ != self.torch.Tensor.__torch_dispatch__:
            self.give_up(f"tensors of the type {type(operand).__name__} may be parts of larger ones")
            return
        has_gradients, is_derived, whole = self.torch.is_grad_enabled(), False, 0
        for operations, derivatives in formula(args, result):
            derivatives = sum(derivatives) if has_gradients else 0
            whole += operations * (1 + derivatives)
            is_derived = is_derived or derivatives > 0
        self._operations += whole
        self._derived += is_derived
        self._kinds[kind] += 1
        self.devices.add(operand.device)
        self._by_precision[self._precision(operand, kind)] += whole

    def _precision(self, operand, kind):
        word = str(operand.dtype)
        if word == "torch.float32" and operand.is_cuda:
            return _precision_of_gpu(self.torch.backends, kind)
        return "fp8" if word.startswith("torch.float8") else _ROUNDED.get(word, word)

    # ---- backward ----

    @_guarded
    def look_at_graph(self, tensors):
        """Before a backward pass: whether every operation that it derives is known."""
        tensors = tensors if isinstance(tensors, (tuple, list)) else [tensors]
        waiting, seen = [t.grad_fn for t in tensors if getattr(t, "grad_fn", None) is not None], {}
        while waiting:
            node = waiting.pop()
            if id(node) not in seen:
                seen[id(node)] = node
                self._look_at(node)
                waiting.extend(after for after, _ in node.next_functions if after is not None)
        if len(self._nodes) > self._derived:
            self.give_up("matrices are multiplied outside of modules")

    def _look_at(self, node):
        name = node.name().rstrip("0123456789")
        if isinstance(node, self.torch.autograd.function.BackwardCFunction):
            owner = getattr(type(node), "_forward_cls", type(node))
            if owner.__name__ in _HIDING and owner.__module__.startswith("torch."):
                self.give_up(_HIDING[owner.__name__])
            elif not owner.__module__.startswith("torch."):
                self.give_up(f"{owner.__name__} is an autograd.Function of the program")
        elif "CppNode<" in name:
            self.give_up(f"{name} is a function of an extension")
        elif name in _PRODUCT_NODES or name.startswith("ScaledDotProduct"):
            self._nodes[id(node)] = node

    # ---- what was found ----

    def precision(self):
        """That of most operations; None: not known."""
        return self._by_precision.most_common(1)[0][0] if self._by_precision else None

    def device(self):
        """None: several, or nothing was counted."""
        return next(iter(self.devices)) if len(self.devices) == 1 else None

    def words(self):
        """What was counted, "2 convolutions, 1 product of matrices"."""
        many = {"product of matrices": "products of matrices", "convolution": "convolutions", "attention": "attentions"}
        return ", ".join(f"{number} {kind if number == 1 else many[kind]}" for kind, number in sorted(self.kinds.items()))


def _mode_of(counter, torch):
    try:
        from torch.utils._python_dispatch import TorchDispatchMode
    except ImportError:
        return None

    class Mode(TorchDispatchMode):
        if hasattr(TorchDispatchMode, "supports_higher_order_operators"):
            supports_higher_order_operators = True

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            counter.add(function, args, result)
            return result

    return Mode()


# ---- the step -----------------------------------------------------------------------------------------------------------------------


class StepFlops:
    """The FLOPs of a sample, counted in one early step."""

    def __init__(self, torch):
        self.torch, self.counter = torch, Counter(torch)
        self.is_counting, self.of_sample = False, None
        self._steps = 0
        self._looked_into = Modules()  # modules that are not compiled

    def counting(self, module):
        """The context that counts this call of a module; None: it is not counted."""
        if not self.is_counting or self.counter.why:
            return None
        if module not in self._looked_into and not self.counter.can_look_into(module):
            return None
        self._looked_into.put(module)
        return self.counter.mode

    def begins_backward(self, tensors):
        if self.is_counting and not self.counter.why and tensors is not None:
            self.counter.look_at_graph(tensors)

    def ends_step(self, is_whole=True):
        """A step has ended, and the next one begins. Returns whether the one that has ended was counted whole."""
        self._steps += 1
        if self.is_counting and (is_whole or self.counter.why or self._steps >= LAST_COUNTED_STEP):
            self.is_counting = False
            self.counter.end()
            return is_whole
        self.is_counting = self.is_counting or (self._steps == UNCOUNTED_STEPS and self.counter.mode is not None)
        return False

    def has_counted(self, operations, samples):
        """In the step that was counted whole. samples: None if unknown."""
        if samples and operations > 0:
            self.of_sample = operations / samples

    def write(self, report, reason=""):
        """By rank 0. reason: why the number is not known although it was counted."""
        counter, rate, name, why = self.counter, None, "-", self.counter.why or reason
        if not why and self.of_sample is None:
            why = "no step was counted whole, or its samples are not known" if self._steps > UNCOUNTED_STEPS else "too few steps"
        device, precision = counter.device(), counter.precision()
        with contextlib.suppress(Exception):  # no memory is left on the device, for example
            if device is not None:
                name = self.torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
                rate = None if why else rate_of_products(device, precision, self.torch)
        report.fact("FLOPs of a sample", f"not known: {why}" if why else f"counted in one step: {counter.words()}")
        figures = [None if value is None or math.isnan(value) else value for value in (None if why else self.of_sample, rate)]
        of_sample, rate = ("-" if value is None else repr(float(value)) for value in figures)
        report.write("flops", of_sample, precision or "-", rate, name)


# ---- the peak -----------------------------------------------------------------------------------------------------------------------


def rate_of_products(device, precision, torch, seconds=0.2):
    """FLOP/s of the fastest of some products of square matrices. NaN: not in this precision."""
    rounded = {"tf32": "fp32"}.get(precision, precision)
    dtype = next((getattr(torch, word[6:]) for word, name in _ROUNDED.items() if name == rounded), None)
    if dtype is None:
        return math.nan
    is_gpu = device.type == "cuda"
    side, wait = (8192, lambda: torch.cuda.synchronize(device)) if is_gpu else (1024, lambda: None)
    with torch.no_grad():
        numbers = torch.Generator(device)  # of its own, so that those of the program stay as they are
        a, b = (torch.rand(side, side, generator=numbers, device=device).to(dtype) for _ in range(2))
        c, best_s = torch.mm(a, b), math.inf
        wait()
        until = time.monotonic() + seconds
        while best_s == math.inf or time.monotonic() < until:
            begin = time.monotonic()
            torch.mm(a, b, out=c)
            wait()
            best_s = min(best_s, time.monotonic() - begin)
    return 2 * side**3 / best_s
