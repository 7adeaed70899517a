"""What the observer's modules share: the phases of a step, the marks where they begin, and a map of modules."""

import weakref

OTHER, INPUT, FORWARD, BACKWARD, COMMUNICATION, OPTIMIZER, EVALUATION = range(7)
HANDING_OVER = 7  # from a batch to the first use of a module: copies to the device
AFTER_FORWARD = 8  # behind a forward pass: of the loss function if a backward pass follows, else outside of all phases
LOADER, CHECKPOINT, PAUSE = 9, 10, 11  # between epochs: a DataLoader opens or ends, torch.save(), all else
EVALUATED, REPORTED_EVALUATION = 12, 13  # an evaluation, which is left out of the step; the latter stands in the report already
PHASES = 14
PHASE_NAMES = {INPUT: "input", FORWARD: "forward", BACKWARD: "backward", COMMUNICATION: "communication", OPTIMIZER: "optimizer",
               EVALUATION: "evaluation", HANDING_OVER: "input", LOADER: "loader", CHECKPOINT: "checkpoint", PAUSE: "between epochs",
               EVALUATED: "evaluation", REPORTED_EVALUATION: "evaluation"}
IDLE = frozenset((OTHER, HANDING_OVER, FORWARD, AFTER_FORWARD))  # may be a part of the time between two epochs


class Mark:
    """The time at which a phase begins: on the host, and on the GPU's stream if there is one."""

    __slots__ = ("phase", "host_s", "event")

    def __init__(self, phase, host_s, event):
        self.phase, self.host_s, self.event = phase, host_s, event


class Modules:
    """A map of modules and other objects by their identity, which forgets those that are gone: a module of the program may have an
    equality of its own and no hash."""

    def __init__(self):
        self.entries = {}  # id -> (weak reference, value)

    def get(self, key):
        entry = self.entries.get(id(key))
        return entry[1] if entry is not None and entry[0]() is key else None

    def put(self, key, value=True):
        number, entries = id(key), self.entries
        entries[number] = (weakref.ref(key, lambda _: entries.pop(number, None)), value)

    def values(self):
        return [value for reference, value in list(self.entries.values()) if reference() is not None]

    def __contains__(self, key):
        return self.get(key) is not None

    def __iter__(self):
        return iter([key for key in (reference() for reference, _ in list(self.entries.values())) if key is not None])

    def __len__(self):
        return len(self.entries)
