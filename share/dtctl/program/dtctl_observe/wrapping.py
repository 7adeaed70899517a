"""The functions of torch that every loop goes through, wrapped."""

import functools
import threading
import weakref

from dtctl_measure import samples as samples_of
from dtctl_measure.hooks import watch_steps
from dtctl_measure.marks import CHECKPOINT, LOADER, OPTIMIZER

from .communication import wrap_collectives, wrap_data_parallel
from .steps import Batches


def wrap_all(observer, torch):
    samples_of.watch_draws(torch)
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
    _wrap_input(observer)
    _wrap_modules(observer, torch, is_compiling)
    _wrap_backward(observer, torch)
    _wrap_optimizers(observer, torch, is_compiling)
    _time(observer, torch, "save", CHECKPOINT)
    if torch.distributed.is_available():
        wrap_collectives(observer, torch, is_compiling)
        wrap_data_parallel(observer, torch)


def _time(o, owner, name, phase, is_compiling=lambda: False, within_modules=False):
    """The time of the owner's function counts to this phase."""
    inner = getattr(owner, name)

    @functools.wraps(inner)
    def timed(*args, **kwargs):
        if o.is_off or (o.is_inside and not within_modules) or is_compiling() or threading.get_ident() != o.thread:
            return inner(*args, **kwargs)
        before = o.enters(phase)
        try:
            return inner(*args, **kwargs)
        finally:
            o.leaves(before)

    setattr(owner, name, timed)


def _wrap_input(o):
    from torch.utils.data import DataLoader
    from torch.utils.data.dataloader import _BaseDataLoaderIter, _MultiProcessingDataLoaderIter

    begin, advance = DataLoader.__iter__, _BaseDataLoaderIter.__next__

    def remember(iterator, batches):
        batches.iterator = weakref.ref(iterator)
        vars(iterator)["_batches_of_dtctl"] = batches
        return batches

    def read(call, argument):
        was_inside, o.is_inside, o.is_reading = o.is_inside, True, True  # transforms may be modules
        try:
            return call(argument)
        finally:
            o.is_inside, o.is_reading = o.is_off or was_inside, False

    @functools.wraps(begin)
    def iterate(self):
        if (o.is_off and not o.revives()) or o.is_reading or threading.get_ident() != o.thread:
            return begin(self)
        batches = Batches()
        o.opens_loader(batches)
        iterator = read(begin, self)
        remember(iterator, batches)
        return iterator

    @functools.wraps(advance)
    def next_batch(self):
        if o.is_off or o.is_reading or threading.get_ident() != o.thread:
            return advance(self)
        batches = vars(self).get("_batches_of_dtctl") or remember(self, Batches())
        o.asks_for_batch(batches)
        try:
            batch = read(advance, self)
        except StopIteration:
            o.has_no_batch(batches)
            raise
        o.has_batch(batches, self, batch)
        return batch

    DataLoader.__iter__ = iterate
    _BaseDataLoaderIter.__next__ = next_batch
    _time(o, _MultiProcessingDataLoaderIter, "_shutdown_workers", LOADER)  # of a pass that the loop has left early


def _wrap_modules(o, torch, is_compiling):
    inner = torch.nn.Module.__call__

    @functools.wraps(inner)
    def call(self, *args, **kwargs):
        if o.is_inside or is_compiling() or threading.get_ident() != o.thread:
            return inner(self, *args, **kwargs)
        o.is_inside = True
        counting = o.enters_module(self, args, kwargs)
        try:
            if counting is None:
                return inner(self, *args, **kwargs)
            with counting:
                return inner(self, *args, **kwargs)
        finally:
            o.is_inside = o.is_off
            o.leaves_module()

    torch.nn.Module.__call__ = call


def _wrap_backward(o, torch):
    inner, grad = torch.autograd.backward, torch.autograd.grad

    def observed(tensors, is_backward, call, args, kwargs):
        was_inside, o.is_inside = o.is_inside, True
        o.enters_backward(tensors, is_backward)
        try:
            return call(tensors, *args, **kwargs)
        finally:
            o.is_inside = o.is_off or was_inside
            o.leaves_backward()

    @functools.wraps(inner)
    def backward(tensors, *args, **kwargs):
        if (o.is_off and not o.revives()) or o.in_backward or o.is_elsewhere(trains=True):
            return inner(tensors, *args, **kwargs)
        return observed(tensors, True, inner, args, kwargs)

    @functools.wraps(grad)
    def gradients(outputs, inputs, *args, **kwargs):
        """A backward pass if it derives by what is trained, and the derivative itself is not derived: as a penalty's is."""
        first = inputs[0] if isinstance(inputs, (list, tuple)) and inputs else inputs
        is_trained = id(first) in o.optimizers.trained
        if o.is_inside or o.in_backward or not is_trained or kwargs.get("create_graph") or o.is_elsewhere(trains=True):
            return grad(outputs, inputs, *args, **kwargs)
        return observed(outputs, False, grad, (inputs, *args), kwargs)

    torch.autograd.backward, torch.autograd.grad = backward, gradients


def _wrap_optimizers(o, torch, is_compiling):
    def watched(update, optimizer_of=lambda optimizer, *_, **__: optimizer):
        @functools.wraps(update)
        def step(*args, **kwargs):
            if o.is_off or o.in_update or is_compiling() or threading.get_ident() != o.thread:
                if o.others and not o.is_off:
                    o.updates_elsewhere()
                return update(*args, **kwargs)
            optimizer = optimizer_of(*args, **kwargs)
            o.enters_update(optimizer)
            try:
                return update(*args, **kwargs)
            finally:
                if not o.recent.has_backward:
                    o.steps_without_backward(optimizer)
                o.leaves_update()

        return step

    watch_steps(torch, watched)
    _time(o, torch.optim.Optimizer, "zero_grad", OPTIMIZER, is_compiling, within_modules=True)

    # A scaler skips the optimizer's step where gradients overflowed. The samples were computed all the same, so it is a step.
    try:
        from torch.amp import GradScaler
    except ImportError:
        from torch.cuda.amp import GradScaler
    GradScaler.step = watched(GradScaler.step, lambda self, optimizer, *_, **__: optimizer)
    scale = GradScaler.scale

    @functools.wraps(scale)
    def scaled(self, outputs):
        result = scale(self, outputs)
        if isinstance(outputs, torch.Tensor):
            o.scales(outputs, result)
        return result

    GradScaler.scale = scaled
