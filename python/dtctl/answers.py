"""Answers of dtctl that a notebook shows: a verdict, a comparison, a figure, a table of points."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from ._frames import plain_frame

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Verdict:
    """What a study says."""

    kind: str  #: "scaling", "candidates", or "none": there is nothing to say
    sentences: Tuple[str, ...]  #: the first is the headline

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        if not self.sentences:
            return "<p>no verdict</p>"
        rest = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.sentences[1:])
        return f"<p><b>{escape(self.sentences[0])}</b></p>" + (f"<ul>{rest}</ul>" if rest else "")


@dataclass(frozen=True)
class Figure:
    """A figure of a study, drawn by dtctl. A notebook shows it; `png` are its bytes (300 dots per inch)."""

    kind: str
    caption: str
    png: bytes = field(repr=False)

    def _repr_png_(self) -> Tuple[bytes, Dict[str, int]]:
        width = struct.unpack(">I", self.png[16:20])[0]  # pixels, of the PNG's first chunk
        return self.png, {"width": width // 2}


#: Unit of the values of each metric of dtctl compare (`value`, `a`, `b`). A test holds the names to those of the program.
METRIC_UNITS = {"throughput": "samples/s", "time-to-target": "s", "step-time": "s", "accuracy": "0..1",
                "node-hours": "node-hours", "samples": "samples", "energy": "J/sample", "mfu": "0..1",
                "loss": "loss"}


@dataclass(frozen=True)
class Comparison:
    """A compared with B, or the candidates within A ranked. `data` is dtctl's JSON value."""

    data: Dict[str, Any] = field(repr=False)

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """One for each compared point, or for each candidate of a ranking (its `contest` says of which size)."""
        if "comparisons" in self.data:
            return list(self.data["comparisons"])
        return [{"metric": ranking["metric"], "contest": ranking["contest"], **row}
                for ranking in self.data["rankings"] for row in ranking["ranking"]]

    @property
    def sentences(self) -> Tuple[str, ...]:
        """The verdicts in words, one for each point or ranking."""
        if "comparisons" in self.data:
            return tuple(f"{row['point']}: {row['sentence']}" for row in self.data["comparisons"])
        return tuple(ranking["sentence"] for ranking in self.data["rankings"])

    def table(self) -> pandas.DataFrame:
        """The rows as a DataFrame. `effect` is the ratio of A to B, or to the best candidate (of accuracies the difference);
        `low` and `high` are its 95 % interval."""
        rows = self.rows
        names = list(rows[0]) if rows else []
        return plain_frame(rows, names, {**self._units(), "more_node_hours": "node-hours"})

    def _units(self) -> Dict[str, str]:
        rows = self.rows
        unit = METRIC_UNITS.get(rows[0]["metric"], "") if rows else ""
        return {name: unit for name in ("a", "b", "value") if unit}

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        names = ["point", "a", "b", "effect", "low", "high", "verdict"]
        if "comparisons" not in self.data:
            names = ["contest", "name", "runs", "value", "effect", "low", "high", "rank"]
        body = [[_text(row.get(name)) for name in names] for row in self.rows]
        units = self._units()
        heads = [f"{name} [{units[name]}]" if name in units else name for name in names]
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences) + html_table(heads, body)


def points_html(rows: Sequence[Dict[str, Any]]) -> str:
    """The points of a study as dtctl results prints them: throughput in samples/s, shares in percent."""
    heads = ["label", "nodes", "ranks", "runs", "samples/s", "speed-up", "efficiency [95 %]", "comm.", "accuracy"]
    body = [_point_cells(row) for row in rows]
    first = 0 if any(cells[0] for cells in body) else 1  # without the labels, if there are none
    return html_table(heads[first:], [cells[first:] for cells in body])


def _point_cells(row: Dict[str, Any]) -> List[str]:
    low, high = row["efficiency_low"], row["efficiency_high"]
    interval = f" [{100 * low:.1f}, {100 * high:.1f}]" if low is not None and high is not None else ""
    speedup = "-" if row["speedup"] is None else f"{row['speedup']:.2f}x"
    return [row["label"] or "", str(row["nodes"]), str(row["ranks"]), str(row["runs"]), _rounded(row["throughput"]), speedup,
            _percent(row["efficiency"]) + interval, _percent(row["communication_share"]), _percent(row["accuracy"])]


def html_table(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table whose texts are escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _rounded(value: Optional[float]) -> str:
    return "-" if value is None else f"{value:.0f}"


def _percent(share: Optional[float]) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
    return str(value)
