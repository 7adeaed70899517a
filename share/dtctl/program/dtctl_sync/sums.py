"""Sums over all ranks where the vectors lie: on GPUs, by NCCL."""

import datetime
import os
import socket

import torch


def _have_own_devices(device, meeting):
    """Whether no two ranks share a device; NCCL refuses that."""
    number = torch.cuda.current_device() if device.index is None else device.index
    places = meeting.gather_objects((socket.gethostname(), os.environ.get("CUDA_VISIBLE_DEVICES"), number))
    return len(set(places)) == len(places)


class Sums:
    """Process groups of its own, which the script's collective calls do not meet."""

    on_processors = False  # for tests without a GPU: by Gloo
    alone = False  # for tests with one GPU: one rank sums, too

    def __init__(self, kind, store, rank, ranks):
        self._make = getattr(torch.distributed, kind)
        self._store, self._rank, self._all = store, rank, tuple(range(ranks))
        self._groups = {}  # by ranks
        self._under_way = {}  # by the vector's number: works, with what they sum
        self._group_of(())

    @classmethod
    def of(cls, device, meeting, store):
        """None: sums go through the host's memory. store: of torch.distributed, which all ranks reach; None: there is none. Collective."""
        kind = None
        if cls.alone and meeting.ranks == 1:
            store = torch.distributed.HashStore()
        if store is not None and device.type == "cuda" and torch.distributed.is_nccl_available():
            kind = "ProcessGroupNCCL"
        elif store is not None and cls.on_processors:
            kind = "ProcessGroupGloo"
        kinds = meeting.gather_objects(kind)
        if None in kinds or len(set(kinds)) > 1 or (device.type == "cuda" and not _have_own_devices(device, meeting)):
            return None
        return cls(kind, store, meeting.rank, meeting.ranks)

    def _group_of(self, ranks):
        """ranks: of which this one is one; (): all."""
        if ranks not in self._groups:
            members, store = ranks or self._all, torch.distributed.PrefixStore("sums of " + ("-".join(map(str, ranks)) or "all"), self._store)
            self._groups[ranks] = self._make(store, members.index(self._rank), len(members), datetime.timedelta(minutes=30))
        return self._groups[ranks]

    def begin(self, number, values, ranks=()):
        """values <- sum over these ranks, or over all. values: of vector `number`; they may be used after wait(number)."""
        if len(ranks) == 1:
            return
        self._under_way.setdefault(number, []).append((self._group_of(ranks).allreduce([values]), values))

    def are_under_way(self, numbers):
        return any(number in self._under_way for number in numbers)

    def wait(self, numbers):
        """What the device does next comes behind the sums of these vectors. On a GPU this does not make the host wait."""
        for number in numbers:
            for work, _ in self._under_way.pop(number, ()):
                work.wait()
