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
    """A process group of its own, which the script's collective calls do not meet."""

    on_processors = False  # for tests without a GPU: by Gloo
    alone = False  # for tests with one GPU: one rank sums, too

    def __init__(self, group):
        self._group, self._under_way = group, {}  # by the vector's number: works, with what they sum

    @classmethod
    def of(cls, device, meeting, store):
        """None: sums go through the host's memory. store: of torch.distributed, which all ranks reach; None: there is none. Collective."""
        kind, timeout = None, datetime.timedelta(minutes=30)
        if cls.alone and meeting.ranks == 1:
            store = torch.distributed.HashStore()
        if store is not None and device.type == "cuda" and torch.distributed.is_nccl_available():
            kind = "ProcessGroupNCCL"
        elif store is not None and cls.on_processors:
            kind = "ProcessGroupGloo"
        kinds = meeting.gather_objects(kind)
        if None in kinds or len(set(kinds)) > 1 or (device.type == "cuda" and not _have_own_devices(device, meeting)):
            return None
        return cls(getattr(torch.distributed, kind)(store, meeting.rank, meeting.ranks, timeout))

    def begin(self, number, values):
        """values <- sum over all ranks. values: of vector `number`; they may be used after wait(number)."""
        self._under_way.setdefault(number, []).append((self._group.allreduce([values]), values))

    def wait(self, *numbers):
        """What the device does next comes behind the sums of these vectors. On a GPU this does not make the host wait."""
        for number in numbers:
            for work, _ in self._under_way.pop(number, ()):
                work.wait()
