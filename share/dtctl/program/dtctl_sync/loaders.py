"""Which batches of a loader each worker trains with, and how many an epoch has: the same number on every rank, servers included."""

import itertools
import zlib

import torch
from torch.utils import data as torch_data

from dtctl_measure import samples as samples_of

from .library import SyncError

MINE = "if each rank's loader has a part of its own already, say batches(loader, mine=True)"
PEEKED = 1024  # indexes of a sampler without a length that are compared
LONGEST_ORDER = 10_000_000  # of a sampler whose order rank 0 sends to the others


class EveryNth:
    """Every n-th batch of a loader, or index of a sampler. in_rounds: as many for each worker, without the rest of the last round."""

    def __init__(self, loader, first, step, in_rounds):
        self.loader, self.first, self.step = loader, first, step
        self.last = step - 1 if in_rounds else first  # of a round, with which its own one is certain

    def __iter__(self):
        for number, batch in enumerate(self.loader):
            if number % self.step == self.first:
                own = batch
            if number % self.step == self.last:
                yield own

    def __len__(self):
        return (len(self.loader) + self.step - 1 - self.last) // self.step


def _read(loader):
    """Each batch with the number of its samples; None: unknown."""
    iterator = iter(loader)
    is_torch = isinstance(iterator, torch_data.dataloader._BaseDataLoaderIter)
    for batch in iterator:
        yield batch, samples_of.of_loader(iterator, batch) if is_torch else samples_of.count(batch, getattr(loader, "batch_size", None))


def length_of(loader):
    """None: it is not known."""
    try:
        return len(loader)
    except TypeError:
        return None


# ---- comparing ----------------------------------------------------------------------------------------------------------------------


def _crc(value):
    if isinstance(value, torch.Tensor):
        values = value.detach().cpu().contiguous().reshape(-1)
        return zlib.crc32(values.view(torch.uint8).numpy() if values.dtype != torch.bool else values.numpy())
    return zlib.crc32(repr(value).encode())


def _leaves(value, depth=4):
    if depth and isinstance(value, (list, tuple)):
        for each in value:
            yield from _leaves(each, depth - 1)
    elif depth and hasattr(value, "items") and hasattr(value, "values"):
        yield from _leaves(list(value.values()), depth)
    elif depth and not isinstance(value, torch.Tensor) and hasattr(value, "__array__"):
        yield torch.as_tensor(value.__array__())
    elif depth and hasattr(value, "__dict__") and not isinstance(value, torch.Tensor):
        yield from _leaves(list(vars(value).values()), depth - 1)
    else:
        yield value


def _is_label(value):
    """Whether random transforms leave it as it is, and it tells samples apart."""
    if isinstance(value, torch.Tensor):
        return not value.is_floating_point() and value.numel() > 1 and bool((value != value.reshape(-1)[0]).any())
    return isinstance(value, (int, str, bytes))


def digest_of(batch):
    """Two numbers: of all that it holds, and of its labels; NaN if it has none."""
    leaves = list(itertools.islice((leaf for leaf in _leaves(batch) if isinstance(leaf, (torch.Tensor, int, float, str, bytes))), 64))
    labels = [leaf for leaf in leaves if _is_label(leaf)]
    whole, of_labels = (float(zlib.crc32(repr([_crc(leaf) for leaf in each]).encode())) if each else float("nan") for each in (leaves, labels))
    return [whole, of_labels]


def _digest_of_data(data):
    """Of what a map-style data set says of itself without reading a sample: numbers that differ where the ranks' data sets do."""
    found = [float(len(data)) if hasattr(data, "__len__") else 0.0]
    while isinstance(data, torch_data.Subset):
        found.append(float(zlib.crc32(torch.as_tensor(list(data.indices)).numpy())))
        data = data.dataset
    if isinstance(data, torch_data.TensorDataset):
        found += [float(_crc(torch.stack([t[0], t[-1]]))) for t in data.tensors[:4] if len(t)]
    labels = next((getattr(data, name) for name in ("targets", "labels") if hasattr(data, name)), None)
    if isinstance(labels, (list, torch.Tensor)) and len(labels):
        found.append(float(_crc(torch.as_tensor(labels)) if not isinstance(labels, list) else zlib.crc32(repr(labels[:1000]).encode())))
    return (found + [0.0] * 8)[:8]


# ---- parts --------------------------------------------------------------------------------------------------------------------------


class _Order:
    """A sampler of indexes that are drawn before each epoch."""

    def __init__(self, indexes=()):
        self.indexes = indexes

    def __iter__(self):
        return iter(self.indexes)

    def __len__(self):
        return len(self.indexes)


