"""How long ranks wait for each other in an observed PyTorch program: sums of torch.distributed, and those of DistributedDataParallel.

What is seen of it counts as communication in the observer's marks. `unseen` says why it is not known. docs/design/own-program.md has the rules.
"""

import collections
import functools
import os
import statistics
import threading

from dtctl_measure.gradients import watch_gradient
from dtctl_measure.marks import COMMUNICATION, FORWARD, HANDING_OVER, INPUT, OTHER, Modules

KEPT_STEPS = 1000  # of whose buckets means are made
UPDATES_UNDER_WAY = 2  # after which nobody waits for a work in a way that is seen
FEW_NUMBERS = 64  # losses and counts of samples, whose sum over the ranks does not train a model


class Communication:
    def __init__(self, observer):
        self.o = observer
        self.unseen = ""  # why the waiting for other ranks is not known
        self.has_summed = False  # all gradients were summed over the ranks where it can be seen
        self.last_ready = None  # of the last bucket in this backward pass
        self.all_buckets = collections.deque(maxlen=KEPT_STEPS)  # of each step: (bytes, ready_s, lead_s)
        self.hidden_s = collections.deque(maxlen=KEPT_STEPS)
        self.hooks = Modules()  # DistributedDataParallel -> _Hook
        self.bucket_sizes = []  # bytes
        self.is_summing = False
        self.world = 1  # the largest number of ranks so far
        self.has_parallel = False  # DistributedDataParallel trains
        self.exchanges_in_forward = False  # a call of the script, so losses need not be those of this rank's batches
        self.exchanging_steps = 0  # in which the script has exchanged more than a few figures
        self.has_passed_on = False  # from one rank to the next within a step, as pipelines do
        self.under_way = {}  # id of a work that the script has not waited for -> [the work, its call, updates since its begin]

    def look_at(self, module):
        """Finds what sums gradients in a module that the training calls for the first time."""
        torch = self.o.torch
        if not torch.distributed.is_available() or world_size(torch) == 1:
            return
        parts = list(module.modules())
        is_sparse = any(getattr(part, "sparse", False) is True for part in parts)
        for part in parts:
            if any(c.__name__ in ("FullyShardedDataParallel", "FSDPModule") for c in type(part).__mro__):
                self.unseen = "FullyShardedDataParallel communicates beside the computation"
            is_parallel = isinstance(part, torch.nn.parallel.DistributedDataParallel)
            self.has_parallel = self.has_parallel or is_parallel
            if not is_parallel or part in self.hooks or self.unseen:
                continue
            backend = torch.distributed.get_backend(part.process_group)
            if is_sparse or getattr(part, "mixed_precision", None) is not None:
                self.unseen = "DistributedDataParallel sums " + ("sparse gradients" if is_sparse else "in a precision of its own")
            elif backend not in ("gloo", "nccl", "undefined"):  # undefined: gloo for hosts and nccl for GPUs
                self.unseen = f"DistributedDataParallel sums by the backend {backend}"
            if not self.unseen:
                self.install(part)

    def begins_backward(self):
        self.last_ready = None

    def in_this_backward(self):
        """At the end of a backward pass: where the last gradients were ready, or None; and whether the ranks have summed them."""
        ready = self.last_ready
        if ready is None:
            return None, False
        return ready, bool(self.o.recent.buckets) or any(module.require_backward_grad_sync for module in self.hooks)

    def sums(self, tensors):
        self.o.recent.summed_numbers += _numbers(tensors, self.o.torch)

    def exchanges(self, name, arguments):
        """A collective of the script begins."""
        numbers = _numbers(arguments, self.o.torch)
        self.has_passed_on = self.has_passed_on or (name in _PASSING_ON and numbers > FEW_NUMBERS and self.o.has_begun)
        self.o.recent.exchanged_numbers += numbers
        if numbers > 0 and (self.o.in_backward or self.o.phase in (HANDING_OVER, FORWARD)):
            self.exchanges_in_forward = True

    def ends_update(self, recent):
        self.exchanging_steps += recent.exchanged_numbers > FEW_NUMBERS
        for number, entry in list(self.under_way.items()):
            entry[2] += 1
            if entry[2] > UPDATES_UNDER_WAY:  # it is not kept for ever, with its tensors
                del self.under_way[number]
                self.unseen = self.unseen or f"the observer does not see where the program waits for torch.distributed.{entry[1]}"

    def has_begun(self, works, call):
        for work in works if isinstance(works, (list, tuple)) else [works]:
            if work is not None:  # None: this rank takes no part
                self.under_way[id(work)] = [work, call, 0]

    def waits_for(self, work):
        """Whether the script begins to wait for a work that it has begun."""
        return self.under_way.pop(id(work), None) is not None

    def exchange(self):
        """Of a program with torch.distributed: the word of jobs/program/reports/exchange.hpp."""
        is_split = any(type(p).__name__ == "DTensor" for o in self.o.optimizers.rates for group in o.param_groups for p in group["params"])
        if self.exchanges_in_forward or is_split:
            return "some"
        is_idle = self.exchanging_steps <= 1 and not self.has_parallel and not self.has_summed  # once: the weights at the begin
        return "idle" if is_idle else "gradients"

    def is_seen(self, step, world):
        self.world = max(self.world, world)
        if self.o.ranks == 1 and world == 1:
            return True
        numbers = self.o.optimizers.numbers
        if step.has_communication or (numbers > 0 and 2 * step.summed_numbers >= numbers):
            self.has_summed = True
        is_known = self.has_summed or self.has_passed_on
        if self.o.report.exchange in (None, "none") and not is_known:
            return False  # so far there is nothing to wait for
        if self.unseen or not is_known:
            why = self.unseen or "gradients are summed in a way that the observer does not know"
            self.o.caveat("communication", f"how long ranks wait for each other is not known: {why}")
            return False
        return True

    def bucket_is_ready(self, gradients):
        """DistributedDataParallel has the gradients of a bucket, in a thread of autograd. Returns where its end is to be noted."""
        bucket = [gradients.numel() * gradients.element_size(), self._note_ready(), None]
        self.o.recent.buckets.append(bucket)
        return bucket

    def gradient_is_ready(self, bytes_):
        """Autograd has accumulated the gradient of a parameter of DistributedDataParallel."""
        if self.o.in_backward:
            self.o.recent.gradients.append((bytes_, self._note_ready()))

    def _note_ready(self):
        self.last_ready = self.o.clock.now(COMMUNICATION)
        return self.last_ready

    def note(self, call, *args):
        """One of these three."""
        return None if self.o.is_off else self.o.attempt_to("buckets", call, *args)

    def bucket_is_summed(self, bucket):
        bucket[2] = self.o.clock.now(OTHER)

    def take_buckets(self, step, marks):
        """When each bucket was ready, and how long sums went on beside the rest of the backward pass."""
        if step.gradients and not step.buckets and not self.bucket_sizes and self.o.steps == 2:
            self.bucket_sizes = _bucket_sizes(self.hooks)
        if step.gradients and not step.buckets:
            step.buckets = _buckets_of(step.gradients, self.bucket_sizes)
        if not step.buckets or self.o.steps <= 1:  # DistributedDataParallel forms its buckets anew after the first pass
            return
        begin = next((m for m in marks if m.phase in (INPUT, FORWARD)), marks[0])
        last = step.buckets[-1][1]
        self.all_buckets.append([(b, self.o.clock.between(begin, ready), self.o.clock.between(ready, last)) for b, ready, _ in step.buckets])
        hidden, until = 0.0, 0.0
        for _, ready, done in step.buckets:
            if done is None or not done.is_passed():
                return
            from_s, to_s = self.o.clock.between(begin, ready), min(self.o.clock.between(begin, done), self.o.clock.between(begin, last))
            hidden += max(0.0, to_s - max(from_s, until))
            until = max(until, to_s)
        self.hidden_s.append(hidden)

    def write_report(self):
        if os.environ.get("RANK", "0") != "0" or not self.all_buckets:
            return
        shapes = collections.Counter(tuple(b for b, _, _ in step) for step in self.all_buckets)
        usual = shapes.most_common(1)[0][0]
        steps = [step for step in self.all_buckets if tuple(b for b, _, _ in step) == usual]
        for i, bytes_ in enumerate(usual):
            ready, lead = (statistics.mean(step[i][k] for step in steps) for k in (1, 2))
            self.o.report.write("bucket", bytes_, repr(ready), repr(lead))
        if self.hidden_s:
            hidden = 1000 * statistics.median(self.hidden_s)
            self.o.report.fact("communication hidden behind the backward pass", f"{hidden:.3g} ms of a step (median)")


