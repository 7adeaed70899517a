"""Study.to_tensorboard and Study.to_mlflow on a real study. The trackers' packages are not in Debian: where they are not installed,
stand-ins with the same calls keep what they get; a test runs with the real one where it is."""

import importlib.util
import math
import re
import subprocess
import sys
import types
import unittest
from pathlib import Path

import site_of_a_test as site

site.use_sources()

import dtctl  # noqa: E402


class Writer:
    """tensorboardX.SummaryWriter: a file for each object, into which the calls are written."""

    def __init__(self, folder, filename_suffix=""):
        self.scalars = []
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.file = Path(folder) / f"events.out.tfevents.1.host{filename_suffix}"

    def add_scalar(self, tag, value, global_step=None, walltime=None):
        self.scalars.append((tag, global_step, value, walltime))

    def close(self):
        self.file.write_text("\n".join(repr(scalar) for scalar in self.scalars))


class Client:
    """mlflow.tracking.MlflowClient, with one server for all of its objects."""

    runs, experiments, calls = {}, {}, []

    def __init__(self, tracking_uri=None):
        self.tracking_uri = tracking_uri

    def get_experiment_by_name(self, name):
        known = Client.experiments.get(name)
        return None if known is None else types.SimpleNamespace(experiment_id=known)

    def create_experiment(self, name):
        return Client.experiments.setdefault(name, str(len(Client.experiments)))

    def search_runs(self, experiment_ids, filter_string=""):
        wanted = dict(re.findall(r"tags\.`(.+?)` = '(.*?)'", filter_string))
        return [run for run in Client.runs.values() if wanted.items() <= run.data.tags.items()]

    def create_run(self, experiment_id, start_time=None, tags=None, run_name=None):
        run = types.SimpleNamespace(info=types.SimpleNamespace(run_id=f"run{len(Client.runs)}", run_name=run_name, status="RUNNING"),
                                    data=types.SimpleNamespace(params={}, tags=dict(tags), metrics=[]))
        return Client.runs.setdefault(run.info.run_id, run)

    def log_batch(self, run_id, metrics=(), params=(), tags=()):
        assert len(metrics) + len(params) + len(tags) <= 1000 and len(params) <= 100
        data = Client.runs[run_id].data
        for param in params:
            assert param.key not in data.params, "MLflow refuses another value of a parameter"
            data.params[param.key] = param.value
        data.metrics += metrics
        data.tags.update((tag.key, tag.value) for tag in tags)
        Client.calls.append(len(metrics))

    def set_tag(self, run_id, key, value):
        Client.runs[run_id].data.tags[key] = value

    def set_terminated(self, run_id, status=None, end_time=None):
        Client.runs[run_id].info.status = status


def record(*names):
    return lambda *values: types.SimpleNamespace(**dict(zip(names, values)))


class OnAStudy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = site.enter()
        cls.addClassCleanup(site.leave, cls.folder)
        cls.recipe = {**site.TINY, "study": {"mode": "strong", "ranks": [1, 2]}, "train": {**site.TINY["train"], "eval_every_epochs": 1}}
        cls.study = dtctl.home().submit(cls.recipe, wait=True)

    def stand_in(self, name, **members):
        module = types.ModuleType(name)
        module.__dict__.update(members)
        self.addCleanup(sys.modules.pop, name, None)
        sys.modules[name] = module

    def hide(self, name):
        before = sys.modules.get(name)
        self.addCleanup(lambda: sys.modules.pop(name) if before is None else sys.modules.__setitem__(name, before))
        sys.modules[name] = None  # import raises ImportError

    def test_each_run_has_its_curves_in_a_folder_of_its_own_and_a_second_call_replaces_them(self):
        self.hide("torch.utils.tensorboard")
        self.stand_in("tensorboardX", SummaryWriter=Writer)
        for _ in range(2):
            folders = self.study.to_tensorboard("boards")
            self.assertEqual(len(folders), 2)
        files = sorted(Path("boards").rglob("events*"))
        self.assertEqual(len(files), 2)
        scalars = [eval(line) for line in files[0].read_text().split("\n")]  # pylint: disable=eval-used
        tags = {tag for tag, _, _, _ in scalars}
        self.assertLessEqual({"train/loss", "train/learning_rate", "eval/loss", "eval/accuracy", "phase/forward_s",
                              "throughput/samples_per_s"}, tags)
        key = self.study.runs().key[0]
        steps = self.study.steps()
        told = {int(row.step): row.loss for row in steps[steps.key == key].itertuples()}
        for folder in folders:
            if folder.name.endswith(key[:10]):
                scalars = [eval(line) for line in next(folder.glob("events*")).read_text().split("\n")]
        self.assertEqual({step: value for tag, step, value, _ in scalars if tag == "train/loss"}, told)
        begin = self.study.runs().begin_unix_s[0]
        self.assertTrue(all(begin <= time < begin + 3600 for _, _, _, time in scalars))

    def test_mlflow_gets_parameters_curves_and_results_once(self):
        entities = types.SimpleNamespace(Metric=record("key", "value", "timestamp", "step"), Param=record("key", "value"),
                                         RunTag=record("key", "value"))
        self.stand_in("mlflow", tracking=types.SimpleNamespace(MlflowClient=Client), entities=entities)
        ids = self.study.to_mlflow("http://127.0.0.1:5000")
        self.assertEqual(list(Client.experiments), ["tiny"])
        self.assertEqual(len(ids), 2)
        run = Client.runs[ids[0]]
        self.assertEqual(run.info.status, "FINISHED")
        self.assertEqual(run.data.params["train_global_batch"], "32")
        self.assertNotIn("resources_env", run.data.params)
        losses = [metric for metric in run.data.metrics if metric.key == "train/loss"]
        self.assertEqual([metric.step for metric in losses], list(range(1, 11)))
        result = {metric.key: metric.value for metric in run.data.metrics if metric.key.startswith("result/")}
        self.assertEqual(result["result/throughput"], self.study.runs().throughput[0])
        self.assertTrue(all(math.isfinite(metric.value) for metric in run.data.metrics))
        before = len(run.data.metrics)
        self.assertEqual(self.study.to_mlflow(), ids)
        self.assertEqual(len(run.data.metrics), before)

        subprocess.run([site.DTCTL, "sweep", "tiny.yaml", "--force", "--wait"], check=True)
        anew = self.study.to_mlflow()
        self.assertFalse(set(anew) & set(ids), "a training that began anew has curves of its own")
        self.assertEqual(len(run.data.metrics), before)
        losses = [metric for metric in Client.runs[anew[0]].data.metrics if metric.key == "train/loss"]
        self.assertEqual([metric.step for metric in losses], list(range(1, 11)))

    def test_without_the_packages_the_error_says_what_to_install(self):
        for name in ("torch.utils.tensorboard", "tensorboardX", "mlflow"):
            self.hide(name)
        with self.assertRaisesRegex(ImportError, "pip install tensorboard"):
            self.study.to_tensorboard("boards")
        with self.assertRaisesRegex(ImportError, "pip install mlflow"):
            self.study.to_mlflow()

    @unittest.skipUnless(importlib.util.find_spec("tensorboard"), "the package tensorboard is not in Debian")
    def test_tensorboard_reads_what_its_own_package_wrote(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        folder = self.study.to_tensorboard("real")[0]
        self.assertEqual(len(EventAccumulator(str(folder)).Reload().Scalars("train/loss")), 10)


if __name__ == "__main__":
    unittest.main()
