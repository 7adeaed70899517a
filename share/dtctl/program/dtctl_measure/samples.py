"""How many samples a batch and a step have: one rule for the observer, dtctl_sync and dtctl_report.observe_step().

A batch is whatever a program's loader yields: tensors, mappings, objects, lists of samples, and these within each other. Each part
offers the numbers that it may stand for, and the parts must agree on one number. Where they do not, or may mean two, the samples are
unknown: None. docs/guide/own-program.md has the rules for users. The module uses the standard library only.
"""

import collections
import collections.abc
import functools
import math
import os
import types

from .marks import Modules

DEPTH = 8  # of parts within each other
FEW = 8  # a list of so few things may be one of a batch's parts (inputs, labels, …) and not one of samples
_SCALARS = frozenset((int, float, complex, bool, str, bytes, type(None)))
_NO_PARTS = (type, types.ModuleType, types.FunctionType, types.MethodType, types.BuiltinFunctionType)

Declared = collections.namedtuple("Declared", ["a_step", "dimension"])  # samples of a rank in a step; the dimension of samples


@functools.lru_cache(maxsize=None)
def declared():
    """What program.samples of the recipe says; dtjob sets the variable. Both are None if it says nothing."""
    words = os.environ.get("DTCTL_SAMPLES", "").split()
    if len(words) == 2 and words[0] == "dimension":
        return Declared(None, int(words[1]))
    return Declared(float(words[0]) if words else None, None)


def count(batch, batch_size=None, drawn=None, are_parts=False):
    """The samples of a batch; None: unknown.

    batch_size: that of its loader, which the last batch may fall short of. drawn: samples that the loader has drawn for this batch.
    are_parts: lists in the batch have one part after another, as torch's default_collate makes them, and no samples.
    """
    most = batch_size if drawn is None else drawn
    try:
        if declared().dimension is None and type(batch) in (list, tuple) and {each.shape[0] for each in batch} == {most}:
            return most  # arrays, as of most loaders: what is looked at below would say the same
    except Exception:
        pass
    look = _Look(are_parts, most is None and _are_columns(batch))
    try:
        offers = look.offers_of(batch, DEPTH)
    except Exception:  # a batch of the program's own, which may raise anything where it is looked at
        return None
    dimension = declared().dimension
    if dimension is not None:
        return _only({shape[dimension] for shape in look.shapes if len(shape) > dimension})
    if most is None or offers is None:
        return _only(offers)
    if most in offers:
        return most
    seconds = {shape[1] for shape in look.shapes if len(shape) > 1}
    if drawn is not None and look.has_only(drawn, is_conflict=not offers or None in offers):
        return drawn
    # A second dimension of this length, or a leading one that is longer: it is [length, batch], or sequences are put together.
    return None if most in seconds or max(offers - {None}, default=0) > most else _only(offers)


# ---- of a step --------------------------------------------------------------------------------------------------------------------


class StepSamples:
    """The samples of a step: of its batches, or in a loop without a loader of what each outermost module got in its calls."""

    def __init__(self):
        self.batches = []  # samples of each; None: unknown
        self.calls = {}  # id of a module -> samples of its calls; NaN: unknown

    def has_call(self, module, samples):
        self.calls[id(module)] = self.calls.get(id(module), 0) + (math.nan if samples is None else samples)

    def add(self, later):
        self.batches += later.batches
        for module, samples in later.calls.items():
            self.calls[module] = self.calls.get(module, 0) + samples

    def number(self):
        """What program.samples says; else what was found. None: not known."""
        if declared().a_step is not None:
            return declared().a_step
        if self.batches:
            return None if None in self.batches else sum(self.batches)
        counts = set(self.calls.values())
        return counts.pop() if len(counts) == 1 and not any(map(math.isnan, counts)) else None

    def why_unknown(self):
        if self.batches:
            return "the parts of a batch do not agree on one number of samples"
        has_several = len(set(self.calls.values())) > 1
        return "there is no DataLoader, and " + ("modules got different numbers" if has_several else "what the module gets does not tell")