def _bucket_sizes(modules):
    """Of DistributedDataParallel after its first pass, in bytes; empty if it does not tell."""
    for module in modules:
        try:
            data = module._get_ddp_logging_data()
            text = data.get("rebuilt_bucket_sizes") or data.get("bucket_sizes") or ""
            return [int(word) for word in text.replace(",", " ").split()]
        except Exception:  # an interface of torch's own
            return []
    return []


def _buckets_of(gradients, sizes):
    """[bytes, ready, none]: buckets hold gradients in the order in which those became ready."""
    buckets, left = [], list(gradients)
    if sum(sizes) != sum(bytes_ for bytes_, _ in gradients):
        return []
    for size in sizes:
        taken, ready = 0, None
        while left and taken < size:
            bytes_, ready = left.pop(0)
            taken += bytes_
        if taken != size:
            return []
        buckets.append([size, ready, None])
    return buckets


def world_size(torch):
    dist = torch.distributed
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


# ---- what is wrapped ------------------------------------------------------------------------------------------------------------


_COLLECTIVES = """all_reduce reduce broadcast all_gather all_gather_into_tensor _all_gather_base gather scatter reduce_scatter
reduce_scatter_tensor _reduce_scatter_base all_to_all all_to_all_single all_reduce_coalesced all_gather_coalesced barrier send recv isend
irecv batch_isend_irecv""".split()
_NEVER_WAITING = ("isend", "irecv", "batch_isend_irecv")
_PASSING_ON = ("send", "recv", *_NEVER_WAITING)
_REDUCING = ("all_reduce", "reduce", "reduce_scatter", "reduce_scatter_tensor", "_reduce_scatter_base", "all_reduce_coalesced")


