"""The runs of a study for experiment trackers, written by the trackers' own packages."""

from __future__ import annotations

import importlib
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple, Union

if TYPE_CHECKING:
    from .home import Study

_STEP_TAGS = {"loss": "train/loss", "learning_rate": "train/learning_rate", "step_s": "phase/step_s", "input_s": "phase/input_s",
              "forward_s": "phase/forward_s", "backward_s": "phase/backward_s", "communication_s": "phase/communication_s",
              "optimizer_s": "phase/optimizer_s"}
_EVAL_TAGS = {"loss": "eval/loss", "accuracy": "eval/accuracy"}
_STATUS = {"succeeded": "FINISHED", "cancelled": "KILLED", "preempted": "KILLED", "running": "RUNNING", "suspended": "RUNNING",
           "planned": "SCHEDULED", "submitted": "SCHEDULED", "queued": "SCHEDULED"}
_SECTIONS = ("model_", "data_", "train_", "optimizer_", "sync_", "resources_", "program_")
# Variables and set-up lines of a job may hold more secrets than dtctl can recognise.
_KEPT_HERE = ("resources_env", "resources_setup", "resources_setup_before")
_LONGEST_PARAM = 500  # characters, as MLflow's documentation says
_MOST_PARAMS = 100  # of one call
_MOST_POINTS = 90  # of one call, which may hold 1,000 metrics; a point has nine at most

Point = Tuple[int, float, Dict[str, float]]  # step, seconds since 1970, values by tag


class _Curve(NamedTuple):
    """What an attempt began, and the later ones that went on from its checkpoints."""
    first_attempt: int
    points: List[Point]


def write_tensorboard(study: Study, folder: Union[str, Path]) -> List[Path]:
    """Study.to_tensorboard."""
    writer_of = _summary_writer()
    curves = (_curves(study, "steps"), _curves(study, "evals"))
    written = []
    for run in _rows(study.runs()):
        points = [point for curve in curves if run["key"] in curve for point in curve[run["key"]].points]
        if not points:
            continue
        own = Path(folder) / re.sub(r"[^\w=,+.-]", "_", f"{run['name']}-{run['key'][:10]}")
        for earlier in own.glob("events.out.tfevents.*.dtctl"):  # TensorBoard would draw both
            earlier.unlink()
        writer = writer_of(str(own), filename_suffix=".dtctl")
        for step, unix_s, values in sorted(points, key=lambda point: point[0]):
            for tag, value in values.items():
                writer.add_scalar(tag, value, global_step=step, walltime=unix_s)
        writer.close()
        written.append(own)
    return written


def send_to_mlflow(study: Study, tracking_uri: Optional[str] = None) -> List[str]:
    """Study.to_mlflow."""
    mlflow = _mlflow()
    client = mlflow.tracking.MlflowClient(tracking_uri)
    experiment = client.get_experiment_by_name(study.name)
    experiment_id = client.create_experiment(study.name) if experiment is None else experiment.experiment_id
    curves = {kind: _curves(study, kind) for kind in ("steps", "evals")}
    ids = []
    for run in _rows(study.runs()):
        steps = curves["steps"].get(run["key"])
        there = _find_or_create(client, experiment_id, run, steps.first_attempt if steps else run["attempt"])
        _send_params(mlflow.entities, client, there, run)
        for kind, of_runs in curves.items():
            if run["key"] in of_runs:
                _send_points(mlflow.entities, client, there, kind, of_runs[run["key"]].points)
        _send_end(mlflow.entities, client, there, run)
        ids.append(there.info.run_id)
    return ids


def _find_or_create(client: Any, experiment_id: str, run: Dict[str, Any], first_attempt: int) -> Any:
    """A training that has begun anew has the key of the earlier one, but curves and results of its own."""
    tags = {"dtctl.key": run["key"], "dtctl.first_attempt": str(first_attempt)}
    found = client.search_runs([experiment_id], filter_string=" and ".join(f"tags.`{name}` = '{tags[name]}'" for name in tags))
    return found[0] if found else client.create_run(experiment_id, start_time=_milliseconds(run["begin_unix_s"]), tags=tags,
                                                    run_name=run["name"])


def _send_params(entities: Any, client: Any, there: Any, run: Dict[str, Any]) -> None:
    params = [entities.Param(name, value) for name, value in _params(run).items() if name not in there.data.params]
    for begin in range(0, len(params), _MOST_PARAMS):
        client.log_batch(there.info.run_id, params=params[begin:begin + _MOST_PARAMS])


