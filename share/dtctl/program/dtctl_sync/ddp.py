"""dtctl's allreduce as a hook of DistributedDataParallel."""

import atexit
import concurrent.futures
import ctypes
import os

import torch

from . import library
from .library import call, words


def ddp_hook(**settings):
    """The state and the hook for DistributedDataParallel.register_comm_hook(*sync.ddp_hook(allreduce="topology-aware")).

    DDP's buckets are then averaged by dtctl's allreduce. Only for the strategies sync-sgd and hsgd. Buckets on the host are summed
    by a thread of its own beside the backward pass.
    """
    hook = DdpHook(settings)
    atexit.register(_end, hook)
    return hook, DdpHook.begin


class DdpHook:
    def __init__(self, settings):
        self._handle, self._pid, self._broken = ctypes.c_void_p(), os.getpid(), False
        call("open", " ".join(words({"strategy": "sync-sgd", **settings})).encode(), ctypes.byref(self._handle))
        self._thread = concurrent.futures.ThreadPoolExecutor(1)  # buckets in their order

    def begin(self, bucket):
        buffer, future = bucket.buffer(), torch.futures.Future()
        if buffer.device.type != "cpu" or buffer.dtype != torch.float32:
            host = buffer.float().cpu()
            call("average", self._handle, host.data_ptr(), host.numel())
            buffer.copy_(host)
            future.set_result(buffer)
            return future
        self._thread.submit(self._average, buffer, future)
        return future

    def _average(self, buffer, future):
        try:
            call("average", self._handle, buffer.data_ptr(), buffer.numel())
            future.set_result(buffer)
        except BaseException as error:
            self._broken = True
            future.set_exception(error)

    def close(self):
        self._thread.shutdown()
        call("close", self._handle)
        self._handle = ctypes.c_void_p()


def _end(hook):
    if os.getpid() == hook._pid and hook._handle and not library.has_failed() and not hook._broken:
        hook.close()
