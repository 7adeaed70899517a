"""Trains PyTorch models under dtctl's strategies: on several processes, on CPUs or GPUs.

Two lines for an ordinary loop:

    import dtctl_sync as sync
    model, optimizer = sync.prepare(model, optimizer)        # strategy and its settings: from the recipe, or as arguments
    for images, labels in sync.batches(loader):              # each process its part
        optimizer.zero_grad(); loss = loss_of(model(images), labels); loss.backward(); optimizer.step()

or with full control:

    with sync.Training(model, optimizer, strategy="decentralized-easgd", period=4) as training:
        for images, labels in training.batches(loader):
            loss = training.step(lambda: loss_of(model(images), labels))

The optimizer is the update rule of the workers. Start the script with dtctl (a recipe with `program` and `sync`), mpirun or srun;
without them it runs as one process. In a run of dtctl the module reports steps, phases and what the strategy did.
"""

import atexit
import concurrent.futures
import contextlib
import ctypes
import functools
import itertools
import os
import pathlib
import sys
import threading
import time
import types
import typing

import torch

try:
    import dtctl_gradients as _gradients
    import dtctl_report as _report
except ImportError:  # outside of dtctl
    _gradients = _report = None

WEIGHTS, GRADIENTS = 0, 1
COPY_BYTES = 4 << 20  # of gradients that one copy from a GPU takes along


class SyncError(RuntimeError):
    """What the library says about a call that failed."""


# ---- the library ------------------------------------------------------------------------------------------------------------------

_size, _floats = ctypes.c_size_t, ctypes.c_void_p


class _Callbacks(ctypes.Structure):
    COMPUTE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int64))
    UPDATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_float)
    FETCH = STORE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, _size, _size)
    MAKE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, _floats, _size)
    COMBINE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.c_int, ctypes.c_float] * 3, _size, _size)
    _fields_ = [("context", ctypes.c_void_p), ("compute", COMPUTE), ("update", UPDATE), ("fetch", FETCH), ("store", STORE), ("make", MAKE),
                ("combine", COMBINE)]


class _Place(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("rank", "ranks", "local_rank", "worker", "workers")]


class _Times(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("communication_s", "in_compute_s", "update_s")]


def _find_library():
    """The one that dtctl names; else that of the installation or of the build tree in which this file lies."""
    named, name, here = os.environ.get("DTCTL_SYNC_LIBRARY"), "libdtctl_sync.so", pathlib.Path(__file__).resolve()
    if named:
        return named
    prefix = here.parents[min(3, len(here.parents) - 1)]
    found = sorted([*prefix.glob(f"lib/**/dtctl/{name}"), *prefix.glob(f"build/*/lib/{name}")])
    return str(found[-1]) if found else name


def _load():
    path = _find_library()
    try:
        # RTLD_GLOBAL: plug-ins of Open MPI look for its symbols in the whole process.
        library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise ImportError(f"dtctl_sync: {path} cannot be loaded ({error}); name the library in DTCTL_SYNC_LIBRARY") from None
    library.dtctl_sync_error.restype = ctypes.c_char_p
    for name, types in {
        "open": [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)],
        "get_place": [ctypes.c_void_p, ctypes.POINTER(_Place)],
        "setting": [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)],
        "layout": [ctypes.c_void_p, _size, ctypes.POINTER(_size), ctypes.POINTER(_size), ctypes.POINTER(_size)],
        "start": [ctypes.c_void_p, ctypes.c_char_p, _floats, _floats, ctypes.POINTER(_Callbacks)],
        "step": [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.POINTER(ctypes.c_double)],
        "gradient": [ctypes.c_void_p, _size],
        "get_times": [ctypes.c_void_p, ctypes.POINTER(_Times)],
        "average": [ctypes.c_void_p, _floats, _size],
        "broadcast": [ctypes.c_void_p, _floats, _size],
        "mean": [ctypes.c_void_p, _floats, _size],
        "evaluated": [ctypes.c_void_p, _floats],
        "state": [ctypes.c_void_p, _size, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(_floats), ctypes.POINTER(_size)],
        "resume": [ctypes.c_void_p, ctypes.c_int64],
        "span": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_double, ctypes.c_double],
        "finish": [ctypes.c_void_p],
        "close": [ctypes.c_void_p],
    }.items():
        getattr(library, "dtctl_sync_" + name).argtypes = types
    return library


_library = _load()


def _call(name, *arguments):
    if getattr(_library, "dtctl_sync_" + name)(*arguments) != 0:
        raise SyncError(_library.dtctl_sync_error().decode(errors="replace"))


_anchor = ctypes.c_void_p()  # a handle without a training, so that MPI lasts until the process ends: a script may train several models


def _begin_mpi():
    if not _anchor:
        _call("open", b"sync.strategy=sync-sgd sync.allreduce=mpi sync.progress=none", ctypes.byref(_anchor))
        atexit.register(_end_mpi, os.getpid())


def _end_mpi(pid):
    """After a failure MPI is left as it is: the launcher then ends the other ranks."""
    if os.getpid() == pid and not _has_failed and not Training._is_any_broken:
        _call("close", _anchor)


def _words(settings):
    """KEY=VALUE words of {"period": 4, "outer": {"rule": "nesterov"}}; names without a block are keys of `sync`."""
    words = []
    for name, value in settings.items():
        path = name if "." in name else "sync." + name
        if isinstance(value, dict):
            words += _words({f"{path}.{inner}": each for inner, each in value.items()})
        else:
            words.append(f"{path}={str(value).lower() if isinstance(value, bool) else value}")
    return words


# ---- packed tensors ---------------------------------------------------------------------------------------------------------------


