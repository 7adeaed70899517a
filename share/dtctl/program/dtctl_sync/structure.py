"""What is trained: models, their parameters, and the optimizers that hold them, as they were when the training began."""

import itertools

import torch

from .library import SyncError


def several(things):
    """A list of one model or optimizer, or of those in a list, a tuple or a dictionary."""
    if isinstance(things, dict):
        return list(things.values())
    return list(things) if type(things) in (list, tuple) else [things]


def _shapes_of(parameters):
    return ", ".join(str(tuple(p.shape)) for p in parameters[:3])


EXCHANGING = ("DistributedDataParallel", "FullyShardedDataParallel", "FSDPModule")  # these exchange gradients or weights by themselves


def refuse_wrapped(parts):
    for part in parts:
        for kind in type(part).__mro__:
            if kind.__name__ in EXCHANGING:
                raise SyncError(f"{kind.__name__} exchanges gradients in each step, whatever the strategy is: give dtctl_sync the model without it, "
                                "and do not wrap the model afterwards")


class Structure:
    def __init__(self, models, optimizers):
        self._models, self._optimizers = models, optimizers
        refuse_wrapped(self.modules())
        self.named, self.frozen = self._find_parameters()
        if not self.named:
            raise SyncError("the model has no parameters that require gradients")
        self.index = {id(p): i for i, (_, p) in enumerate(self.named)}
        self._require_own_parameters()
        self._require_dense()
        # What a step compares: every dictionary of parameters and parts, and the groups of the optimizers.
        self._tables = [table for m in self.modules() for table in (m._parameters, m._modules)]
        self._entries = [tuple(map(id, table.values())) for table in self._tables]
        self._groups = list(map(id, self._held()))

    def modules(self):
        return list({id(m): m for model in self._models for m in model.modules()}.values())

    def buffers(self):
        return list({id(b): b for model in self._models for b in model.buffers()}.values())

    def _find_parameters(self):
        names = [""] if len(self._models) == 1 else [f"{i}." for i in range(len(self._models))]
        found = {}
        for prefix, model in zip(names, self._models):
            for name, parameter in model.named_parameters():
                found.setdefault(id(parameter), (prefix + name, parameter))
        trained = [(name, p) for name, p in found.values() if p.requires_grad]
        return trained, [p for _, p in found.values() if not p.requires_grad]

    def _held(self):
        return [p for optimizer in self._optimizers for group in optimizer.param_groups for p in group["params"]]

    def indexes_of(self, optimizer):
        return {self.index[id(p)] for group in optimizer.param_groups for p in group["params"] if id(p) in self.index}

    def _require_own_parameters(self):
        held = self._held()
        others = [p for p in held if p.requires_grad and id(p) not in self.index]
        if others:
            raise SyncError(f"the optimizer has {len(others)} trained tensors that are not the model's (of shape {_shapes_of(others)}), and they would not "
                            "be exchanged: give prepare() all models that are trained, prepare([a, b], optimizer), or make one torch.nn.Module of them")
        if len(held) != len(set(map(id, held))):
            raise SyncError("two optimizers train the same parameter, which dtctl_sync cannot exchange twice: give each parameter one optimizer")

    def _require_dense(self):
        for model in self._models:
            for name, module in model.named_modules():
                weight = getattr(module, "weight", None)
                if getattr(module, "sparse", False) is True and weight is not None and weight.requires_grad:
                    raise SyncError(f"the layer {name or type(module).__name__} has sparse gradients, and dtctl_sync exchanges dense ones: make it "
                                    "without sparse=True, with an optimizer such as Adam in place of SparseAdam")
        if any(isinstance(optimizer, torch.optim.SparseAdam) for optimizer in self._optimizers):
            raise SyncError("SparseAdam needs sparse gradients, and dtctl_sync exchanges dense ones: take Adam")

    def require_unchanged(self):
        """Raises SyncError if parameters were added, replaced or thawed since the begin."""
        if any(parameter.requires_grad for parameter in self.frozen):
            raise SyncError("a parameter that was frozen at the start of the training requires gradients now, and the other ranks would not "
                            "get them: begin a new training when layers are thawed")
        if all(tuple(map(id, table.values())) == entries for table, entries in zip(self._tables, self._entries)) and \
                list(map(id, self._held())) == self._groups:
            return
        self._refuse_new_parameters()
        self._entries = [tuple(map(id, table.values())) for table in self._tables]  # a part without parameters
        self._groups = list(map(id, self._held()))

    def _refuse_new_parameters(self):
        known = {id(p) for p in itertools.chain((p for _, p in self.named), self.frozen)}
        new = [name for model in self._models for name, p in model.named_parameters() if id(p) not in known and p.requires_grad]
        held = [p for p in self._held() if id(p) not in known and p.requires_grad]
        if new or held:
            what = ", ".join(new[:5]) if new else f"of shape {_shapes_of(held)}"
            raise SyncError(f"parameters were added or replaced after prepare() ({what}), and they would not be exchanged: complete the model and "
                            "the optimizer before, or begin a new training")
