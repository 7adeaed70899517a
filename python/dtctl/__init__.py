"""Scaling studies of distributed training in Python.

    import dtctl
    study = dtctl.home().study("last")
    study.points()      # a pandas DataFrame; its units are in points().attrs["units"]
    study.verdict()     # what the study says, in sentences

Every figure comes from the program dtctl, which must be installed: this package computes none, and opens no database.
"""

from __future__ import annotations

from ._program import DtctlError, DtctlWarning
from .answers import Comparison, Figure, Verdict
from .home import Home, Study, home

__all__ = ["Comparison", "DtctlError", "DtctlWarning", "Figure", "Home", "Study", "Verdict", "home"]
