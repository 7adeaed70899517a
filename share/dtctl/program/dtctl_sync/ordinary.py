"""An ordinary loop under a strategy: prepare(), batches() and what else a script calls."""

import functools
import threading
import types

import torch

from dtctl_measure.marks import BACKWARD, OPTIMIZER, OTHER

from . import library, outside
from .library import SyncError
from .structure import several
from .training import Training


class OrdinaryLoop(Training):
    """A training whose steps are made by the script's own backward() and optimizer.step().

    The strategy's step runs in a second thread, in turn with the script's: it begins with the first gradient, waits until the
    backward pass has ended, and asks for the update, which optimizer.step() makes. So gradients are those of all ranks when
    backward() returns, under a strategy that sums them, and may be clipped there.

    With several optimizers nobody knows which of them a backward pass is for. Then optimizer.step() makes the whole step of the strategy,
    for the parameters of this optimizer, in the script's thread.
    """

    IDLE, COMPUTES, EXCHANGES, UPDATES, DONE = "idle", "computes", "exchanges", "updates", "done"

    def __init__(self, model, optimizer, **settings):
        self._turn = threading.Condition()
        self._state = self.IDLE
        self._scaler = None
        super().__init__(model, optimizer, **settings)
        self._is_deferred = len(self._optimizers) > 1
        if self._is_deferred and self._meeting.has_servers:
            raise SyncError(f"{self.setting('sync.strategy')} has a parameter server, which would have to know how often each optimizer steps: train "
                            "several optimizers under another strategy")
        self._stepped = set()  # ids of the optimizers that have stepped in the step that is reported next
        self._compute, self._update = self._wait_for_backward, self._wait_for_optimizer
        for each in self._optimizers:
            self._replace_step(each)
        outside.watch(self._optimizers, self.ranks)
        if not self._is_deferred:
            threading.Thread(target=self._make_steps, daemon=True).start()

    def _replace_step(self, optimizer):
        """With a method of the optimizer, as learning-rate schedulers expect, which has their marks if one was made before."""

        @functools.wraps(optimizer.step)
        def step(_, closure=None):
            return self._optimizer_step(optimizer, closure)

        optimizer.step = types.MethodType(step, optimizer)

    # the script's thread

    def begin_backward(self, tensors):
        """The script has made its forward pass. tensors: those that are derived; None: not known."""
        self._require_worker()
        self._raise()
        if self._state == self.COMPUTES:
            self._wait.end_all(f"a backward pass of step {self.step_number + 1} has failed on rank {self.rank}, and the script goes on: the other ranks "
                               "wait for its gradients, so the step cannot be made again")
        self._measured.begins_backward(tensors)
        loss = tensors[0] if isinstance(tensors, (list, tuple)) and tensors else tensors
        if isinstance(loss, torch.Tensor) and loss.numel() == 1:
            loss = loss.detach()
            self._measured.times.losses.append(loss if self._scaler is None else loss / self._scaler.scale(torch.ones_like(loss)))

    def end_backward(self):
        """Of a pass whose gradients are not final."""
        if self._is_deferred or not self._collects:
            self._measured.times.begins_pass()

    def _has_gradient(self, index):
        if self._is_deferred or not self._collects:
            return
        if self._state == self.IDLE:
            self._begin()
        if self._state != self.COMPUTES:
            raise SyncError("a second backward pass began before optimizer.step(): put all but the last one of a step in "
                            "`with sync.no_sync():`; if a GradScaler leaves steps out, give it to prepare(…, scaler=scaler)")
        super()._has_gradient(index)

    def _begin(self):
        self._require_worker()
        if self._measured.times.phase != BACKWARD:  # a backward() that the script has kept from before prepare()
            self.begin_backward(None)
        self._turn_to(self.COMPUTES, until=lambda: self._is_computing)
        torch.autograd.Variable._execution_engine.queue_callback(self._end_of_backward)

    def _end_of_backward(self):
        self._turn_to(self.EXCHANGES, until=lambda: self._state in (self.UPDATES, self.DONE))
        self._raise()

    def observe_scaler(self, scaler):
        """A GradScaler does not call optimizer.step() if a gradient is infinite: the strategy's step then ends without an update."""
        if self._is_deferred:
            raise SyncError("a GradScaler with several optimizers cannot be trained with: a rank would leave steps out alone; take torch.autocast with "
                            "bfloat16")
        self._scaler, step_of_scaler = scaler, scaler.step

        def step(optimizer, *arguments, **options):
            result = step_of_scaler(optimizer, *arguments, **options)
            if optimizer is self._optimizers[0] and self._state == self.UPDATES:
                self._optimizer_step(optimizer, updates=False)
            return result

        scaler.step = step

    def _optimizer_step(self, optimizer, closure=None, updates=True):
        if closure is not None:
            raise SyncError("optimizer.step(closure) makes several passes; use sync.Training and training.step()")
        self._require_worker()
        if self._is_deferred:
            return self._make_deferred_step(optimizer)
        if self._state == self.IDLE:
            self._structure.require_unchanged()
            self._packed.require_unmoved()
            raise SyncError("optimizer.step() was called without a backward pass before it")
        if self._state == self.UPDATES:
            self._measured.times.force_mark(OPTIMIZER)
            if updates:
                self._own_update(optimizer)
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

    def _require_between_steps(self, what):
        self._raise()
        if self._state != self.IDLE:
            raise SyncError(f"rank {self.rank} {what} between backward() and optimizer.step() of step {self.step_number + 1}: the other ranks wait for "
                            "the end of this step")

    def _end_of_process(self):
        self.finish()
        self.close()

    # several optimizers

    def _end_step(self):
        self._stepped.clear()
        super()._end_step()

    def _make_deferred_step(self, optimizer):
        if id(optimizer) in self._stepped:
            self._end_step()
        self._stepped.add(id(optimizer))
        self._stepping = self._structure.indexes_of(optimizer)
        self._compute, self._update = (lambda: None), (lambda: self._own_update(optimizer))
        self._make_step(optimizer)

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
        self._measured.times.force_mark(OTHER)  # what the script does between gradients and update
        with self._turn:
            self._state = self.UPDATES
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._state == self.EXCHANGES)