def _send_points(entities: Any, client: Any, there: Any, kind: str, points: List[Point]) -> None:
    """Sends what is new. Each call holds whole points, and in a tag the step that they reach."""
    tag = f"dtctl.exported_{kind}"
    sent = int(there.data.tags.get(tag, -1))
    new = [point for point in points if point[0] > sent]
    for begin in range(0, len(new), _MOST_POINTS):
        part = new[begin:begin + _MOST_POINTS]
        metrics = [entities.Metric(name, value, _milliseconds(unix_s), step) for step, unix_s, values in part
                   for name, value in values.items()]
        client.log_batch(there.info.run_id, metrics=metrics, tags=[entities.RunTag(tag, str(part[-1][0]))])


def _send_end(entities: Any, client: Any, there: Any, run: Dict[str, Any]) -> None:
    run_id, end_ms, attempt = there.info.run_id, _milliseconds(run["end_unix_s"]), str(run["attempt"])
    results = [entities.Metric(f"result/{name}", value, end_ms, 0) for name, value in _results(run).items()]
    if results and there.data.tags.get("dtctl.attempt") != attempt:
        client.log_batch(run_id, metrics=results, tags=[entities.RunTag("dtctl.attempt", attempt)])
    for name in ("state", "cause", "job_id", "host"):
        client.set_tag(run_id, f"dtctl.{name}", str(run[name] or ""))
    status = _STATUS.get(run["state"], "FAILED")
    if status in ("FINISHED", "FAILED", "KILLED"):
        client.set_terminated(run_id, status=status, end_time=end_ms)


def _rows(table: Any) -> List[Dict[str, Any]]:
    rows: List[Dict[str, Any]] = table.to_dict("records")
    return rows


def _curves(study: Study, kind: str) -> Dict[str, _Curve]:
    """The curves of study.steps() or study.evals(), by the run's key, in the order of their steps."""
    tags = {"steps": _STEP_TAGS, "evals": _EVAL_TAGS}[kind]
    runs = {run["key"]: run for run in _rows(study.runs())}
    curves: Dict[str, _Curve] = {}
    for row in _rows(getattr(study, kind)()):
        run = runs[row["key"]]
        values = {tag: float(row[name]) for name, tag in tags.items() if _is_known(row[name])}
        samples = run["step_samples"] if _is_known(run["step_samples"]) else run["global_batch"]
        if kind == "steps" and _is_known(samples) and _is_known(row["step_s"]) and row["step_s"] > 0:
            values["throughput/samples_per_s"] = samples / row["step_s"]
        curve = curves.setdefault(row["key"], _Curve(int(row["attempt"]), []))
        curve.points.append((int(row["step"]), run["begin_unix_s"] + row["elapsed_s"], values))
    return curves


def _is_known(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _milliseconds(unix_s: float) -> int:
    return int(unix_s * 1000) if _is_known(unix_s) else 0


def _params(run: Dict[str, Any]) -> Dict[str, str]:
    """The keys of the recipe that have a value, and what follows from them."""
    names = [name for name in run if name.startswith(_SECTIONS) and name not in _KEPT_HERE]
    names += ["repeat", "ranks", "workers", "global_batch", "engine_build", "data_id"]
    texts = {name: "" if run[name] is None or run[name] != run[name] else str(run[name]) for name in names}
    return {name: text[:_LONGEST_PARAM] for name, text in texts.items() if text}


def _results(run: Dict[str, Any]) -> Dict[str, float]:
    """The figures of the result, which runs_flat has between the run's own columns and `not_finite`."""
    names = list(run)
    figures = names[names.index("batch_per_rank") + 1:names.index("not_finite")]
    return {name: float(run[name]) for name in figures if _is_known(run[name])}


def _summary_writer() -> Any:
    for name in ("torch.utils.tensorboard", "tensorboardX"):
        try:
            return importlib.import_module(name).SummaryWriter
        except ImportError:
            continue
    raise ImportError("event files are written by a package of TensorBoard, and none is installed here: pip install tensorboard "
                      "(beside PyTorch), or pip install tensorboardX")


def _mlflow() -> Any:
    try:
        return importlib.import_module("mlflow")
    except ImportError as error:
        raise ImportError("runs are sent by MLflow's own client, which is not installed here: pip install mlflow-skinny") from error
