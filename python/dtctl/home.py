"""A home of dtctl, and the studies in it."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Union

from ._frames import frame, plain_frame
from ._program import DtctlError, Program
from .answers import Comparison, Figure, Verdict, points_html
from .trackers import send_to_mlflow, write_tensorboard

if TYPE_CHECKING:
    import pandas

_MARK = "# Written by Home.submit of the Python package dtctl, which replaces this file."


def home(path: Union[str, Path, None] = None, *, program: Union[str, Path] = "dtctl") -> Home:
    """Opens a home of dtctl: `path`, else the one that dtctl itself takes ($DTCTL_HOME, else ~/.local/share/dtctl).

    `program`: the program dtctl; by default the one in PATH.
    """
    return Home(Program(None if path is None else str(path), str(program)))


@dataclass(frozen=True)
class Home:
    """The folder that holds runs, studies and the results database."""

    _program: Program = field(repr=False, compare=False)

    @property
    def path(self) -> Path:
        """Path of the home."""
        return Path(self._program.call("config", "paths")["home"])

    def studies(self) -> pandas.DataFrame:
        """All studies, one a row: id, name, kind, numbers of runs, time of submission (s since 1970)."""
        rows = self._program.call("status", "--all")["studies"]
        names = list(rows[0]) if rows else ["id", "name", "kind", "runs", "succeeded", "failed", "submitted_unix_s"]
        return plain_frame(rows, names, {"submitted_unix_s": "s"})

    def study(self, selector: str = "last") -> Study:
        """A study by its name, the first digits of its id, or "last": the newest."""
        status = self._program.call("status", selector)
        if "study" not in status:
            raise DtctlError(f"`{selector}` names no study; home.studies() lists the studies", "usage")
        study_id = status["study"]
        names = self._program.query(f"SELECT name FROM studies WHERE key = {_quoted(study_id)}")["rows"]
        return Study(self._program, study_id, names[0]["name"])

    def query(self, sql: str) -> pandas.DataFrame:
        """The rows of a SELECT on the results database (docs/database.md). Anything that writes is refused."""
        answer = self._program.query(sql)
        return plain_frame(answer["rows"], answer["columns"], {})

    def compare(self, a: Union[str, Study], b: Union[str, Study, None] = None, *, by: Optional[str] = None,
                metric: str = "throughput", margin: Optional[str] = None) -> Comparison:
        """Compares two studies, or without `b` the candidates within one, as dtctl compare does.

        `by`: compare the values of this key, such as "sync.strategy". `metric`: throughput (samples/s), time-to-target (s),
        step-time (s), accuracy (0..1), node-hours, samples, energy (J/sample), mfu (0..1) or loss. `margin`: the largest difference
        that does not matter, such as "2%".
        """
        words = ["compare", _selector(a)] + ([] if b is None else [_selector(b)]) + ["--metric", metric]
        words += [] if by is None else ["--by", by]
        words += [] if margin is None else ["--margin", margin]
        return Comparison(self._program.call(*words))

    def submit(self, recipe: Union[Mapping[str, Any], str, Path], *, file: Union[str, Path, None] = None,
               wait: bool = False) -> Study:
        """Submits what is missing of a recipe, and returns its study.

        `recipe`: a dict with the keys of a recipe, or the path or name of a recipe. A dict is written to `file` (default: its
        name and .yaml, in the current folder), relative to which its paths are; a file that somebody else wrote is never
        replaced. `wait`: print the progress and return when all runs have ended, with success or without (Study.states).
        """
        path = _write(recipe, file) if isinstance(recipe, Mapping) else recipe
        answer = self._program.call("sweep", str(path), *(["--wait"] if wait else []), follow=wait)
        if answer["exit_code"] not in (0, 1):  # 1: a run ended without success
            raise DtctlError("not all runs were submitted: " + _refusals(answer), "scheduler", answer["exit_code"])
        return self.study(answer["study"])


@dataclass(frozen=True)
class Study:
    """All runs that one recipe asks for. Each call asks dtctl, so the answers are those of this moment."""

    _program: Program = field(repr=False, compare=False)
    id: str
    name: str

    def states(self) -> Dict[str, int]:
        """The number of runs in each state: {"succeeded": 4, "running": 2}."""
        return dict(self._program.call("status", self.id)["states"])

    def runs(self, where: Optional[str] = None) -> pandas.DataFrame:
        """One row a run: its parameters, its state and what it measured; the columns of the view runs_flat.

        `where`: only runs that meet this condition, such as "strategy=sync-sgd ranks>=2". Units are in attrs["units"].
        """
        rows = self._program.call("export", self.id, *([] if where is None else ["--where", where]))["runs"]
        columns = [column["column"] for column in self._program.columns() if column["table"] == "runs_flat"]
        return self._marked(frame(self._program, rows, columns, ["runs_flat"]))

    def points(self) -> pandas.DataFrame:
        """One row a point, the runs that differ only in their repeat: throughput (samples/s), speed-up, efficiency with its 95 %
        interval (0..1), communication share (0..1), accuracy (0..1), time to target (s); the columns of the view scaling."""
        answer = self._point_rows()
        return self._marked(frame(self._program, answer["rows"], answer["columns"], ["scaling"]))

    def steps(self) -> pandas.DataFrame:
        """One row a step of every run's training: loss, learning rate, and the times of its phases on rank 0 (s). `attempt`: which
        attempt made the step; a run that went on from a checkpoint has steps of several."""
        return self._course("steps")

    def evals(self) -> pandas.DataFrame:
        """One row an evaluation in every run's training: loss and accuracy (0..1) on the held-out set."""
        return self._course("evals")

    def verdict(self) -> Verdict:
        """What the study says, in sentences."""
        answer = self._program.call("results", self.id).get("verdict") or {"kind": "none", "sentences": []}
        return Verdict(answer["kind"], tuple(answer["sentences"]))

    def plot(self, kind: str = "efficiency", *, label: Optional[str] = None, x: Optional[str] = None) -> Figure:
        """Draws a figure of the report, as dtctl plot does: efficiency, speedup, waterfall, loss, accuracy, target, pareto,
        energy, phases, prediction, timeline or drift.

        `label`: only this label of the study. `x`: of loss and accuracy, "time" (s) or "samples".
        """
        options = [] if label is None else ["--label", label]
        options += [] if x is None else ["--x", x]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "figure.png"
            answer = self._program.call("plot", self.id, "--kind", kind, "-o", str(file), *options)
            return Figure(kind, answer["caption"], file.read_bytes())

    def to_tensorboard(self, folder: Union[str, Path]) -> List[Path]:
        """Writes the curves of each run (losses, accuracy, learning rate, samples/s, the phases of a step in s) as TensorBoard's event
        files, by the package tensorboard or tensorboardX. Returns a folder for each run that has steps; those of an earlier call
        are replaced."""
        return write_tensorboard(self, folder)

    def to_mlflow(self, tracking_uri: Optional[str] = None) -> List[str]:
        """Sends parameters, curves and results of each run to an MLflow tracking server by MLflow's own client, which also knows its
        credentials. The study is the experiment. Of a run that the server has already, only what is new is sent; one that has begun
        its training anew (--force) is another run there. Returns MLflow's ids of the runs. `tracking_uri`: default, MLflow's own setting."""
        return send_to_mlflow(self, tracking_uri)

    def compare(self, other: Union[str, Study, None] = None, *, by: Optional[str] = None, metric: str = "throughput",
                margin: Optional[str] = None) -> Comparison:
        """Compares this study with another one, or without it the candidates within this study (Home.compare)."""
        return Home(self._program).compare(self, other, by=by, metric=metric, margin=margin)

    def _point_rows(self) -> Dict[str, Any]:
        self.states()  # takes in what runs have left since
        return self._program.query(f"SELECT * FROM scaling WHERE study_key = {_quoted(self.id)}")

    def _course(self, table: str) -> pandas.DataFrame:
        self.states()
        own = ["name", "key", "label", "ranks", "repeat"]
        columns = [column["column"] for column in self._program.columns() if column["table"] == table]
        columns = [column for column in columns if column != "run_id"]
        named = [f"runs_flat.{column} AS {column}" for column in own] + [f"{table}.{column} AS {column}" for column in columns]
        answer = self._program.query(
            f"SELECT {', '.join(named)} FROM runs_flat JOIN {table} ON {table}.run_id = runs_flat.run_id "
            f"AND {table}.attempt <= runs_flat.attempt WHERE runs_flat.study_key = {_quoted(self.id)} "
            # A step that a later attempt has made again, because it went on from an earlier checkpoint, counts once.
            f"AND NOT EXISTS (SELECT 1 FROM steps AS again WHERE again.run_id = {table}.run_id AND again.attempt > {table}.attempt "
            f"AND again.step <= {table}.step) "
            f"ORDER BY runs_flat.position, {table}.step")
        return self._marked(frame(self._program, answer["rows"], answer["columns"], [table, "runs_flat"]))

    def _marked(self, data: pandas.DataFrame) -> pandas.DataFrame:
        data.attrs["study"] = self.id
        return data

    def _repr_html_(self) -> str:
        rows: List[Dict[str, Any]] = self._point_rows()["rows"]
        return self.verdict()._repr_html_() + points_html(rows)