def _is_dense(tensor):
    """Whether its numbers fill one stretch of memory, in any order of the dimensions."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size > 1:
            if stride != expected:
                return False
            expected *= size
    return True


class _Packed:
    """The trained parameters of a model in one buffer on their device, and mirrors of weights and gradients in the host's memory."""

    always_mirrors = False  # for tests without a GPU

    def __init__(self, named, begins, floats):
        self.parameters = [parameter for _, parameter in named]
        self.begins, self.ends = begins, [b + p.numel() for b, (_, p) in zip(begins, named)]
        first = self.parameters[0]
        self.device = first.device
        self.on_host = self.device.type == "cpu" and first.dtype == torch.float32 and not self.always_mirrors
        self.weights = torch.zeros(floats, dtype=first.dtype, device=self.device)
        self.gradients = torch.zeros_like(self.weights)
        is_cuda = self.device.type == "cuda"
        self.host_weights = self.weights if self.on_host else torch.zeros(floats, pin_memory=is_cuda)
        self.host_gradients = self.gradients if self.on_host else torch.zeros(floats, pin_memory=is_cuda)
        for parameter, begin in zip(self.parameters, begins):
            if not _is_dense(parameter.data):
                parameter.data = parameter.data.contiguous()
            view = self._view(self.weights, parameter, begin)
            view.copy_(parameter.data)
            parameter.data = view
        self.views = [self._view(self.gradients, parameter, begin) for parameter, begin in zip(self.parameters, begins)]
        self.places = [parameter.data_ptr() for parameter in self.parameters]

    @staticmethod
    def _view(buffer, parameter, begin):
        return torch.as_strided(buffer, parameter.shape, parameter.stride(), begin)

    def require_unchanged(self, names, frozen):
        if any(parameter.requires_grad for parameter in frozen):
            raise SyncError("a parameter that was frozen at the start of the training requires gradients now, and the other ranks would not "
                            "get them: begin a new training when layers are thawed")
        for parameter, place, name in zip(self.parameters, self.places, names):
            if parameter.data_ptr() != place:
                raise SyncError(f"the parameter {name} lies elsewhere than at the start of the training: do not move the model, "
                                "change its type or replace its parameters after prepare()")

    def has_own_gradient(self, index):
        gradient = self.parameters[index].grad
        return gradient is not None and gradient.data_ptr() != self.views[index].data_ptr()

    def gather(self, indexes):
        """Copies the gradients of these parameters into the packed buffer, where 0 stands for none."""
        own = [i for i in indexes if self.has_own_gradient(i)]
        if own:
            torch._foreach_copy_([self.views[i] for i in own], [self.parameters[i].grad for i in own]) if hasattr(
                torch, "_foreach_copy_") else [self.views[i].copy_(self.parameters[i].grad) for i in own]
        for i in indexes:
            if self.parameters[i].grad is None:
                self.views[i].zero_()

    def use_packed_gradients(self):
        for parameter, view in zip(self.parameters, self.views):
            parameter.grad = view

    def drop_gradients(self):
        for parameter in self.parameters:
            parameter.grad = None


class _Vectors:
    """The weights, the gradients and a strategy's own vectors by their numbers: each on the device, with a copy in the host's memory."""

    def __init__(self, packed):
        self._pairs = {WEIGHTS: (packed.weights, packed.host_weights), GRADIENTS: (packed.gradients, packed.host_gradients)}
        self._pinned = {WEIGHTS, GRADIENTS}
        self._is_cuda = packed.device.type == "cuda"

    def make(self, number, address, floats):
        host = torch.frombuffer((ctypes.c_float * floats).from_address(address), dtype=torch.float32)
        self._pairs[number] = (host.to(self._pairs[WEIGHTS][0].device, copy=True), host)

    def pair(self, number):
        """Both, for a copy. Memory that the device copies is pinned the first time."""
        device, host = self._pairs[number]
        if self._is_cuda and number not in self._pinned:
            torch.cuda.check_error(torch.cuda.cudart().cudaHostRegister(host.data_ptr(), 4 * host.numel(), 0))
            self._pinned.add(number)
        return device, host

    def combine(self, y, a, x, b, z, c, part):
        """y <- a y + b x + c z in this part of them; z: -1 for none."""
        to, one = self._pairs[y][0][part], self._pairs[x][0][part]
        if a == 0:
            torch.mul(one, b, out=to)
        else:
            if a != 1:
                to.mul_(a)
            if b != 0:
                to.add_(one, alpha=b)
        if z >= 0:
            to.add_(self._pairs[z][0][part], alpha=c)

    def close(self):
        for number in self._pinned - {WEIGHTS, GRADIENTS}:
            torch.cuda.cudart().cudaHostUnregister(self._pairs[number][1].data_ptr())
        self._pinned = {WEIGHTS, GRADIENTS}