class Calls:
    """What outermost modules get as their arguments."""

    def __init__(self, torch):
        self._functorch = getattr(torch._C, "_functorch", None)
        self._has_length_first = Modules()

    def count(self, module, args, kwargs):
        """The samples of this call; None: unknown."""
        try:
            is_long = self._has_length_first.get(module)
            if is_long is None:
                is_long = has_length_first(module)
                self._has_length_first.put(module, is_long)
            is_transformed = getattr(self._functorch, "are_transforms_active", None)  # vmap() of torch.func hides a dimension
            if (is_long and declared().dimension is None) or (is_transformed is not None and is_transformed()):
                return None
            return count_of_call(args, kwargs)
        except Exception:  # arguments of the program's own, which may raise anything where they are looked at
            return None


def count_of_call(args, kwargs):
    """The samples that a module gets as its arguments; None: unknown. Floating numbers in one row may be one sample, such as the state
    of an environment."""
    given = [*args, *kwargs.values()]
    shapes = [shape for shape in map(_shape, given) if shape]
    if {len(shape) for shape in shapes} == {1} and any("float" in str(getattr(each, "dtype", "")) for each in given):
        return None
    return count({**dict(enumerate(args)), **kwargs})


def has_length_first(module):
    """Whether a part of this torch.nn.Module takes [length, batch, …]: the leading dimension need not be that of samples."""
    return any(getattr(part, "batch_first", True) is False for part in module.modules())


# ---- what a DataLoader of torch draws --------------------------------------------------------------------------------------------


def watch_draws(torch):
    """Notes from now on how many samples each DataLoader draws for a batch (see of_loader)."""
    iterators = torch.utils.data.dataloader._BaseDataLoaderIter
    inner, reset = getattr(iterators, "_next_index", None), getattr(iterators, "_reset", None)
    if inner is None or reset is None or hasattr(inner, "is_watched_by_dtctl"):
        return

    @functools.wraps(inner)
    def next_index(self):
        index = inner(self)
        draws = vars(self).get("_draws_of_dtctl")
        if draws is None and not self._num_yielded and not getattr(self, "_send_idx", 0):  # else some were drawn before
            draws = vars(self)["_draws_of_dtctl"] = collections.deque()
        if draws is not None:
            draws.append(len(index) if isinstance(index, collections.abc.Sized) else None)
        return index

    @functools.wraps(reset)
    def begin(self, *args, **kwargs):
        vars(self)["_draws_of_dtctl"] = collections.deque()
        return reset(self, *args, **kwargs)

    next_index.is_watched_by_dtctl = True
    iterators._next_index, iterators._reset = next_index, begin


def of_loader(iterator, batch):
    """The samples of the batch that this iterator of a DataLoader has yielded just now; None: unknown."""
    about = vars(iterator)
    draws = about.get("_draws_of_dtctl")
    drawn = draws.popleft() if draws else None
    collates = about.get("_auto_collation", False)
    if about.get("_dataset_kind") != 0 or not about.get("_in_order", True):  # 0: a data set with indices
        drawn = None
    size = getattr(about.get("_index_sampler"), "batch_size", None) if collates else None
    is_default = collates and getattr(about.get("_collate_fn"), "__name__", "") == "default_collate"
    return count(batch, size if isinstance(size, int) else None, drawn, is_default)


# ---- what the parts of a batch offer ---------------------------------------------------------------------------------------------


def _only(offers):
    """Their only number. None among them stands for parts that would not agree."""
    number = next(iter(offers)) if offers and len(offers) == 1 else None
    return None if number is None else int(number)