def _numbers(tensors, torch):
    if isinstance(tensors, torch.Tensor):
        return tensors.numel()
    return sum(_numbers(each, torch) for each in tensors) if isinstance(tensors, (tuple, list)) else 0


def wrap_collectives(o, torch, is_compiling):
    from torch.distributed import distributed_c10d

    def is_seen_here():
        """In a backward pass with DistributedDataParallel the marks of its buckets come from other threads."""
        c = o.communication
        is_hidden = o.is_off or c.is_summing or (o.in_backward and c.has_parallel)
        return not is_hidden and threading.get_ident() == o.thread and not is_compiling()

    def watched(name, inner):
        never_waits = name in _NEVER_WAITING

        @functools.wraps(inner)
        def collective(*args, **kwargs):
            c = o.communication
            if not c.is_summing and threading.get_ident() == o.thread:
                o.attempt_to("communication", c.exchanges, name, [*args, *kwargs.values()])
            if not is_seen_here():
                return inner(*args, **kwargs)
            is_begun_only = never_waits or kwargs.get("async_op")
            before = None if is_begun_only else o.enters(COMMUNICATION)
            c.is_summing = True
            try:
                works = inner(*args, **kwargs)
            finally:
                c.is_summing = False
                o.leaves(before)
            if is_begun_only:
                o.attempt_to("communication", c.has_begun, works, name if never_waits else f"{name}(async_op=True)")
            if name in _REDUCING:
                o.attempt_to("communication", c.sums, args[0] if args else next(iter(kwargs.values()), None))
            return works

        return collective

    Work = distributed_c10d.Work  # what an asynchronous call returns
    wait = Work.wait

    @functools.wraps(wait)
    def watched_wait(self, *args, **kwargs):
        c = o.communication
        if not is_seen_here() or not c.waits_for(self):
            return wait(self, *args, **kwargs)
        before = o.enters(COMMUNICATION)
        try:
            return wait(self, *args, **kwargs)
        finally:
            o.leaves(before)

    Work.wait = watched_wait

    for name in _COLLECTIVES:
        inner = getattr(distributed_c10d, name, None)
        if inner is not None:
            outer = watched(name, inner)
            setattr(distributed_c10d, name, outer)
            if hasattr(torch.distributed, name):
                setattr(torch.distributed, name, outer)