def _refusals(answer: Dict[str, Any]) -> str:
    reasons = [f"{refusal['runs']} {'run' if refusal['runs'] == 1 else 'runs'}: {refusal['reason']}" for refusal in answer["refusals"]]
    return "; ".join(reasons) or f"dtctl sweep ended with exit code {answer['exit_code']}"


def _selector(study: Union[str, Study]) -> str:
    return study.id if isinstance(study, Study) else study


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _write(recipe: Mapping[str, Any], file: Union[str, Path, None]) -> Path:
    if file is None and (not recipe.get("name") or "/" in str(recipe["name"])):
        raise DtctlError("the recipe has no `name`, or one that cannot be a file's; change it, or name the file to which the recipe "
                         "is written: file=\"study.yaml\"", "recipe")
    path = Path(file) if file is not None else Path(f"{recipe['name']}.yaml")
    if path.exists() and not path.read_text(encoding="utf-8", errors="replace").startswith(_MARK):
        raise DtctlError(f"{path} exists, and was not written by submit, so it stays as it is; name another file with file=…",
                         "usage")
    # JSON is YAML. A key of its own in each line, so that dtctl's messages name lines of a text that people can read.
    text = json.dumps(_plain(recipe, ""), indent=2, ensure_ascii=False)
    path.write_text(_MARK + "\n" + text + "\n", encoding="utf-8")
    return path


def _plain(value: Any, key: str) -> Any:
    """The value as JSON has it. `key`: its path in the recipe, for the message about what no recipe can hold."""
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise DtctlError(f"the recipe's key {name!r}{' in ' + key if key else ''} is of type {type(name).__name__}, not a text",
                                 "recipe")
        return {name: _plain(member, f"{key}.{name}" if key else name) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(member, f"{key}[{place}]") for place, member in enumerate(value)]
    if hasattr(value, "tolist") and not isinstance(value, type):  # a number or an array of NumPy, PyTorch, pandas
        return _plain(value.tolist(), key)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise DtctlError(f"{key} is {value}, and no key of a recipe takes that", "recipe")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise DtctlError(f"{key} is of type {type(value).__name__} ({value!r}); a recipe holds texts, numbers, true and false, lists and "
                     "dicts", "recipe")
