"""This process's model and optimizers as a replica of the strategy: what the strategy asks for through the library's callbacks."""

import ctypes
import os
import threading

import torch

from dtctl_measure import samples as samples_of
from dtctl_measure.gradients import watch_gradient

from . import library
from .library import Callbacks, Place, SyncError, call, size, words
from .measuring import Measurement
from .meeting import Meeting
from .packed import GRADIENTS, WEIGHTS, CopiesToHost, Packed, Vectors
from .structure import Structure, several
from .sums import Sums
from .waiting import Board, Wait


# Strategies that only sum; where a device sums, the host reads no gradients and no loss.
SUMMED_ON_DEVICES = ("sync-sgd", "local-sgd", "hsgd", "sync-easgd", "decentralized-easgd", "diloco")


class Replica:
    def __init__(self, model, optimizer, settings):
        self.model, self.optimizer = model, optimizer
        self._models, self._optimizers = several(model), several(optimizer)
        self._handle = ctypes.c_void_p()
        self._thread, self._pid = threading.get_ident(), os.getpid()
        library.begin_mpi()
        samples_of.watch_draws(torch)
        call("open", " ".join([*self._rule_words(), *words(settings)]).encode(), ctypes.byref(self._handle))
        place = Place()
        call("get_place", self._handle, ctypes.byref(place))
        self.rank, self.ranks, self.local_rank = place.rank, place.ranks, place.local_rank
        self.worker, self.workers = place.worker, place.workers
        self.step_number = 0
        self._updates = {id(optimizer): optimizer.step for optimizer in self._optimizers}  # their own step()
        self._collects = True  # gradients of the next backward pass are final
        self._announces = False  # the strategy listens to gradients that are ready
        self._stepping = None  # numbers of the parameters whose optimizer makes this step; None: all
        self._error = None
        self._meeting = Meeting(self._handle, place)
        self._board = Board(self.rank, self.ranks, self._meeting.has_servers, self._meeting.share_object)
        self._wait = Wait(self.rank, int(self.setting("train.stall_after")), self._board)
        self._pack()
        self._measured = Measurement(self, self._packed.device, self.setting("train.trace") == "true")
        self._start()

    def setting(self, key):
        """The value of a recipe's key as text: training.setting("sync.period")."""
        value = ctypes.c_char_p()
        call("setting", self._handle, key.encode(), ctypes.byref(value))
        return value.value.decode()

    # -- the model --

    def _rule_words(self):
        """The rule that a parameter server applies in place of the optimizer."""
        group = self._optimizers[0].param_groups[0]
        return [f"optimizer.{name}={group[name]}" for name in ("momentum", "weight_decay") if isinstance(group.get(name), (int, float))]

    def _pack(self):
        self._structure = Structure(self._models, self._optimizers)
        named = self._structure.named
        self._require_types(named)
        lengths = (size * len(named))(*[p.numel() for _, p in named])
        begins, floats = (size * len(named))(), size()
        call("layout", self._handle, len(named), lengths, begins, ctypes.byref(floats))
        self._packed = Packed(named, list(begins), floats.value)
        self._accumulators = [self._watch(p, i) for i, (_, p) in enumerate(named)]
        self._copies = CopiesToHost(self._packed, self._announce) if self._packed.device.type == "cuda" else None

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
        if hasattr(parameter, "register_post_accumulate_grad_hook"):
            return parameter.register_post_accumulate_grad_hook(lambda _: self._has_gradient(index))
        return watch_gradient(parameter, lambda: self._has_gradient(index))

    def _start(self):
        description = "\n".join(f"{name} {tuple(p.shape)} {p.dtype}" for name, p in self._structure.named)
        # bfloat16 weights would round what a strategy computes on them.
        computes = not self._packed.on_host and self._packed.weights.dtype == torch.float32
        strategy, overlap, wire, noise = map(self.setting, ("sync.strategy", "sync.overlap", "sync.wire", "train.noise_scale"))
        sums = computes and (self.ranks > 1 or Sums.alone) and strategy in SUMMED_ON_DEVICES and (strategy, overlap) != ("sync-easgd", "1")
        sums = sums and wire == "float32" and noise == "0"
        self._sums = Sums.of(self._packed.device, self._meeting, self._board.store()) if sums else None
        self._callbacks = Callbacks(
            None,
            Callbacks.COMPUTE(self._guard(self._on_compute)),
            Callbacks.UPDATE(self._guard(self._on_update)),
            Callbacks.FETCH(self._guard(self._on_fetch)),
            Callbacks.STORE(self._guard(self._on_store)),
            Callbacks.MAKE(self._guard(self._on_make)) if computes else Callbacks.MAKE(),
            Callbacks.COMBINE(self._guard(self._on_combine)) if computes else Callbacks.COMBINE(),
            Callbacks.SUM(self._guard(self._on_sum)) if self._sums else Callbacks.SUM(),
        )
        packed = self._packed
        self._vectors = Vectors(packed)
        call("start", self._handle, description.encode(), packed.host_weights.data_ptr(), packed.host_gradients.data_ptr(),
             ctypes.byref(self._callbacks))
        for values in [*self._structure.frozen, *self._structure.buffers()]:
            self._share(values, "broadcast")
        seed = torch.tensor([float(torch.initial_seed() % (1 << 24))])  # exact as a float
        self._share(seed, "broadcast")
        self._seed = int(seed)  # of the order of samples

    def _share(self, values, how):
        """broadcast or mean of a tensor that is not trained. Numbers that are not floats stay as they are."""
        if not values.is_floating_point() or values.numel() == 0:
            return
        host = values.detach().float().cpu().contiguous()
        call(how, self._handle, host.data_ptr(), host.numel())
        with torch.no_grad():
            values.copy_(host)

    def _mean_of(self, values):
        self._share(values, "mean")
        return values

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
        if what == GRADIENTS and not self._sums:
            packed.gather(range(len(packed.parameters)), self._stepping)
        if not packed.on_host:
            self._await_sums(what)
            device, host = self._vectors.pair(what)
            host[begin:end].copy_(device[begin:end])

    def _on_store(self, what, begin, end):
        if self._packed.on_host:
            return
        self._await_sums(what)
        device, host = self._vectors.pair(what)
        # Gradients are next written by copies that the device makes after this one; a strategy may write to others at once.
        device[begin:end].copy_(host[begin:end], non_blocking=what == GRADIENTS)

    def _on_make(self, what, host, floats):
        self._vectors.make(what, host, floats)

    def _on_combine(self, y, a, x, b, z, c, begin, end):
        self._await_sums(y, x, z)
        with torch.no_grad():
            self._vectors.combine(y, a, x, b, z, c, slice(begin, end))

    def _on_sum(self, what, begin, end, ranks, count):
        self._sums.begin(what, self._vectors.pair(what)[0][begin:end], tuple(ranks[:count]))

    def _await_sums(self, *vectors):
        if self._sums and self._sums.are_under_way(vectors):
            with self._measured.times.communicating():
                self._sums.wait(vectors)

    def _on_compute(self, announce, mean_loss, samples):
        self._announces = bool(announce)
        self._structure.require_unchanged()
        self._packed.require_unmoved()
        if self._sums:
            self._packed.mark_present()
        try:
            self._compute()
        finally:
            if self._copies and announce and not self._sums:
                self._copies.end()
            self._announces = False
        absent = self._packed.without_gradient(self._stepping)
        for index in absent:
            call("absent", self._handle, index)
        if announce or self._sums:  # those that were not announced
            late = absent if announce and self._stepping is None else range(len(self._packed.parameters))
            self._packed.gather(late, self._stepping)
            if self._sums:
                self._packed.mark_absent(absent)
            else:
                self._packed.mirror(late)
        mean_loss[0] = self._loss_figure()
        samples[0] = int(self._measured.times.samples.number() or 1)
        self._measured.ends_backward()

    def _loss_figure(self):
        """The loss as a number, where it is known and that does not make the host wait for a GPU."""
        losses = self._measured.times.losses
        reads = self._packed.device.type == "cpu" or (self._announces and not self._sums)
        return float(sum(map(float, losses))) if losses and reads else float("nan")

    def _has_gradient(self, index):
        if not (self._announces and self._collects):
            return
        if self._sums:
            self._packed.gather([index])
            return self._announce(index)
        if self._copies:
            return self._copies.add(index)
        self._packed.gather([index])
        self._packed.mirror([index])
        self._announce(index)

    def _announce(self, index):
        call("gradient", self._handle, index)

    def _on_update(self, changed, factor):
        self._await_sums(WEIGHTS, GRADIENTS)
        if changed:
            absent = self._absent_on_all_ranks()
            if factor != 1.0:
                self._packed.gradients.mul_(factor)
            if self._stepping is None:
                self._packed.use_packed_gradients(absent)
            else:
                self._packed.hand_out_gradients(self._stepping, absent)
        self._update()

    def _absent_on_all_ranks(self):
        """Numbers of the parameters of which no rank has a gradient: the optimizer must not see one, as in a training on one process."""
        tensors, count = (size * len(self._packed.parameters))(), size()
        call("all_absent", self._handle, tensors, ctypes.byref(count))
        return set(tensors[:count.value])