class Part:
    """A worker's part of a loader; on a server only the number of its batches.

    ranks: what the ranks say to each other (Meeting). mine: whether the loader has only this worker's part. None: what the data shows.
    is_evaluated: the workers make no steps with it, so they may have different numbers of batches, and none is left out. has_steps: the
    script says how many steps are made, so the workers' epochs may have different lengths, or no known one.
    """

    def __init__(self, loader, ranks, seed, mine, is_evaluated=False, has_steps=False):
        self.loader, self.ranks, self.mine, self.is_evaluated, self.has_steps = loader, ranks, mine, is_evaluated, has_steps
        self._batches, self._order, self._first = loader, None, None
        self._is_drawn = False  # the order of the next epoch
        self._agrees_on_each = False  # whether the workers have a next batch
        self._is_split = False  # into parts that are known to be different ones
        if ranks.workers > 1:
            self._split(seed)
        self.length = None
        if not is_evaluated:
            self._agree_on_length()

    # -- which batches --

    def _split(self, seed):
        loader, index, workers = self.loader, max(self.ranks.worker, 0), self.ranks.workers
        data = getattr(loader, "dataset", None)
        is_plain = isinstance(loader, torch_data.DataLoader) and not isinstance(data, torch_data.IterableDataset)
        if self.mine or (is_plain and isinstance(loader.sampler, torch_data.distributed.DistributedSampler)):
            return
        if not is_plain:
            self._split_unknown(index, workers)
            return
        self._require_equal_data(data)
        self._is_split = True
        sampler = loader.sampler
        shuffles = type(sampler) is torch_data.RandomSampler and not sampler.replacement and sampler._num_samples is None
        has_own_batches = loader.batch_size is None and loader.batch_sampler is not None
        if has_own_batches:
            self._batches = self._copy(batch_sampler=self._drawn(loader.batch_sampler, index, workers))
        elif not shuffles and type(sampler) is not torch_data.SequentialSampler:  # such as weights of samples
            self._batches = self._copy(sampler=self._drawn(sampler, index, workers), **self._sizes())
        else:
            if self.is_evaluated:
                own = range(index, len(data), workers)
            else:
                own = torch_data.distributed.DistributedSampler(data, workers, index, shuffle=shuffles, seed=seed, drop_last=True)
            self._batches = self._copy(sampler=own, **self._sizes())

    def _sizes(self):
        """Of a training full batches, as many for each worker."""
        size = self.loader.batch_size
        return {"batch_size": size, "drop_last": size is not None and not self.is_evaluated}

    def _copy(self, **more):
        names = ("num_workers", "collate_fn", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context", "generator", "prefetch_factor",
                 "persistent_workers", "pin_memory_device", "in_order")
        options = {name: getattr(self.loader, name) for name in names if hasattr(self.loader, name)}
        if not options.get("num_workers"):
            options.pop("prefetch_factor", None)
        return torch_data.DataLoader(self.loader.dataset, **options, **more)

    def _require_equal_data(self, data):
        found = self.ranks.of_workers(_digest_of_data(data) if self.ranks.worker >= 0 else [0.0] * 8)
        if any(each != found[0] for each in found):
            sizes = ", ".join(f"{each[0]:.0f}" for each in found[:8])
            raise SyncError(f"the workers have different data sets (of {sizes} samples), and dividing them again would lose samples: {MINE}; "
                            "else make the same data set on every rank, for example with one seed for a random split")

    def _split_unknown(self, index, workers):
        """A loader of which nobody knows whether its batches are those of all workers or of this one: their first batches show it."""
        if self.mine is None:
            digest = [float("nan")] * 2
            if self.ranks.worker >= 0:
                batches = _read(self.loader)
                first = next(batches, None)
                self._first = (first, batches)
                digest = digest_of(first[0]) if first is not None else digest
            found = self.ranks.of_workers(digest)
            is_known = all(whole == whole for whole, _ in found)
            self.mine = is_known and any(each[0] != found[0][0] for each in found) and not _has_equal_labels(found)
            if not is_known:
                self.ranks.warn("data", "unknown parts", "each worker takes every n-th batch of the loader, which is wrong if the loader divides the data "
                                "among the ranks, and dtctl_sync cannot see that in its batches: say batches(loader, mine=True) or mine=False")
            if self.mine:
                self._tell_own_part()
        if not self.mine:
            self._is_split = True
            self._batches = EveryNth(self._Whole(self), index, workers, not self.is_evaluated)

    def _tell_own_part(self):
        self.ranks.warn("data", "parts", "the loader gives each worker other samples, so each trains with all of its own: if the loader divides the data "
                        "among the ranks, say batches(loader, mine=True); if it only shuffles with seeds of each rank, give the ranks one seed and "
                        "say batches(loader, mine=False)")

    class _Whole:
        """All batches of the loader, with one that was read already."""

        def __init__(self, part):
            self.part = part

        def __iter__(self):
            return self.part._iterate()

        def __len__(self):
            return len(self.part.loader)

    def _iterate(self):
        if self._first is None:
            return _read(self.loader)
        (first, batches), self._first = self._first, None
        return itertools.chain([first] if first is not None else [], batches)

    def _drawn(self, sampler, index, workers):
        """Every n-th index, or batch of indexes, of what rank 0 draws in each epoch."""
        self._sampler = sampler
        inner = sampler.sampler if type(sampler) is torch_data.BatchSampler else sampler
        if type(inner) in (torch_data.RandomSampler, torch_data.WeightedRandomSampler):
            self.mine = False
        length = length_of(sampler)
        if length is not None and length <= LONGEST_ORDER:
            self._order = _Order()
            self._take_order()
            return EveryNth(self._order, index, workers, not self.is_evaluated) if not self.mine else self._order
        peeked = list(itertools.islice(sampler, PEEKED)) if self.ranks.worker >= 0 else []
        found = self.ranks.of_workers([float(zlib.crc32(repr(peeked).encode()))])
        if any(each != found[0] for each in found) and not getattr(inner, "replacement", False):  # else the draws are independent
            raise SyncError(f"the sampler draws other samples on each rank, so each n-th of them would lose samples, and it has no length or a very "
                            f"great one: give it the same seed on every rank; {MINE}")
        return EveryNth(sampler, index, workers, not self.is_evaluated)

    def _take_order(self):
        own = list(self._sampler) if self.ranks.worker >= 0 else []
        if self.mine is None:
            self.mine = self._has_own_samples(own)
            if self.mine:
                self._tell_own_part()
        if self.mine:
            self._order.indexes = own
            self._is_split = False
        else:
            self._order.indexes = self.ranks.share_object(own)
        self._is_drawn = True

    def _has_own_samples(self, own):
        """Whether no worker draws a sample that rank 0 draws: the sampler divides the samples among the ranks."""
        flat = {i for each in own for i in (each if isinstance(each, (list, tuple)) else [each])}
        of_root = set(self.ranks.share_object(sorted(flat)))
        found = self.ranks.of_workers([float(len(of_root & flat)), float(len(flat))])
        return all(common == 0 for common, _ in found[1:]) and all(count > 0 for _, count in found)

    # -- how many --

    def _agree_on_length(self):
        """The one rule: as many steps as the worker with the fewest batches has, on workers and servers."""
        own = length_of(self._batches) if self.ranks.worker >= 0 else None
        found = [each[0] for each in self.ranks.of_workers([-1.0 if own is None else float(own)])] if self.ranks.ranks > 1 else []
        if not found or min(found) < 0:
            self.length = own if not found else None
            if self.ranks.has_servers and not self.has_steps:
                raise SyncError("a parameter server must know the number of steps: give batches() a loader with a length, or steps=…")
            self._agrees_on_each = self.ranks.workers > 1 and not self.has_steps and not isinstance(self._batches, EveryNth)
            return
        self.length = int(min(found))
        if self.length == 0:
            self._refuse_empty(found.index(0))
        if max(found) > self.length:
            self.ranks.warn("data", "lengths", f"the workers' loaders have {self.length} to {max(found):.0f} batches: each worker trains with its first "
                            f"{self.length} of an epoch")

    def _refuse_empty(self, worker):
        size = getattr(self.loader, "batch_size", None)
        whole = f"; only full batches of {size} are trained with: make batches smaller, or take fewer ranks" if size and self._is_split else ""
        raise SyncError(f"the loader has no batch for worker {worker} of {self.ranks.workers}{whole}")

    def epoch(self, number):
        """Each batch of one epoch with the number of its samples; on a server as many times None."""
        if self._order is not None and not self._is_drawn:
            self._take_order()
        self._is_drawn = False
        if hasattr(getattr(self._batches, "sampler", None), "set_epoch"):
            self._batches.sampler.set_epoch(number)
        if self.ranks.worker < 0:
            return itertools.repeat(None) if self.length is None else itertools.repeat(None, self.length)
        if self._batches is self.loader:
            batches = self._iterate()
        else:
            batches = iter(self._batches) if isinstance(self._batches, EveryNth) else _read(self._batches)
        return self._agreed(batches) if self._agrees_on_each else itertools.islice(batches, self.length)

    def _agreed(self, batches):
        """Of a loader without a length: up to the batch that every worker has."""
        nothing = object()
        while True:
            batch = next(batches, nothing)
            if any(has == 0 for (has,) in self.ranks.of_workers([float(batch is not nothing)])):
                return
            yield batch

    def may_be_copies(self):
        """Whether workers may read the same batches without a word of this module."""
        return not self._is_split


def _has_equal_labels(digests):
    return all(labels == digests[0][1] for _, labels in digests)  # NaN: no labels