class _CopiesToHost:
    """Copies gradients from a GPU to the host's mirror while the backward pass goes on, on a stream of its own."""

    def __init__(self, packed, announce):
        self.packed, self.announce = packed, announce
        self.stream = torch.cuda.Stream(packed.device)
        self.gathered, self.bytes, self.under_way = [], 0, []

    def add(self, index):
        self.gathered.append(index)
        self.bytes += 4 * self.packed.parameters[index].numel()
        if self.bytes >= COPY_BYTES:
            self._begin()
        self.look()

    def _begin(self):
        indexes, self.gathered, self.bytes = sorted(self.gathered), [], 0
        if not indexes:
            return
        packed = self.packed
        self.packed.gather(indexes)
        self.stream.wait_stream(torch.cuda.current_stream(packed.device))
        with torch.cuda.stream(self.stream):
            for begin, end in self._stretches(indexes):
                packed.host_gradients[begin:end].copy_(packed.gradients[begin:end], non_blocking=True)
            event = torch.cuda.Event()
            event.record(self.stream)
        self.under_way.append((event, indexes))

    def _stretches(self, indexes):
        """[begin, end) of neighbours in the packed buffer."""
        stretches, last = [], None
        for i in indexes:
            if stretches and last == i - 1:
                stretches[-1][1] = self.packed.ends[i]
            else:
                stretches.append([self.packed.begins[i], self.packed.ends[i]])
            last = i
        return stretches

    def look(self):
        while self.under_way and self.under_way[0][0].query():
            self._tell()

    def _tell(self):
        for index in self.under_way.pop(0)[1]:
            self.announce(index)

    def end(self):
        self._begin()
        while self.under_way:
            self.under_way[0][0].synchronize()
            self._tell()

    def clear(self):
        self.gathered, self.bytes, self.under_way = [], 0, []


# ---- times ------------------------------------------------------------------------------------------------------------------------


class _HostTimes:
    """Phases of a step by the host's clock."""

    now = staticmethod(time.perf_counter)

    @staticmethod
    def seconds(begin, end):
        return end - begin

    def __init__(self):
        self.marks = {}

    def mark(self, name):
        self.marks[name] = self.now()

    def between(self, begin, end):
        return self.seconds(self.marks[begin], self.marks[end])

    def on_host(self, name):
        """In seconds of time.perf_counter()."""
        return self.marks[name]

    def is_known(self):
        return True

    def wait(self):
        pass


class _DeviceTimes:
    """Phases of a step by events on a GPU, which are read when they have happened."""

    _anchor = None  # an event, and when it happened by the host's clock

    @staticmethod
    def now():
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    @staticmethod
    def seconds(begin, end):
        return begin.elapsed_time(end) / 1e3

    def __init__(self):
        self.marks = {}

    def mark(self, name):
        self.marks[name] = self.now()

    def between(self, begin, end):
        return self.seconds(self.marks[begin], self.marks[end])

    def on_host(self, name):
        """In seconds of time.perf_counter(). Makes the host wait for the GPU once in ten seconds."""
        if _DeviceTimes._anchor is None or time.perf_counter() - _DeviceTimes._anchor[1] > 10:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            event.synchronize()
            _DeviceTimes._anchor = (event, time.perf_counter())
        event, happened = _DeviceTimes._anchor
        return happened + event.elapsed_time(self.marks[name]) / 1e3

    def is_known(self):
        return self.marks["end"].query()

    def wait(self):
        self.marks["end"].synchronize()


class _Step(typing.NamedTuple):
    """What the report of a step needs."""

    number: int
    times: typing.Any  # of its marks
    waits: typing.Any  # what the strategy has timed
    mean_loss: float  # over the workers; NaN: the strategy does not know it
    loss: typing.Any  # of this rank, on its device; None: not known
    learning_rate: float
    epoch: float
    samples: typing.Any
    input_s: float
    ended: float  # time.monotonic()


class _Wait:
    """Watches how long this rank has waited for the others: after `limit_s` it says so, after ten times that it ends all ranks."""

    def __init__(self, rank, limit_s):
        self.rank, self.limit_s, self.since, self.step = rank, limit_s, None, 0
        if limit_s > 0:
            threading.Thread(target=self._watch, daemon=True).start()

    def begin(self, step):
        self.step, self.since = step, time.monotonic()

    def end(self):
        self.since = None

    def _watch(self):
        told = None
        while True:
            time.sleep(min(1.0, self.limit_s / 4))
            since, step = self.since, self.step
            waited = 0 if since is None else time.monotonic() - since
            if waited > self.limit_s and told != since:
                told = since
                self._say(f"has waited {waited:.0f} s for the other ranks in step {step}: one of them is slow, hangs, or makes fewer steps")
            if waited > 10 * self.limit_s:
                self._say(f"has waited {waited:.0f} s (10 times train.stall_after) in step {step} and ends the training")
                if _report is not None:
                    _report.error(f"waited {waited:.0f} s for the other ranks in step {step}")
                _library.dtctl_sync_abort()

    def _say(self, words):
        print(f"dtctl_sync: rank {self.rank} {words}", file=sys.stderr, flush=True)


# ---- a training -------------------------------------------------------------------------------------------------------------------


