"""Stands in for the package gymnasium in programs that balance the pole of Barto, Sutton and Anderson [1983]. It is solved early."""

import math
import random
import types

import numpy


class _CartPole:
    spec = types.SimpleNamespace(reward_threshold=25)

    def reset(self, seed=None):
        if seed is not None:
            self.random = random.Random(seed)
        self.state = [self.random.uniform(-0.05, 0.05) for _ in range(4)]
        return numpy.array(self.state, dtype=numpy.float32), {}

    def step(self, action):
        x, speed, angle, turn = self.state
        force = 10.0 if action == 1 else -10.0
        pull = (force + 0.05 * turn**2 * math.sin(angle)) / 1.1
        turning = (9.8 * math.sin(angle) - math.cos(angle) * pull) / (0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1))
        pushing = pull - 0.05 * turning * math.cos(angle) / 1.1
        self.state = [x + 0.02 * speed, speed + 0.02 * pushing, angle + 0.02 * turn, turn + 0.02 * turning]
        has_fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095
        return numpy.array(self.state, dtype=numpy.float32), 1.0, has_fallen, False, {}


def make(name, **_):
    assert name == "CartPole-v1", name
    return _CartPole()