class _Hook:
    """The hook by which DistributedDataParallel sums a bucket: that of the script, or else what it does without a hook."""

    def __init__(self, state, function, notes_end=False):
        self.state, self.function, self.notes_end = state, function, notes_end
        self.accumulators = []  # kept, because autograd does not keep them


def wrap_data_parallel(o, torch):
    Parallel = torch.nn.parallel.DistributedDataParallel
    register, register_builtin, join = Parallel.register_comm_hook, Parallel._register_builtin_comm_hook, Parallel.join

    def of_hook(hook):
        def watched(state, bucket):
            c = o.communication
            noted = c.note(c.bucket_is_ready, bucket.buffer()) if o.in_backward else None
            c.is_summing, was_summing = True, c.is_summing
            try:
                future = hook.function(hook.state, bucket)
            finally:
                c.is_summing = was_summing
            if not hook.notes_end:
                return future

            def done(future):
                if noted is not None:
                    c.note(c.bucket_is_summed, noted)
                return future.value()[0]

            return future.then(done)

        return watched

    @functools.wraps(register)
    def register_comm_hook(self, state, hook):
        if o.is_off or not callable(hook):
            return register(self, state, hook)
        ours = o.communication.hooks.get(self)
        if ours is not None and ours.function is not None:  # it took the place of none
            ours.state, ours.function, ours.notes_end = state, hook, False
            return None
        wrapped = _Hook(state, hook)
        o.communication.hooks.put(self, wrapped)
        return register(self, state, functools.wraps(hook)(of_hook(wrapped)))

    @functools.wraps(register_builtin)
    def register_builtin_comm_hook(self, *args, **kwargs):
        o.communication.unseen = "DistributedDataParallel has one of its built-in hooks"
        return register_builtin(self, *args, **kwargs)

    @functools.wraps(join)
    def join_(self, *args, **kwargs):
        if self not in o.communication.hooks:
            o.communication.unseen = "DistributedDataParallel.join() lets ranks end early"
        return join(self, *args, **kwargs)

    def install(c, module):
        """Of a module without a hook of the script."""
        group = module.process_group
        backend, is_on_gpu = torch.distributed.get_backend(group), next(module.parameters()).is_cuda
        if backend != "nccl" and not (backend == "undefined" and is_on_gpu):
            # Gloo ends its sums in a thread of its own. A hook would make it need Python, which aborts a program that ends just then.
            hook = _Hook(None, None)
            c.hooks.put(module, hook)
            for parameter in module.parameters():
                if parameter.requires_grad:
                    ready = functools.partial(c.note, c.gradient_is_ready, parameter.numel() * parameter.element_size())
                    hook.accumulators.append(watch_gradient(parameter, ready))
            return
        from torch.distributed.distributed_c10d import all_reduce

        share = 1.0 / group.size()

        def sum_of_bucket(_, bucket):
            """As DistributedDataParallel does without a hook: the gradients times 1 / ranks, then their sum."""
            gradients = bucket.buffer().mul_(share)
            return all_reduce(gradients, group=group, async_op=True).get_future()

        hook = _Hook(None, sum_of_bucket, notes_end=True)
        register(module, None, of_hook(hook))
        c.hooks.put(module, hook)

    Communication.install = install
    Parallel.register_comm_hook, Parallel._register_builtin_comm_hook, Parallel.join = register_comm_hook, register_builtin_comm_hook, join_
