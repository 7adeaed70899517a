"""The trained parameters of a model in one buffer, and its copies in the host's memory."""

import ctypes

import torch

from .library import SyncError

WEIGHTS, GRADIENTS = 0, 1
COPY_BYTES = 4 << 20  # of gradients that one copy from a GPU takes along


def _is_dense(tensor):
    """Whether its numbers fill one stretch of memory, in any order of the dimensions."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size > 1:
            if stride != expected:
                return False
            expected *= size
    return True


class Packed:
    """The trained parameters of a model in one buffer on their device, and mirrors of weights and gradients in the host's memory."""

    always_mirrors = False  # for tests without a GPU

    def __init__(self, named, begins, floats):
        self.names, self.parameters = [name for name, _ in named], [parameter for _, parameter in named]
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
        self._marks = None  # their places in the packed buffer
        self.places = [parameter.data_ptr() for parameter in self.parameters]

    @staticmethod
    def _view(buffer, parameter, begin):
        return torch.as_strided(buffer, parameter.shape, parameter.stride(), begin)

    def require_unmoved(self):
        for parameter, place, name in zip(self.parameters, self.places, self.names):
            if parameter.data_ptr() != place:
                raise SyncError(f"the parameter {name} lies elsewhere than at the start of the training: do not move the model, "
                                "change its type or replace its parameters after prepare()")

    def has_own_gradient(self, index):
        gradient = self.parameters[index].grad
        return gradient is not None and (gradient.is_sparse or gradient.data_ptr() != self.views[index].data_ptr())

    def without_gradient(self, stepping=None):
        """Numbers of the parameters that have none in this step. stepping: of those that take part in it; None: all."""
        return [i for i, p in enumerate(self.parameters) if p.grad is None or (stepping is not None and i not in stepping)]

    def gather(self, indexes, stepping=None):
        """Copies the gradients of these parameters into the packed buffer, where 0 stands for none."""
        own = [i for i in indexes if self.has_own_gradient(i) and (stepping is None or i in stepping)]
        for i in own:
            if self.parameters[i].grad.is_sparse:
                raise SyncError(f"the gradient of {self.names[i]} is sparse, and dtctl_sync exchanges dense ones: make the layer without sparse=True")
        if own:
            torch._foreach_copy_([self.views[i] for i in own], [self.parameters[i].grad for i in own]) if hasattr(
                torch, "_foreach_copy_") else [self.views[i].copy_(self.parameters[i].grad) for i in own]
        for i in indexes:
            if self.parameters[i].grad is None or (stepping is not None and i not in stepping):
                self.views[i].zero_()

    def mark_present(self):
        """Behind each gradient stands whether there is one, where a device sums: 1, or 0 for none. Summed with it, that is 0 if no rank has one."""
        if self._marks is None:
            self._marks = torch.tensor(self.ends, device=self.device)
        self.gradients.index_fill_(0, self._marks, 1.0)

    def mark_absent(self, indexes):
        for i in indexes:
            self.gradients[self.ends[i]] = 0.0

    def mirror(self, indexes):
        """Copies the packed gradients of these parameters to the host's memory."""
        for i in [] if self.on_host else indexes:
            begin, end = self.begins[i], self.ends[i]
            self.host_gradients[begin:end].copy_(self.gradients[begin:end])

    def use_packed_gradients(self, absent):
        """absent: numbers of the parameters that have none."""
        for parameter, view in zip(self.parameters, self.views):
            parameter.grad = view
        for i in absent:
            self.parameters[i].grad = None

    def hand_out_gradients(self, indexes, absent):
        """Copies to the gradients of these parameters, which stay tensors of their own."""
        for i in indexes:
            parameter = self.parameters[i]
            if i in absent:
                parameter.grad = None
            elif parameter.grad is None:
                parameter.grad = self.views[i].clone()
            else:
                parameter.grad.copy_(self.views[i])

    def drop_gradients(self):
        for parameter in self.parameters:
            parameter.grad = None


class Vectors:
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


class CopiesToHost:
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

