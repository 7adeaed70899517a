"""The runs of a study for experiment trackers, written by the trackers' own packages."""

from __future__ import annotations

import importlib
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple, Union

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
_MOST_PARAMS, _MOST_METRICS = 100, 900  # of one call
_SENT_TAG = "dtctl.exported_step"

Point = Tuple[int, float, Dict[str, float]]  # step, seconds since 1970, values by tag


def write_tensorboard(study: Study, folder: Union[str, Path]) -> List[Path]:
    """Study.to_tensorboard."""
    writer_of = _summary_writer()
    written = []
    for run in _rows(study.runs()):
        points = list(_curve(study, run))
        if not points:
            continue
        own = Path(folder) / re.sub(r"[^\w=,+.-]", "_", f"{run['name']}-{run['key'][:10]}")
        for earlier in own.glob("events.out.tfevents.*.dtctl"):  # TensorBoard would draw both
            earlier.unlink()
        writer = writer_of(str(own), filename_suffix=".dtctl")
        for step, unix_s, values in points:
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
    return [_send_run(mlflow.entities, client, experiment_id, study, run) for run in _rows(study.runs())]


def _send_run(entities: Any, client: Any, experiment_id: str, study: Study, run: Dict[str, Any]) -> str:
    found = client.search_runs([experiment_id], filter_string=f"tags.`dtctl.key` = '{run['key']}'")
    begin_ms = _milliseconds(run["begin_unix_s"])
    there = found[0] if found else client.create_run(experiment_id, start_time=begin_ms, tags={"dtctl.key": run["key"]},
                                                     run_name=run["name"])
    run_id: str = there.info.run_id
    params = [entities.Param(name, value) for name, value in _params(run).items() if name not in there.data.params]
    for begin in range(0, len(params), _MOST_PARAMS):
        client.log_batch(run_id, params=params[begin:begin + _MOST_PARAMS])
    sent = int(there.data.tags.get(_SENT_TAG, -1))
    metrics: List[Any] = []
    for step, unix_s, values in _curve(study, run):
        if step <= sent:
            continue
        metrics += [entities.Metric(tag, value, _milliseconds(unix_s), step) for tag, value in values.items()]
        if len(metrics) >= _MOST_METRICS:  # whole steps, with how far they get, in one call
            client.log_batch(run_id, metrics=metrics, tags=[entities.RunTag(_SENT_TAG, str(step))])
            metrics = []
        last = step
    if metrics:
        client.log_batch(run_id, metrics=metrics, tags=[entities.RunTag(_SENT_TAG, str(last))])
    end_ms = _milliseconds(run["end_unix_s"])
    results = [entities.Metric(f"result/{name}", value, end_ms, 0) for name, value in _results(run).items()]
    if results and there.data.tags.get("dtctl.attempt") != str(run["attempt"]):
        client.log_batch(run_id, metrics=results, tags=[entities.RunTag("dtctl.attempt", str(run["attempt"]))])
    for name in ("state", "cause", "job_id", "host"):
        client.set_tag(run_id, f"dtctl.{name}", str(run[name] or ""))
    status = _STATUS.get(run["state"], "FAILED")
    if status in ("FINISHED", "FAILED", "KILLED"):
        client.set_terminated(run_id, status=status, end_time=end_ms)
    return run_id


def _rows(table: Any) -> List[Dict[str, Any]]:
    rows: List[Dict[str, Any]] = table.to_dict("records")
    return rows


def _curve(study: Study, run: Dict[str, Any]) -> Iterator[Point]:
    """The run's points in the order of their steps; an evaluation follows its step."""
    points = []
    samples = run["step_samples"] if _is_known(run["step_samples"]) else run["global_batch"]
    for place, (table, tags) in enumerate(((study.steps(), _STEP_TAGS), (study.evals(), _EVAL_TAGS))):
        for row in _rows(table[table.key == run["key"]]):
            values = {tag: float(row[name]) for name, tag in tags.items() if _is_known(row[name])}
            if place == 0 and _is_known(samples) and _is_known(row["step_s"]) and row["step_s"] > 0:
                values["throughput/samples_per_s"] = samples / row["step_s"]
            points.append(((int(row["step"]), place), run["begin_unix_s"] + row["elapsed_s"], values))
    for (step, _), unix_s, values in sorted(points, key=lambda point: point[0]):
        yield step, unix_s, values


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
