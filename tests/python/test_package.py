"""The Python package against the real dtctl, on a home with a study that it submits itself."""

import contextlib
import datetime
import io
import json
import math
import os
import re
import stat
import struct
import subprocess
import unittest
import warnings
from pathlib import Path

import site_of_a_test as site

site.use_sources()

import dtctl  # noqa: E402
from dtctl import _frames, _program, answers  # noqa: E402


def said_by_dtctl(*words):
    """The JSON value of a command, without the package."""
    done = subprocess.run([site.DTCTL, *words, "--json"], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)


class OnAStudy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = site.enter()
        cls.addClassCleanup(site.leave, cls.folder)
        warnings.simplefilter("ignore", dtctl.DtctlWarning)
        cls.progress = io.StringIO()
        with contextlib.redirect_stderr(cls.progress):
            cls.study = dtctl.home().submit(site.TINY, wait=True)

    def test_submit_writes_the_recipe_and_waits_for_its_runs(self):
        self.assertEqual(self.study.name, "tiny")
        self.assertEqual(self.study.states(), {"succeeded": 6})
        self.assertTrue(Path("tiny.yaml").read_text().startswith("# Written by Home.submit"))
        self.assertIn("succeeded", self.progress.getvalue())

    def test_the_newest_study_is_last_and_has_a_name_and_an_id(self):
        for selector in ("tiny", self.study.id[:8], self.study.id):
            self.assertEqual(dtctl.home().study(selector), self.study)
        studies = dtctl.home().studies()
        self.assertEqual(list(studies[studies.id == self.study.id].name), ["tiny"])

    def test_runs_are_those_of_dtctl_export_with_numbers_as_numbers(self):
        runs = self.study.runs()
        told = said_by_dtctl("export", self.study.id)["runs"]
        self.assertEqual(list(runs.columns), list(told[0]))
        self.assertEqual(list(runs.key), [run["key"] for run in told])
        self.assertEqual(list(runs.throughput), [run["throughput"] for run in told])
        self.assertEqual(str(runs.throughput.dtype), "float64")
        self.assertEqual(str(runs.ranks.dtype), "int64")
        self.assertTrue(runs.energy_gpu_joules.isna().all())
        self.assertEqual(str(runs.energy_gpu_joules.dtype), "float64")
        self.assertEqual(set(self.study.runs(where="ranks=2").ranks), {2})

    def test_units_and_definitions_are_attributes_of_the_tables(self):
        runs = self.study.runs()
        self.assertEqual(runs.attrs["study"], self.study.id)
        self.assertEqual(runs.attrs["units"]["throughput"], "samples/s")
        self.assertEqual(runs.attrs["units"]["time_to_accuracy_s"], "s")
        self.assertEqual(runs.attrs["units"]["train_global_batch"], "samples")
        self.assertEqual(runs.attrs["definitions"]["throughput"], "measured_samples divided by measured_s")
        self.assertEqual(set(runs.attrs["definitions"]), set(runs.columns))
        self.assertEqual(self.study.points().attrs["units"]["efficiency_low"], "0..1")
        self.assertEqual(self.study.steps().attrs["units"]["forward_s"], "s")

    def test_every_column_of_seconds_has_the_unit_second(self):
        for table in (self.study.runs(), self.study.points(), self.study.steps(), self.study.evals()):
            for name in table.columns:
                if name.endswith("_s") and "_per_" not in name:
                    self.assertEqual(table.attrs["units"].get(name), "s", name)

    def test_points_are_the_figures_of_dtctl_results(self):
        points = self.study.points()
        told = said_by_dtctl("results", self.study.id)["scaling"]
        self.assertEqual(list(points.ranks), [1, 2])
        for name in ("throughput", "speedup", "efficiency", "communication_share", "accuracy", "mfu"):
            for figure, row in zip(points[name], told):
                self.assertAlmostEqual(figure, row[name], places=9, msg=name)
        self.assertTrue(math.isnan(points.efficiency_low[0]))
        self.assertAlmostEqual(points.efficiency_low[1], told[1]["efficiency_low"], places=9)

    def test_steps_and_evaluations_are_those_of_every_run(self):
        steps, evals = self.study.steps(), self.study.evals()
        self.assertEqual(list(steps.step), 6 * list(range(1, 11)))  # run after run, in the order of runs()
        self.assertEqual(list(steps.key[::10]), list(self.study.runs().key))
        self.assertTrue((steps.loss > 0).all() and (steps.step_s > 0).all())
        self.assertEqual(set(steps.key), set(self.study.runs().key))
        self.assertTrue((evals.samples == 64).all())
        self.assertEqual(set(evals.name), set(steps.name))

    def test_the_verdict_is_that_of_dtctl(self):
        verdict = self.study.verdict()
        told = said_by_dtctl("results", self.study.id)["verdict"]
        self.assertEqual(list(verdict.sentences), told["sentences"])
        self.assertIn("2 ranks: ", str(verdict))
        self.assertTrue(verdict._repr_html_().startswith("<p><b>2 ranks: "))

    def test_a_notebook_gets_verdict_and_table_of_a_study(self):
        html = self.study._repr_html_()
        throughput = self.study.points().throughput[1]
        self.assertIn("<b>2 ranks: ", html)
        self.assertIn(f"<td>{throughput:.0f}</td>", html)
        self.assertEqual(html.count("<tr>"), 3)

    def test_a_plot_is_a_png_with_its_caption(self):
        figure = self.study.plot("speedup")
        self.assertTrue(figure.png.startswith(b"\x89PNG\r\n"))
        png, metadata = figure._repr_png_()
        self.assertEqual(png, figure.png)
        self.assertEqual(metadata["width"], struct.unpack(">I", png[16:20])[0] // 2)
        self.assertIn("smallest size", figure.caption)

    def test_two_studies_are_compared_by_dtctl(self):
        other = dict(site.TINY, name="more-decay", optimizer={"weight_decay": 0.01}, study=dict(site.TINY["study"], repeats=2))
        with contextlib.redirect_stderr(io.StringIO()):
            second = dtctl.home().submit(other, wait=True)
        comparison = dtctl.home().compare(second, self.study)
        table = comparison.table()
        self.assertEqual(list(table.point), ["1 rank", "2 ranks"])
        self.assertEqual(table.attrs["units"]["a"], "samples/s")
        told = said_by_dtctl("compare", second.id, self.study.id)["comparisons"]
        self.assertEqual(list(table.verdict), [row["verdict"] for row in told])
        self.assertEqual(list(table.effect), [row["effect"] for row in told])
        self.assertEqual(second.compare(self.study).sentences, comparison.sentences)
        self.assertIn(told[0]["verdict"], comparison._repr_html_())

    def test_candidates_within_a_study_are_ranked(self):
        rates = dict(site.TINY, name="rates", study={"repeats": 2, "order": "random"},
                     sweep={"matrix": {"optimizer.learning_rate": [0.01, 0.02]}})
        with contextlib.redirect_stderr(io.StringIO()):
            study = dtctl.home().submit(rates, wait=True)
        comparison = study.compare(metric="step-time")
        self.assertEqual(set(comparison.table().name), {"learning_rate=0.01", "learning_rate=0.02"})
        self.assertEqual(comparison.table().attrs["units"]["value"], "s")
        self.assertIn("learning_rate=0.02", comparison._repr_html_())

    def test_an_error_has_the_message_the_kind_and_the_exit_code_of_dtctl(self):
        with self.assertRaisesRegex(dtctl.DtctlError, "there is no study or run `nosuch`") as caught:
            dtctl.home().study("nosuch")
        self.assertEqual((caught.exception.kind, caught.exception.exit_code), ("usage", 2))
        key = self.study.runs().key[0]
        with self.assertRaisesRegex(dtctl.DtctlError, f"`{key}` names no study"):
            dtctl.home().study(key)

    def test_a_query_reads_and_cannot_write(self):
        rows = dtctl.home().query("SELECT ranks, count(*) AS runs FROM runs_flat WHERE study = 'tiny' GROUP BY ranks")
        self.assertEqual(rows.to_dict("records"), [{"ranks": 1, "runs": 3}, {"ranks": 2, "runs": 3}])
        with self.assertRaisesRegex(dtctl.DtctlError, "only reading is allowed"):
            dtctl.home().query("DELETE FROM runs")

    def test_the_csv_of_dtctl_export_is_the_same_table_for_pandas(self):
        import pandas

        subprocess.run([site.DTCTL, "export", self.study.id, "-o", "runs.csv", "--quiet"], check=True)
        read = pandas.read_csv("runs.csv", dtype={"key": str, "study_key": str}, float_precision="round_trip")
        runs = self.study.runs()
        self.assertEqual(list(read.columns), list(runs.columns))
        self.assertEqual(list(read.key), list(runs.key))
        self.assertEqual(list(read.throughput), list(runs.throughput))


class Refused(unittest.TestCase):
    def setUp(self):
        self.folder = site.enter()
        self.addCleanup(site.leave, self.folder)

    def test_an_empty_home_says_how_to_begin(self):
        with self.assertRaisesRegex(dtctl.DtctlError, "nothing has been submitted yet"):
            dtctl.home().study()
        self.assertEqual(len(dtctl.home().studies()), 0)
        self.assertEqual(dtctl.home().path, self.folder / "home")
        self.assertEqual(dtctl.home(self.folder / "other").path, self.folder / "other")

    def test_mistakes_of_a_recipe_come_with_their_places_and_nothing_is_submitted(self):
        wrong = dict(site.TINY, model={"name": "lenett"}, train={"global_batch": 32, "epoch": 1})
        with self.assertRaisesRegex(dtctl.DtctlError, "did you mean `lenet`") as caught:
            dtctl.home().submit(wrong)
        self.assertEqual(caught.exception.kind, "recipe")
        places = [(Path(found["file"]).name, found["line"]) for found in caught.exception.diagnostics]
        self.assertIn(("tiny.yaml", 6), places)
        self.assertEqual(len(dtctl.home().studies()), 0)

    def test_numbers_of_numpy_are_numbers_and_what_no_recipe_holds_is_refused_by_its_key(self):
        import numpy
        train = {"global_batch": numpy.int64(32), "steps": numpy.int32(10), "warmup_steps": 2, "trace": numpy.bool_(False)}
        recipe = dict(site.TINY, train=train, optimizer={"learning_rate": numpy.float32(0.5)}, study={"mode": "strong", "ranks": numpy.array([1])})
        with contextlib.redirect_stderr(io.StringIO()):
            plain = dtctl.home().submit(recipe, wait=True)
        self.assertEqual(plain.states(), {"succeeded": 1})
        for value, message in [(numpy.float64("nan"), "train.epochs is nan"), ({1, 2}, "train.epochs is of type set"),
                               ([1, datetime.date(2026, 1, 1)], r"train.epochs\[1\] is of type date"), ({1: 2}, "key 1 in train.epochs")]:
            with self.assertRaisesRegex(dtctl.DtctlError, message) as caught:
                dtctl.home().submit(dict(site.TINY, train={"epochs": value}))
            self.assertEqual(caught.exception.kind, "recipe")

    def test_submit_replaces_its_own_file_only(self):
        Path("tiny.yaml").write_text("version: 1 # mine\n")
        with self.assertRaisesRegex(dtctl.DtctlError, "tiny.yaml exists, and was not written by submit"):
            dtctl.home().submit(site.TINY)
        self.assertEqual(Path("tiny.yaml").read_text(), "version: 1 # mine\n")
        nameless = {key: value for key, value in site.TINY.items() if key != "name"}
        with self.assertRaisesRegex(dtctl.DtctlError, "file="):
            dtctl.home().submit(nameless)
        with self.assertRaisesRegex(dtctl.DtctlError, "file="):
            dtctl.home().submit(dict(site.TINY, name="a/b"))

    def test_a_study_whose_run_failed_is_returned_and_says_so(self):
        recipe = {"version": 1, "name": "bad", "program": {"command": ["false"]}, "train": {"global_batch": 4, "steps": 20}}
        with contextlib.redirect_stderr(io.StringIO()):
            study = dtctl.home().submit(recipe, wait=True)
        self.assertEqual(study.states(), {"failed": 1})
        self.assertIn("exit code 1", study.runs().cause[0])
        self.assertEqual(len(study.steps()), 0)
        self.assertIn("<table>", study._repr_html_())

    def test_runs_that_the_scheduler_refuses_are_an_error(self):
        program = self.folder / "refuses"
        program.write_text("""#!/bin/sh
echo '{"schema": 1, "exit_code": 4, "study": "ab", "refusals": [{"reason": "the queue is full", "runs": 2}]}'
exit 4
""")
        program.chmod(0o755)
        with self.assertRaisesRegex(dtctl.DtctlError, "not all runs were submitted: 2 runs: the queue is full") as caught:
            dtctl.home(program=program).submit("any.yaml")
        self.assertEqual(caught.exception.exit_code, 4)

    def test_a_missing_program_is_named(self):
        with self.assertRaisesRegex(dtctl.DtctlError, "/nowhere/dtctl cannot be started"):
            dtctl.home(program="/nowhere/dtctl").study()

    def pretended(self, text):
        program = self.folder / "pretended"
        program.write_text(f"#!/bin/sh\necho '{text}'\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return dtctl.home(program=program)

    def test_json_of_another_schema_is_refused(self):
        with self.assertRaisesRegex(dtctl.DtctlError, "prints JSON of schema 2, but this Python package reads schema 1"):
            self.pretended('{"schema": 2, "verb": "status"}').study()

    def test_another_program_is_refused(self):
        with self.assertRaisesRegex(dtctl.DtctlError, "printed no JSON of dtctl"):
            self.pretended("hello").study()

    def test_infinity_and_not_a_number_are_numbers(self):
        rows = [{"loss": "inf", "step": 1}, {"loss": "NaN", "step": 2}, {"loss": None, "step": 3}, {"loss": 0.5, "step": 4}]
        table = _frames.frame(_program.Program(None, site.DTCTL), rows, ["step", "loss"], ["steps"])
        self.assertEqual(table.loss[0], math.inf)
        self.assertEqual(table.loss.isna().sum(), 2)
        self.assertEqual(table.loss[3], 0.5)

    def test_a_warning_of_dtctl_is_a_python_warning(self):
        program = self.folder / "warns"
        program.write_text("#!/bin/sh\necho 'dtctl: warning: the disk is nearly full' >&2\n" f'exec {site.DTCTL} "$@"\n')
        program.chmod(0o755)
        with self.assertWarnsRegex(dtctl.DtctlWarning, "the disk is nearly full"):
            dtctl.home(program=program).studies()

    def test_without_pandas_tables_say_what_to_install_and_the_rest_works(self):
        code = ("import sys; sys.modules['pandas'] = None\nimport dtctl\nprint(dtctl.home().path)\n"
                "try: dtctl.home().studies()\nexcept ImportError as error: print(error)")
        environment = dict(os.environ, PYTHONPATH=str(site.SOURCE / "python"))
        done = subprocess.run(["/usr/bin/python3", "-c", code], env=environment, stdout=subprocess.PIPE, text=True, check=True)
        self.assertIn("python3-pandas", done.stdout)
        self.assertIn(str(self.folder / "home"), done.stdout)


class Sources(unittest.TestCase):
    def setUp(self):
        self.folder = site.enter()
        self.addCleanup(site.leave, self.folder)

    def test_the_version_is_that_of_the_program(self):
        project = (site.SOURCE / "python" / "pyproject.toml").read_text()
        told = subprocess.run([site.DTCTL, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(re.search(r'^version = "([^"]+)"', project, re.M).group(1), re.search(r"\d+\.\d+\.\d+", told).group(0))

    def test_every_metric_of_dtctl_compare_has_a_unit(self):
        told = subprocess.run([site.DTCTL, "compare", "a", "--metric", "none"], stderr=subprocess.PIPE, text=True, check=False).stderr
        self.assertEqual(told.strip().split("allowed: ")[1].split(", "), list(answers.METRIC_UNITS))

    def test_the_types_hold(self):
        done = subprocess.run(["/usr/bin/mypy", "--cache-dir=/dev/null", "-p", "dtctl"], cwd=site.SOURCE / "python",
                              stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