class Training:
    """One process's part of a training.

    settings: keys of the recipe's block `sync` (strategy, period, allreduce, …), or of another block with its name
    ("train.warmup_steps"). In a run of dtctl whose recipe has that block, the recipe's values count instead.

    All processes must build the same model, and call step() equally often. strict types: all trained parameters are float32, or
    all float16 or bfloat16 where the strategy only sums gradients.
    """

    def __init__(self, model, optimizer, **settings):
        self.model, self.optimizer = model, optimizer
        self._handle = ctypes.c_void_p()
        words = " ".join([*self._rule_words(optimizer), *_words(settings)]).encode()
        _begin_mpi()
        _call("open", words, ctypes.byref(self._handle))
        self._pid = os.getpid()
        place = _Place()
        _call("get_place", self._handle, ctypes.byref(place))
        self.rank, self.ranks, self.local_rank = place.rank, place.ranks, place.local_rank
        self.worker, self.workers = place.worker, place.workers
        self.step_number, self.epoch = 0, 0.0
        self._step_of_optimizer = optimizer.step
        self._input_s, self._samples = 0.0, None
        self._collects = True  # gradients of the next backward pass are final
        self._error = None
        self._pending = []  # steps whose times are not known yet
        self._is_traced = self.setting("train.trace") == "true"
        self._wait = _Wait(self.rank, int(self.setting("train.stall_after")))
        self._parts, self._streams = {}, {}  # by the loader's id: this worker's part of it, and batches that go over epochs
        self._pack()
        # For the run's compute profile; None outside of dtctl, which alone makes one.
        self._gradient_times = None
        if _report is not None and _report.is_active():
            self._gradient_times = _gradients.GradientTimes(torch, self._times.now, self._times.seconds)
        self._start()
        atexit.register(_end, self)

    # -- the model --

    @staticmethod
    def _rule_words(optimizer):
        """The rule that a parameter server applies in place of the optimizer."""
        group = optimizer.param_groups[0]
        return [f"optimizer.{name}={group[name]}" for name in ("momentum", "weight_decay") if isinstance(group.get(name), (int, float))]

    def _pack(self):
        named = [(name, p) for name, p in self.model.named_parameters() if p.requires_grad]
        if not named:
            raise SyncError("the model has no parameters that require gradients")
        self._names = [name for name, _ in named]
        self._require_types(named)
        lengths = (_size * len(named))(*[p.numel() for _, p in named])
        begins, floats = (_size * len(named))(), _size()
        _call("layout", self._handle, len(named), lengths, begins, ctypes.byref(floats))
        self._packed = _Packed(named, list(begins), floats.value)
        self._index = {id(p): i for i, (_, p) in enumerate(named)}
        self._frozen = [p for p in self.model.parameters() if not p.requires_grad]
        self._require_own_parameters()
        self._accumulators = [self._watch(p, i) for i, (_, p) in enumerate(named)]
        is_cuda = self._packed.device.type == "cuda"
        self._copies = _CopiesToHost(self._packed, self._announce) if is_cuda else None
        self._times = _DeviceTimes() if is_cuda else _HostTimes()

    def _require_own_parameters(self):
        others = [p for group in self.optimizer.param_groups for p in group["params"] if p.requires_grad and id(p) not in self._index]
        if others:
            shapes = ", ".join(str(tuple(p.shape)) for p in others[:3])
            raise SyncError(f"the optimizer has {len(others)} trained tensors that are not the model's (of shape {shapes}), and they would not be "
                            "exchanged: make one torch.nn.Module of all that is trained")

    def _require_types(self, named):
        kinds = {(p.dtype, p.device) for _, p in named}
        if len(kinds) > 1:
            raise SyncError("the trained parameters have several types or devices: " + ", ".join(sorted(f"{t} on {d}" for t, d in kinds)))
        ((dtype, _),) = kinds
        if dtype == torch.float32:
            return
        strategy = self.setting("sync.strategy")
        if dtype not in (torch.float16, torch.bfloat16) or strategy not in ("sync-sgd", "hsgd"):
            raise SyncError(f"the parameters are {dtype}, but {strategy} exchanges weights in float32 and would round them: keep float32 "
                            "parameters and compute with torch.autocast")

    def _watch(self, parameter, index):
        """Calls _has_gradient() whenever the gradient of a parameter has been added up; returns what must be kept for it."""

        def hook(*_):
            self._has_gradient(index)

        if hasattr(parameter, "register_post_accumulate_grad_hook"):
            return parameter.register_post_accumulate_grad_hook(hook)
        accumulator = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
        accumulator.register_hook(hook)
        return accumulator

    def _start(self):
        description = "\n".join(f"{name} {tuple(p.shape)} {p.dtype}" for name, p in zip(self._names, self._packed.parameters))
        # bfloat16 weights would round what a strategy computes on them.
        computes = not self._packed.on_host and self._packed.weights.dtype == torch.float32
        self._callbacks = _Callbacks(
            None,
            _Callbacks.COMPUTE(self._guard(self._on_compute)),
            _Callbacks.UPDATE(self._guard(self._on_update)),
            _Callbacks.FETCH(self._guard(self._on_fetch)),
            _Callbacks.STORE(self._guard(self._on_store)),
            _Callbacks.MAKE(self._guard(self._on_make)) if computes else _Callbacks.MAKE(),
            _Callbacks.COMBINE(self._guard(self._on_combine)) if computes else _Callbacks.COMBINE(),
        )
        packed = self._packed
        self._vectors = _Vectors(packed)
        _call("start", self._handle, description.encode(), packed.host_weights.data_ptr(), packed.host_gradients.data_ptr(),
              ctypes.byref(self._callbacks))
        for values in [*self._frozen, *self.model.buffers()]:
            self._share(values, "broadcast")
        seed = torch.tensor([float(torch.initial_seed() % (1 << 24))])  # exact as a float
        self._share(seed, "broadcast")
        self._seed = int(seed)  # of the order of samples

    def _share(self, values, call):
        """broadcast or mean of a tensor that is not trained. Numbers that are not floats stay as they are."""
        if not values.is_floating_point() or values.numel() == 0:
            return
        host = values.detach().float().cpu().contiguous()
        _call(call, self._handle, host.data_ptr(), host.numel())
        with torch.no_grad():
            values.copy_(host)

    # -- what the strategy asks for --

    def _guard(self, action):
        """ctypes would drop an exception: keep it for the caller of step()."""

        def guarded(_, *arguments):
            is_waiting = self._wait.since is not None
            self._wait.end()
            try:
                action(*arguments)
                return 0
            except BaseException as error:  # KeyboardInterrupt too
                self._error = error
                return 1
            finally:
                if is_waiting:
                    self._wait.begin(self.step_number + 1)

        return guarded

    def _on_fetch(self, what, begin, end):
        packed = self._packed
        if what == GRADIENTS:
            packed.gather(range(len(packed.parameters)))
        if not packed.on_host:
            device, host = self._vectors.pair(what)
            host[begin:end].copy_(device[begin:end])

    def _on_store(self, what, begin, end):
        if self._packed.on_host:
            return
        device, host = self._vectors.pair(what)
        # Gradients are next written by copies that the device makes after this one; a strategy may write to others at once.
        device[begin:end].copy_(host[begin:end], non_blocking=what == GRADIENTS)

    def _on_make(self, what, host, floats):
        self._vectors.make(what, host, floats)

    def _on_combine(self, y, a, x, b, z, c, begin, end):
        with torch.no_grad():
            self._vectors.combine(y, a, x, b, z, c, slice(begin, end))

    def _on_compute(self, announce, mean_loss, samples):
        self._announces = bool(announce)
        self._packed.require_unchanged(self._names, self._frozen)
        try:
            self._compute()
        finally:
            if self._copies and announce:
                self._copies.end()
            self._announces = False
        if announce:
            self._packed.gather([i for i, p in enumerate(self._packed.parameters) if p.grad is None])
        mean_loss[0] = self._loss_figure()
        samples[0] = self._samples or 1
        self._times.mark("backward")
        if self._gradient_times:
            self._gradient_times.ends_backward(self._times.marks["backward"])

    def _begins_backward(self):
        if self._gradient_times:
            self._gradient_times.begins_backward(self._times.now())

    def _has_gradient(self, index):
        if not (self._announces and self._collects):
            return
        if self._copies:
            return self._copies.add(index)
        self._packed.gather([index])
        if not self._packed.on_host:
            begin, end = self._packed.begins[index], self._packed.ends[index]
            self._packed.host_gradients[begin:end].copy_(self._packed.gradients[begin:end])
        self._announce(index)

    _announces = False

    def _announce(self, index):
        _call("gradient", self._handle, index)

    def _on_update(self, changed, factor):
        if changed:
            self._packed.use_packed_gradients()
            if factor != 1.0:
                self._packed.gradients.mul_(factor)
        self._update()
        self._times.mark("end")

    # -- a step --

    def step(self, closure, samples=None, before_update=None, scaler=None):
        """One step: closure() makes the forward pass and returns the loss; the backward pass, the exchange and the update follow.

        A list of closures accumulates the gradients of their losses, each divided by their number. samples: of this step, where
        batches() does not count them. before_update(): called when the gradients are complete, for example to clip them. scaler:
        a torch.cuda.amp.GradScaler. Returns the (mean) loss of this rank, detached. Not to be called on a parameter server.
        """
        if self.worker < 0:
            raise SyncError(f"rank {self.rank} is a parameter server, which has no batches: its loop over batches() makes its steps")
        closures = list(closure) if isinstance(closure, (list, tuple)) else [closure]
        self._samples = samples if samples is not None else self._samples

        def compute():
            self._packed.drop_gradients()
            losses = []
            for number, each in enumerate(closures, 1):
                self._collects = number == len(closures)
                loss = each() / len(closures) if len(closures) > 1 else each()
                if number == 1:
                    self._times.mark("forward")
                if self._collects:
                    self._begins_backward()
                (scaler.scale(loss) if scaler else loss).backward()
                losses.append(loss.detach())
            self._loss = losses[0] if len(losses) == 1 else torch.stack(losses).sum()

        def update():
            if scaler:
                scaler.unscale_(self.optimizer)
            if before_update:
                before_update()
            if scaler:
                scaler.step(self.optimizer)
                scaler.update()
            else:
                self._step_of_optimizer()

        self._compute, self._update = compute, update
        self._times.mark("begin")
        self._make_step()
        return self._loss

    def _make_step(self):
        self._begin_report()
        self._error = None
        loss = ctypes.c_double()
        rate = float(self.optimizer.param_groups[0]["lr"])
        self._wait.begin(self.step_number + 1)
        try:
            _call("step", self._handle, rate, self.epoch, ctypes.byref(loss))
        except SyncError as failure:
            self._break()
            raise (self._error or failure)
        finally:
            self._wait.end()
        self.step_number += 1
        self.mean_loss = loss.value
        if self.worker >= 0:
            self._note_step(rate)

    _broken = False

    _loss = None

    def _loss_figure(self):
        """The loss as a number, where it is known and that does not make the host wait for a GPU."""
        if self._loss is None:
            return float("nan")
        if self._packed.device.type == "cpu" or self._announces:
            return float(self._loss)
        return float("nan")

    def _note_step(self, rate):
        """Keeps what the report of this step needs; writes the reports of the steps whose times are known by now."""
        times = _Times()
        _call("get_times", self._handle, ctypes.byref(times))
        if "end" not in self._times.marks:  # a server has updated the weights
            self._times.mark("end")
        self._pending.append(_Step(self.step_number, self._times, times, self.mean_loss, self._loss, rate, self.epoch, self._samples, self._input_s,
                                   time.monotonic()))
        self._times = type(self._times)()
        self._input_s, self._samples = 0.0, None
        self._write_reports(most=2)
        if self._gradient_times:
            self._gradient_times.begins_step([self.optimizer], [self.model])

    def _write_reports(self, most=0):
        while self._pending and (len(self._pending) > most or self._pending[0].times.is_known()):
            step = self._pending.pop(0)
            step.times.wait()  # so that the host is never more than `most` steps ahead of a GPU
            if _report is None or not _report.is_active():
                continue
            if self._is_traced:
                self._draw(step)
            between, waits = step.times.between, step.waits
            mean = step.mean_loss if step.mean_loss == step.mean_loss or step.loss is None else float(step.loss)
            _report.step(loss=mean, samples=step.samples, learning_rate=step.learning_rate, epoch=step.epoch, at=step.ended, phases={
                "input": step.input_s, "forward": between("begin", "forward"),
                "backward": max(0.0, between("forward", "backward") - waits.in_compute_s),
                "communication": waits.communication_s,
                "optimizer": max(0.0, between("backward", "end") - (waits.communication_s - waits.in_compute_s))})

    def _draw(self, step):
        """Adds the step's phases to the timeline."""
        begin, forward, backward, end = (step.times.on_host(name) for name in ("begin", "forward", "backward", "end"))
        for name, first, last in (("input", begin - step.input_s, begin), ("forward", begin, forward), ("backward", forward, backward),
                                  ("step", begin - step.input_s, max(end, step.ended))):
            if last > first:
                _call("span", self._handle, name.encode(), step.number, first, last)

    # -- batches --

    def batches(self, loader, steps=None):
        """The batches of this rank for one epoch, each of the loader's size; the wait for them counts as input.

        A loader over a data set with a length is read with a sampler for this worker; of another one the worker takes every
        `workers`-th batch. On a parameter server it yields nothing and makes the server's steps. steps: exactly so many batches
        instead, the same number on every rank; the next call with `steps` goes on there, and behind the last batch of an epoch
        comes the next epoch.
        """
        part = self._part_of(loader)
        self._begin_report()
        if self.worker < 0:
            for _ in range(self._length(part) if steps is None else steps):
                self._make_step()
            return
        if steps is None:
            stream = self._epoch_of(part)
        else:
            stream = itertools.islice(self._streams.setdefault(id(loader), self._epochs_of(part)), steps)
        while True:
            began = time.perf_counter()
            batch = next(stream, None)
            if batch is None:
                return
            self._input_s += time.perf_counter() - began
            self._samples = self._count(batch)
            self._times.mark("begin")
            yield batch

    def _epoch_of(self, part):
        """The batches of one epoch. Sets `epoch` before each batch and behind the last one."""
        epoch, length = int(self.epoch), self._length(part)
        if hasattr(getattr(part, "sampler", None), "set_epoch"):
            part.sampler.set_epoch(epoch)
        for number, batch in enumerate(itertools.islice(part, length)):  # as many on every worker
            if length:
                self.epoch = epoch + number / length
            yield batch
        self.epoch = float(epoch + 1)

    def _epochs_of(self, part):
        while True:
            is_empty = True
            for batch in self._epoch_of(part):
                is_empty = False
                yield batch
            if is_empty:
                raise SyncError(f"the loader has no batch for worker {self.worker} of {self.workers}")

    _began = False

    def _begin_report(self):
        if not self._began and _report is not None:
            _report.begin(self.step_number)
        self._began = True

    @staticmethod
    def _count(batch):
        while isinstance(batch, (list, tuple)) and batch:
            batch = batch[0]
        if isinstance(batch, dict):
            batch = next(iter(batch.values()), None)
        return len(batch) if hasattr(batch, "__len__") else 1

    def _length(self, part):
        try:
            return len(part)
        except TypeError:
            if self.worker < 0:
                raise SyncError("a parameter server must know the number of steps: give batches() a loader with a length") from None
            return None

    def _part_of(self, loader):
        if self.workers == 1 and self.worker == 0:
            return loader
        if id(loader) not in self._parts:
            self._parts[id(loader)] = (loader, self._split(loader))
        return self._parts[id(loader)][1]

    def _split(self, loader):
        data, torch_data = getattr(loader, "dataset", None), torch.utils.data
        is_plain = isinstance(loader, torch_data.DataLoader) and not isinstance(data, torch_data.IterableDataset)
        if not is_plain or isinstance(loader.sampler, torch_data.distributed.DistributedSampler) or loader.batch_size is None:
            return loader if is_plain and loader.batch_size is not None else _EveryNth(loader, max(self.worker, 0), self.workers)
        shuffles = isinstance(loader.sampler, torch_data.RandomSampler)
        is_special = not shuffles and not isinstance(loader.sampler, torch_data.SequentialSampler)
        worker = max(self.worker, 0)
        if is_special:  # such as weights of samples; it draws the same on every rank only if the ranks' seeds are equal
            sampler = _EveryNth(loader.sampler, worker, self.workers)
        else:
            sampler = torch_data.distributed.DistributedSampler(data, self.workers, worker, shuffle=shuffles, seed=self._seed, drop_last=True)
        names = ("batch_size", "num_workers", "collate_fn", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context",
                 "generator", "prefetch_factor", "persistent_workers")
        options = {name: getattr(loader, name) for name in names if hasattr(loader, name)}
        if not options.get("num_workers"):
            options.pop("prefetch_factor", None)
        return torch_data.DataLoader(data, sampler=sampler, drop_last=True, **options)

    # -- around the steps --

    @contextlib.contextmanager
    def no_sync(self):
        """Backward passes in this block only add to the gradients: for accumulation in an ordinary loop (see prepare())."""
        self._collects = False
        try:
            yield
        finally:
            self._collects = True

    @contextlib.contextmanager
    def evaluation(self):
        """In this block the model has the weights that evaluations use, the centre or the mean of the workers, and the mean of the
        workers' buffers. All ranks must enter it, between two steps."""
        packed = self._packed
        host = torch.empty(packed.host_weights.numel())
        _call("evaluated", self._handle, host.data_ptr())
        buffers = [b for b in self.model.buffers() if b.is_floating_point()]
        kept = [b.clone() for b in [packed.weights, *buffers]]
        packed.weights.copy_(host)
        for buffer in buffers:
            self._share(buffer, "mean")
        was_training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                yield self.model
        finally:
            self.model.train(was_training)
            for values, before in zip([packed.weights, *buffers], kept):
                values.copy_(before)

    def mean(self, *numbers):
        """The mean over the workers of each number, in float32: of the sums that every worker has of its part of an evaluation. All ranks
        must call it; the numbers of a parameter server do not count."""
        values = torch.tensor(numbers, dtype=torch.float32)
        self._share(values, "mean")
        return values.tolist()

    def report_evaluation(self, accuracy, loss=None, samples=None):
        """Tells dtctl the accuracy (0 to 1) on the held-out set, if this is a run of dtctl."""
        self._write_reports()
        if _report is not None:
            _report.evaluation(accuracy=accuracy, loss=loss, samples=samples)

    def setting(self, key):
        """The value of a recipe's key as text: training.setting("sync.period")."""
        value = ctypes.c_char_p()
        _call("setting", self._handle, key.encode(), ctypes.byref(value))
        return value.value.decode()

    def state_dict(self):
        """The strategy's own state, for a checkpoint. Store it with those of model and optimizer, on every rank."""
        return {"step": self.step_number, "epoch": self.epoch, "buffers": {name: values.clone() for name, values in self._states()}}

    def load_state_dict(self, state):
        """Goes on after the step of a checkpoint; load model and optimizer before."""
        own, stored = self._states(), state["buffers"]
        if {name: values.shape for name, values in own} != {name: values.shape for name, values in stored.items()}:
            raise SyncError(f"the state is of another training: it has {', '.join(stored) or 'no buffers'}, and {self.setting('sync.strategy')} "
                            f"has {', '.join(name for name, _ in own) or 'none'} here; take the same model, strategy and number of ranks")
        for name, values in own:
            values.copy_(stored[name])
        self.step_number, self.epoch = state["step"], state["epoch"]
        _call("resume", self._handle, self.step_number)

    def _states(self):
        found = []
        while True:
            name, values, count = ctypes.c_char_p(), ctypes.c_void_p(), _size()
            _call("state", self._handle, len(found), ctypes.byref(name), ctypes.byref(values), ctypes.byref(count))
            if not values.value:
                return found
            memory = (ctypes.c_float * count.value).from_address(values.value)
            found.append((name.value.decode(), torch.frombuffer(memory, dtype=torch.float32)))

    def finish(self):
        """The training has reached its end. All ranks call it; leaving a `with` block without an exception does."""
        self._write_reports()
        self._wait.begin(self.step_number + 1)
        _call("finish", self._handle)
        self._wait.end()
        if self._gradient_times:
            for bytes_, lead_s, name in self._gradient_times.lines():
                _report._write("gradient", bytes_, repr(lead_s), name)
        if _report is not None:
            _report.result(parameters=sum(p.numel() for p in self._packed.parameters))

    def close(self):
        if self._handle and os.getpid() == self._pid:
            self._vectors.close()
            _call("close", self._handle)
        self._handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.finish()
            self.close()
        else:
            self._break()
        return False

    _is_any_broken = False  # of this process

    def _break(self):
        self._broken = Training._is_any_broken = True