_training = None


def _observe_backward():
    backward, under_way = torch.autograd.backward, []

    @functools.wraps(backward)
    def observed(tensors, *arguments, **options):
        if under_way:  # within another one, as checkpoints make them
            return backward(tensors, *arguments, **options)
        under_way.append(tensors)
        try:
            _training.begin_backward(tensors)
            backward(tensors, *arguments, **options)
            _training.end_backward()
        finally:
            under_way.clear()

    torch.autograd.backward = observed


def prepare(model, optimizer, scaler=None, **settings):
    """Lets an ordinary loop train under a strategy (see Training for the settings). Returns the model and the optimizer. scaler: the
    loop's GradScaler, if it has one. Several models and optimizers: lists, tuples or dictionaries of them, which come back as they are.

    Gradients are exchanged in backward(), where the strategy does so; optimizer.step() updates. With several optimizers they are exchanged in
    optimizer.step(). At the end of the script the training is reported as finished, unless an exception ends it.
    """
    global _training
    if _training is not None:
        raise SyncError("prepare() was called twice; give it all models and optimizers at once, prepare([a, b], [optimizer_a, optimizer_b])")
    if not several(model) or not several(optimizer):
        raise SyncError("prepare() needs a model and an optimizer")
    _training = OrdinaryLoop(model, optimizer, **settings)
    if scaler is not None:
        _training.observe_scaler(scaler)
    _observe_backward()
    return model, optimizer


def training():
    """The training that prepare() has begun: for evaluation(), state_dict(), rank, worker and so on."""
    if _training is None:
        raise SyncError("there is no training; call prepare() first")
    return _training


def batches(loader, steps=None, mine=None):
    """See Training.batches()."""
    return training().batches(loader, steps, mine)


def no_sync():
    """See Training.no_sync()."""
    return training().no_sync()