class _Look:
    """One look at a batch. An offer is a set of the numbers of samples that a part may stand for; empty: its own parts contradict each
    other; None: it says nothing."""

    def __init__(self, are_parts, are_columns):
        self.are_parts, self.are_columns = are_parts, are_columns
        self.shapes = []  # of all arrays
        self.seen = set()  # ids of what has parts: objects may name each other

    def has_only(self, drawn, is_conflict):
        """Whether the drawn samples lie in an array's first or second dimension, and where the leading ones agree, in all second ones."""
        if is_conflict:
            return any(drawn in shape[:2] for shape in self.shapes)
        return bool(self.shapes) and all(len(shape) > 1 and shape[1] == drawn for shape in self.shapes)

    def offers_of(self, value, depth):
        if type(value) in _SCALARS or depth == 0 or isinstance(value, _NO_PARTS):
            return None
        shape = _shape(value)
        if shape is not None:
            self.shapes += [shape] if shape else []
            return {shape[0]} if shape else None
        if id(value) in self.seen:
            return None
        self.seen.add(id(value))
        is_list = isinstance(value, (list, tuple)) and not hasattr(value, "_fields")
        said = None if is_list else _said(value)
        if said is not None:
            return {said}
        if is_list:
            return self._offers_of_list(value, depth - 1)
        return _agreed([self.offers_of(each, depth - 1) for each in _members(value)])

    def _offers_of_list(self, values, depth):
        """A list may have parts of a batch, or samples: those are all of one kind."""
        if not values:
            return None
        if _SCALARS.issuperset(map(type, values)):
            return {len(values)}
        agreed = _agreed([self.offers_of(each, depth) for each in values])
        if agreed is None:
            return {len(values)}
        if self.are_parts or len({_kind(each) for each in values}) > 1 or (self.are_columns and depth == DEPTH - 1):
            return agreed
        is_doubtful = not agreed and len(values) <= FEW
        return agreed | {len(values)} | ({None} if is_doubtful else set())


def _agreed(offers):
    """What all parts that say something have in common."""
    offers = [each for each in offers if each is not None]
    return set.intersection(*offers) if offers else None


def _shape(value):
    """Of an array of any library; None: it is none."""
    if getattr(value, "is_nested", False) is True:  # torch.nested has no shape
        return (value.size(0),)
    shape = getattr(value, "shape", None)
    if shape is None or isinstance(value, (list, tuple)):
        return None
    if isinstance(shape, tuple):
        return shape
    try:
        return tuple(int(each) for each in shape)
    except (TypeError, ValueError):
        return None


def _said(value):
    """The samples that an object names itself: packed sequences, graphs. None: it does not."""
    if type(value).__name__ == "PackedSequence":
        return int(value.batch_sizes[0])
    for name in ("num_graphs", "batch_size"):
        number = getattr(value, name, None)
        if isinstance(number, tuple) and number:  # of a TensorDict
            number = number[0]
        if isinstance(number, int) and not isinstance(number, bool):
            return number
    return None


def _members(value):
    if isinstance(value, collections.abc.Mapping):
        return list(value.values())
    if hasattr(value, "_fields"):
        return list(value)
    if hasattr(value, "state_dict"):  # a module or an optimizer
        return []
    slots = [vars(each).get("__slots__", ()) for each in type(value).__mro__]
    names = {name for each in slots for name in ((each,) if isinstance(each, str) else each)} - {"__dict__", "__weakref__"}
    return [*getattr(value, "__dict__", {}).values(), *(getattr(value, name, None) for name in names)]


def _kind(value):
    """Samples of one list have the same."""
    shape = _shape(value)
    return type(value) if shape is None else (len(shape), str(getattr(value, "dtype", "")))


def _are_columns(batch):
    """Whether a batch is a tuple of inputs and labels, such as (x[16, 1], y[16, 1]), by its form alone. Images may be samples."""
    if not isinstance(batch, tuple) or hasattr(batch, "_fields") or not 2 <= len(batch) <= 4:
        return False
    return all(len(_shape(each) or ()) <= 2 for each in batch)