class _EveryNth:
    """Every n-th batch of a loader, or index of a sampler, in whole rounds: as many for each worker."""

    def __init__(self, loader, first, step):
        self.loader, self.first, self.step = loader, first, step

    def __iter__(self):
        for number, batch in enumerate(self.loader):
            if number % self.step == self.first:
                own = batch
            if number % self.step == self.step - 1:
                yield own

    def __len__(self):
        return len(self.loader) // self.step


# ---- an ordinary loop -------------------------------------------------------------------------------------------------------------


class _OrdinaryLoop(Training):
    """A training whose steps are made by the script's own backward() and optimizer.step().

    The strategy's step runs in a second thread, in turn with the script's: it begins with the first gradient, waits until the
    backward pass has ended, and asks for the update, which optimizer.step() makes. So gradients are those of all ranks when
    backward() returns, under a strategy that sums them, and may be clipped there.
    """

    IDLE, COMPUTES, EXCHANGES, UPDATES, DONE = "idle", "computes", "exchanges", "updates", "done"

    def __init__(self, model, optimizer, **settings):
        self._turn = threading.Condition()
        self._state = self.IDLE
        super().__init__(model, optimizer, **settings)
        self._compute, self._update = self._wait_for_backward, self._wait_for_optimizer
        self._replace_step(optimizer)
        threading.Thread(target=self._make_steps, daemon=True).start()

    def _replace_step(self, optimizer):
        """With a method of the optimizer, as learning-rate schedulers expect, which has their marks if one was made before."""

        @functools.wraps(optimizer.step)
        def step(_, closure=None):
            return self._optimizer_step(closure)

        optimizer.step = types.MethodType(step, optimizer)

    # the script's thread

    def begin_backward(self, loss):
        """The script has made its forward pass."""
        if not self._collects:
            return
        if "begin" not in self._times.marks:
            self._times.mark("begin")
        self._times.mark("forward")
        self._begins_backward()
        self._loss = loss.detach() if loss is not None and loss.numel() == 1 else None
        if self._scaler is not None and self._loss is not None:
            self._loss = self._loss / self._scaler.scale(torch.ones_like(self._loss))

    def _has_gradient(self, index):
        if not self._collects:
            return
        if self._state == self.IDLE:
            self._begin()
        if self._state != self.COMPUTES:
            raise SyncError("a second backward pass began before optimizer.step(): put all but the last one of a step in "
                            "`with sync.no_sync():`; if a GradScaler leaves steps out, give it to prepare(…, scaler=scaler)")
        super()._has_gradient(index)

    def _begin(self):
        if "forward" not in self._times.marks:  # torch.autograd.backward(), which is not observed
            self.begin_backward(None)
        self._turn_to(self.COMPUTES, until=lambda: self._is_computing)
        torch.autograd.Variable._execution_engine.queue_callback(self._end_of_backward)

    def _end_of_backward(self):
        self._turn_to(self.EXCHANGES, until=lambda: self._state in (self.UPDATES, self.DONE))
        self._raise()

    def observe_scaler(self, scaler):
        """A GradScaler does not call optimizer.step() if a gradient is infinite: the strategy's step then ends without an update."""
        self._scaler, step_of_scaler = scaler, scaler.step

        def step(optimizer, *arguments, **options):
            result = step_of_scaler(optimizer, *arguments, **options)
            if optimizer is self.optimizer and self._state == self.UPDATES:
                self._optimizer_step(updates=False)
            return result

        scaler.step = step

    _scaler = None

    def _optimizer_step(self, closure=None, updates=True):
        if closure is not None:
            raise SyncError("optimizer.step(closure) makes several passes; use sync.Training and training.step()")
        if self._state == self.IDLE:
            self._packed.require_unchanged(self._names, self._frozen)
            raise SyncError("optimizer.step() was called without a backward pass before it")
        if self._state == self.UPDATES:
            if updates:
                self._step_of_optimizer()
            self._turn_to(self.EXCHANGES, until=lambda: self._state == self.DONE)
        self._state = self.IDLE
        self._raise()

    def _turn_to(self, state, until):
        with self._turn:
            self._state = state
            self._turn.notify_all()
            self._turn.wait_for(lambda: until() or self._failure is not None)
        self._raise()

    def _raise(self):
        if self._failure is not None:
            raise self._failure

    _failure, _is_computing = None, False

    # the strategy's thread

    def _make_steps(self):
        if self._packed.device.type == "cuda":
            torch.cuda.set_device(self._packed.device)
        while True:
            with self._turn:
                self._turn.wait_for(lambda: self._state == self.COMPUTES)
            try:
                self._make_step()
            except BaseException as error:
                with self._turn:
                    self._failure = error
                    self._turn.notify_all()
                return
            with self._turn:
                self._state = self.DONE
                self._turn.notify_all()

    def _wait_for_backward(self):
        with self._turn:
            self._is_computing = True
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._state == self.EXCHANGES)
            self._is_computing = False

    def _wait_for_optimizer(self):
        with self._turn:
            self._state = self.UPDATES
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._state == self.EXCHANGES)


