"""What the ranks of a training tell each other beside the strategy's exchanges."""

import ctypes
import pickle
import sys

import torch

import dtctl_report

from .library import call


class Meeting:
    """handle: of the training. Every function but warn() is collective."""

    def __init__(self, handle, place):
        self._handle = handle
        self.rank, self.ranks, self.worker, self.workers = place.rank, place.ranks, place.worker, place.workers
        self.has_servers = place.workers < place.ranks
        self._told = set()

    def of_workers(self, numbers):
        """The numbers of each worker, in order; those of a server do not count."""
        own = [float(self.worker), *numbers]
        all_ = (ctypes.c_double * (len(own) * self.ranks))()
        call("gather", self._handle, (ctypes.c_double * len(own))(*own), len(own), all_)
        rows = [all_[i:i + len(own)] for i in range(0, len(all_), len(own))]
        return [row[1:] for row in sorted((row for row in rows if row[0] >= 0), key=lambda row: row[0])]

    def gather_objects(self, thing):
        """Those of all ranks, in their order."""
        data = pickle.dumps(thing)
        lengths = (ctypes.c_double * self.ranks)()
        call("gather", self._handle, (ctypes.c_double * 1)(len(data)), 1, lengths)
        numbers = -(-int(max(lengths)) // 8)  # MPI moves the bits of numbers as they are
        own, all_ = (ctypes.c_double * numbers).from_buffer_copy(data.ljust(8 * numbers)), (ctypes.c_double * (numbers * self.ranks))()
        call("gather", self._handle, own, numbers, all_)
        return [pickle.loads(bytes(all_)[8 * numbers * rank:]) for rank in range(self.ranks)]

    def share_object(self, thing):
        """That of rank 0, on every rank."""
        data = pickle.dumps(thing) if self.rank == 0 else b""
        lengths = (ctypes.c_double * self.ranks)()
        call("gather", self._handle, (ctypes.c_double * 1)(len(data)), 1, lengths)
        size = int(lengths[0])
        buffer = bytearray(data.ljust(size + -size % 4, b"\0"))
        values = torch.frombuffer(buffer, dtype=torch.float32)  # MPI moves the bits as they are
        call("broadcast", self._handle, values.data_ptr(), values.numel())
        return pickle.loads(bytes(buffer))

    def warn(self, kind, about, text):
        """What limits the measurement of this run: a caveat of this kind, once about each thing, by rank 0 for all."""
        if about in self._told or self.rank != 0:
            return
        self._told.add(about)
        print(f"dtctl_sync: {text}", file=sys.stderr, flush=True)
        dtctl_report.script.caveat(kind, text)
