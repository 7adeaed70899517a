"""What a step tells beside its phases: the parameters that are trained, learning rates, losses."""

from dtctl_measure.marks import Modules


class Rates:
    """The learning rates of an optimizer, of its first group of parameters."""

    def __init__(self, name):
        self.name, self.first, self.last = name, None, None
        self.parameters, self.numbers = -1, 0  # tensors that it holds, and their numbers
        self.is_main = False  # it holds the most numbers

    def take(self, rate):
        is_number = isinstance(rate, (int, float)) or getattr(getattr(rate, "device", None), "type", "") == "cpu"
        self.last = float(rate) if is_number else None
        self.first = self.last if self.first is None else self.first

    def __str__(self):
        return f"{self.name} {self.first:.6g}" + ("" if self.last == self.first else f" to {self.last:.6g}")


class Optimizers:
    def __init__(self):
        self.rates = Modules()  # optimizer -> Rates
        self.trained = {}  # ids of the parameters that optimizers hold -> their numbers
        self.numbers = 0

    def look_at(self, optimizer):
        """Its parameters, of which it may get more, and its learning rate."""
        groups = getattr(optimizer, "param_groups", None) or []
        rates, tensors = self.rates.get(optimizer), sum(len(group["params"]) for group in groups)
        if rates is None or rates.parameters != tensors:
            rates = rates or Rates(type(optimizer).__name__)
            self.rates.put(optimizer, rates)
            sizes = {id(p): p.numel() for group in groups for p in group["params"]}
            rates.parameters, rates.numbers = tensors, sum(sizes.values())
            self.trained.update(sizes)
            self.numbers = sum(self.trained.values())
            main = max(self.rates.values(), key=lambda one: one.numbers)
            for each in self.rates.values():
                each.is_main = each is main
        rates.take(groups[0].get("lr") if groups else None)
        return rates

    def words(self):
        """The rates of several optimizers; empty for one."""
        rates = self.rates.values()
        return "; ".join(str(each) for each in rates if each.last is not None) if len(rates) > 1 else ""


class Losses:
    def __init__(self, torch):
        self._torch = torch
        self.unscaled = None  # what a GradScaler has made, and of which loss
        self._slots, self._slot = None, 0  # of pinned memory, for losses that a GPU still computes
        self._last_of, self._all_of = None, set()  # the optimizer of the last step's loss; all that had one

    def take(self, tensors, losses, is_in_closure):
        """Appends the loss of which a backward pass begins. Of an optimizer's closure those of the last call count alone."""
        loss = tensors[0] if isinstance(tensors, (tuple, list)) and tensors else tensors
        if self.unscaled is not None and loss is self.unscaled[0]:
            loss = self.unscaled[1]
        self.unscaled = None
        if not isinstance(loss, self._torch.Tensor) or loss.numel() != 1:
            return
        if is_in_closure:
            losses.clear()
        if loss.is_cuda:
            if self._slots is None:
                self._slots = self._torch.zeros(1024, dtype=self._torch.float32, device="cpu", pin_memory=True)
            self._slot = (self._slot + 1) % len(self._slots)
            place = self._slots[self._slot]
            place.copy_(loss.detach().reshape(()), non_blocking=True)  # read when the GPU has passed the end of the step
            losses.append(place)
        elif loss.device.type == "cpu":
            losses.append(loss.item())

    def why_no_series(self, optimizer):
        """Of the next step, whose losses are those of this optimizer. Two whose losses come in turn, as those of a GAN's networks, make
        one series of two quantities."""
        if optimizer is None or optimizer == self._last_of:
            return ""
        is_again = optimizer in self._all_of
        self._last_of = optimizer
        self._all_of.add(optimizer)
        names = ", ".join(sorted({name for _, name in self._all_of}))
        return f"the loss of a step is of one optimizer now, of another then ({names}): the steps' losses are no one series" if is_again else ""