_training = None


def _observe_backward():
    backward = torch.Tensor.backward

    def observed(loss, *arguments, **options):
        _training.begin_backward(loss)
        return backward(loss, *arguments, **options)

    torch.Tensor.backward = observed


def prepare(model, optimizer, scaler=None, **settings):
    """Lets an ordinary loop train under a strategy (see Training for the settings). Returns the model and the optimizer. scaler: the
    loop's GradScaler, if it has one.

    Gradients are exchanged in backward(), where the strategy does so; optimizer.step() updates. At the end of the script
    the training is reported as finished, unless an exception ends it.
    """
    global _training
    if _training is not None:
        raise SyncError("prepare() was called twice; use sync.Training for a second model")
    _training = _OrdinaryLoop(model, optimizer, **settings)
    if scaler is not None:
        _training.observe_scaler(scaler)
    _observe_backward()
    return model, optimizer


def training():
    """The training that prepare() has begun: for evaluation(), state_dict(), rank, worker and so on."""
    if _training is None:
        raise SyncError("there is no training; call prepare() first")
    return _training


def batches(loader):
    """See Training.batches()."""
    return training().batches(loader)


def no_sync():
    """See Training.no_sync()."""
    return training().no_sync()


def ddp_hook(**settings):
    """The state and the hook for DistributedDataParallel.register_comm_hook(*sync.ddp_hook(allreduce="topology-aware")).

    DDP's buckets are then averaged by dtctl's allreduce. Only for the strategies sync-sgd and hsgd. Buckets on the host are summed
    by a thread of its own beside the backward pass.
    """
    hook = _DdpHook(settings)
    atexit.register(_end, hook)
    return hook, _DdpHook.begin


class _DdpHook:
    def __init__(self, settings):
        self._handle, self._pid, self._broken = ctypes.c_void_p(), os.getpid(), False
        _call("open", " ".join(_words({"strategy": "sync-sgd", **settings})).encode(), ctypes.byref(self._handle))
        self._thread = concurrent.futures.ThreadPoolExecutor(1)  # buckets in their order

    def begin(self, bucket):
        buffer, future = bucket.buffer(), torch.futures.Future()
        if buffer.device.type != "cpu" or buffer.dtype != torch.float32:
            host = buffer.float().cpu()
            _call("average", self._handle, host.data_ptr(), host.numel())
            buffer.copy_(host)
            future.set_result(buffer)
            return future
        self._thread.submit(self._average, buffer, future)
        return future

    def _average(self, buffer, future):
        try:
            _call("average", self._handle, buffer.data_ptr(), buffer.numel())
            future.set_result(buffer)
        except BaseException as error:
            self._broken = True
            future.set_exception(error)

    def close(self):
        self._thread.shutdown()
        _call("close", self._handle)
        self._handle = ctypes.c_void_p()


def _end(ended):
    """At the end of the process. After an exception MPI is left as it is: the launcher then ends the other ranks."""
    if os.getpid() != ended._pid or not ended._handle or _has_failed or ended._broken:
        return
    if isinstance(ended, _OrdinaryLoop):
        ended.finish()
    ended.close()


_has_failed = False


def _note_exception(kind, value, trace):
    global _has_failed
    _has_failed = True
    _previous_hook(kind, value, trace)


_previous_hook, sys.excepthook = sys.excepthook, _note_exception
