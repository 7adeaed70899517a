"""The JSON Schema of recipes, checked by python3-jsonschema: it accepts every shipped recipe, and refuses what dtctl refuses, at the
same place."""

import json
import re
import subprocess
import unittest
from pathlib import Path

import jsonschema
import yaml

import site_of_a_test as site

# Each block takes the place of the block of BASE; the place of the mistake stands before it.
BASE = """
version: 1
model: {name: lenet}
data: {name: synthetic}
train: {global_batch: 32, steps: 20}
"""
WRONG = [
    ("version", "version: 2"),
    ("version", "version: one"),
    ("modle", "modle: {name: lenet}"),
    ("model", "model: lenet"),
    ("model/name", "model: {name: lennet}"),
    ("model/nam", "model: {nam: lenet}"),
    ("model/dropout", "model: {name: lenet, dropout: maybe}"),
    ("model/batch_norm", "model: {name: resnet20, batch_norm: 3}"),
    ("model/layers", "model: {layers: []}"),
    ("model/layers", "model: {layers: relu}"),
    ("model/layers/0", "model: {layers: [conv, {inner_product: {outputs: classes}}]}"),
    ("model/layers/0", "model: {layers: [{convolution: {channels: 0, kernel: 3}}, {inner_product: {outputs: classes}}]}"),
    ("model/layers/0", "model: {layers: [{convolution: {kernel: 3}}, {inner_product: {outputs: classes}}]}"),
    ("data", "data: synthetic"),
    ("data/name", "data: {name: mnits}"),
    ("data/train_samples", "data: {name: synthetic, train_samples: -1}"),
    ("data/train_samples", "data: {name: synthetic, train_samples: 100.5}"),
    ("data/classes", "data: {name: synthetic, classes: 1}"),
    ("data/shuffle", "data: {name: synthetic, shuffle: 1}"),
    ("data/prefetch_batches", "data: {name: synthetic, prefetch_batches: many}"),
    ("data/order", "data: {name: synthetic, order: sorted}"),
    ("data/crop", "data: {name: synthetic, crop: middle}"),
    ("data/sufle", "data: {name: synthetic, sufle: true}"),
    ("program/command", "program: {command: python3 train.py}"),
    ("program/metrics", "program: {command: [./train], metrics: [loss]}"),
    ("program/metrics/los", "program: {command: [./train], metrics: {los: 'loss=([0-9.]+)'}}"),
    ("program/parameters/a-b", "program: {command: [./train], parameters: {a-b: 1}}"),
    ("program/identity", "program: {command: [./train], identity: name}"),
    ("train/sede", "train: {global_batch: 32, steps: 20, sede: 1}"),
    ("train", "train: {global_batch: 32, batch_per_rank: 8, steps: 20}"),
    ("train", "train: {global_batch: 32, steps: 20, epochs: 2}"),
    ("train/steps", "train: {global_batch: 32, steps: 0}"),
    ("train/steps", "train: {global_batch: 32, steps: 1.5}"),
    ("train/epochs", 'train: {global_batch: 32, epochs: "3"}'),
    ("train/seed", "train: {global_batch: 32, steps: 20, seed: x}"),
    ("train/target_accuracy", "train: {global_batch: 32, steps: 20, target_accuracy: 98}"),
    ("train/warmup_steps", "train: {global_batch: 32, steps: 20, warmup_steps: -1}"),
    ("train/checkpoint_every", "train: {global_batch: 32, steps: 20, checkpoint_every: 600}"),
    ("train/checkpoint_every", "train: {global_batch: 32, steps: 20, checkpoint_every: soon}"),
    ("train/precision", "train: {global_batch: 32, steps: 20, precision: fp8}"),
    ("train/label_smoothing", "train: {global_batch: 32, steps: 20, label_smoothing: 1.5}"),
    ("train/trace", "train: {global_batch: 32, steps: 20, trace: on}"),
    ("optimizer/name", "optimizer: {name: adamx}"),
    ("optimizer/momentum", "optimizer: {momentum: 1}"),
    ("optimizer/learning_rate", "optimizer: {learning_rate: fast}"),
    ("optimizer/schedule", "optimizer: {schedule: linear}"),
    ("optimizer/beta1", "optimizer: {name: adam, beta1: -0.1}"),
    ("sync/strategy", "sync: {strategy: sync_sgd}"),
    ("sync/allreduce", "sync: {allreduce: rng}"),
    ("sync/period", "sync: {strategy: local-sgd, period: 0}"),
    ("sync/overlap", "sync: {strategy: sync-easgd, overlap: 4}"),
    ("sync/wire", "sync: {wire: fp16}"),
    ("sync/outer/rule", "sync: {strategy: diloco, outer: {rule: rmsprop}}"),
    ("sync/outer/fragment", "sync: {strategy: diloco, outer: {fragment: 2}}"),
    ("resources/time_limit", "resources: {time_limit: 90}"),
    ("resources/ranks_per_node", "resources: {ranks_per_node: 0}"),
    ("resources/scheduler", "resources: {scheduler: lsf}"),
    ("resources/launcher", "resources: {launcher: aprun}"),
    ("resources/env", "resources: {env: [A=1]}"),
    ("resources/modules", "resources: {modules: openmpi}"),
    ("resources/container/runtime", "resources: {container: {image: a.sif, runtime: lxc}}"),
    ("platform/bandwidth", "platform: {bandwidth: 10}"),
    ("platform/bandwidth", "platform: {bandwidth: 10 Gbit}"),
    ("platform/latency", "platform: {latency: 50}"),
    ("platform/trunk_share", "platform: {trunk_share: 25 percent}"),
    ("study/mode", "study: {mode: strung, ranks: [1]}"),
    ("study/ranks", "study: {mode: strong, ranks: 2}"),
    ("study/ranks", "study: {mode: strong, ranks: [1, 1]}"),
    ("study", "study: {mode: strong, ranks: [1], nodes: [1]}"),
    ("study/repeats", "study: {repeats: 0}"),
    ("study/until/interval", "study: {repeats: 3, until: {interval: 3 percents}}"),
    ("sweep/matrx", "sweep: {matrx: {train.seed: [1]}}"),
    ("sweep/matrix/train.sede", "sweep: {matrix: {train.sede: [1]}}"),
    ("sweep/matrix/train.seed", "sweep: {matrix: {train.seed: []}}"),
    ("sweep/matrix/train.seed", "sweep: {matrix: {train.seed: 1}}"),
    ("sweep/matrix/train.seed/0", "sweep: {matrix: {train.seed: [x]}}"),
    ("sweep/include", "sweep: {include: {train.seed: 3}}"),
    ("sweep/exclude/0", "sweep: {matrix: {train.seed: [1, 2]}, exclude: [foo]}"),
]


# Accepted by both. Only these blocks and `version`, where they have a program; else with the other blocks of BASE.
PROGRAM = "program: {command: ['true', '{program.parameters.width}'], parameters: {width: 1}}\ntrain: {global_batch: 4, steps: 20}\n"
RIGHT = [
    "",
    "study:",
    "sync:\noptimizer: {}\nresources: {env: {A: 1, B: yes, C: 1.5}}",
    "resources: {time_limit: 1-00:00:00}",
    "resources: {time_limit: 01:30:00}",
    "resources: {signal_ahead: 0, hosts: [a, b]}",
    "train: {global_batch: 32, steps: 20.0, stall_after: 0, checkpoint_every: 1h30m}",
    "optimizer: {learning_rate: .5}",
    "description: 12\nname: 3\nx-mine: {a: [1]}",
    "study: {repeats: 3, until: {interval: 3%, budget: 2 node-hours, metric: throughput}}",
    "study: {mode: strong, ranks: [2, 1]}\nsweep: {matrix: {train.seed: [1, 2]}, exclude: [train.seed>=2 ranks<2]}",
    "sweep: {matrix: {train.seed: [1..3, 7], resources.env.A: [1, 2]}, include: [{train.seed: 9, resources.env.B: x}]}",
    "sweep: {matrix: {optimizer.learning_rate: [0.1..1 log 3], resources.modules: [[a], [b]]}}",
    "model: {layers: [{lrn: {}}, relu, {relu: }, {relu: {name: last}}, {inner_product: {outputs: classes}}]}",
    PROGRAM + "sweep: {matrix: {program.parameters.width: [1, 2]}, include: [{program.parameters.width: 3}]}",
    PROGRAM.replace("parameters: {", "metrics: {loss: 'l=(.+)'}, parameters: {"),
]


class Loader(yaml.SafeLoader):
    """YAML 1.2, as dtctl and editors read it: `on` and 01:30:00 are texts."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
        ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
        ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
        ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
        ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
        ("merge", r"^<<$", "<")]:
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(pattern), list(first))


def read(text):
    return yaml.load(text, Loader)


def places(validator, recipe):
    """Where the schema finds mistakes: "train/sede" for a key that does not exist, too."""
    found = set()
    for error in validator.iter_errors(recipe):
        at = [str(step) for step in error.absolute_path]
        unknown = []
        if error.validator == "additionalProperties" and isinstance(error.instance, dict):
            patterns = error.schema.get("patternProperties", {})
            unknown = [key for key in error.instance if key not in error.schema["properties"]
                       and not any(re.search(pattern, key) for pattern in patterns)]
        found |= {"/".join(at + [key]) for key in unknown} or {"/".join(at)}
    return found


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = site.enter()
        cls.addClassCleanup(site.leave, cls.folder)
        subprocess.run([site.DTCTL, "recipe", "schema", "-o", "schema.json", "--quiet"], check=True)
        cls.schema = json.loads(Path("schema.json").read_text())
        cls.validator = jsonschema.Draft7Validator(cls.schema)

    def test_the_schema_is_a_schema_of_draft_7_with_an_id(self):
        jsonschema.Draft7Validator.check_schema(self.schema)
        self.assertEqual(self.schema["$schema"], "http://json-schema.org/draft-07/schema#")
        self.assertEqual(self.schema["$id"], "urn:dtctl:recipe:1")

    def test_every_key_and_block_has_a_description_and_every_default_and_example_is_valid(self):
        seen = 0
        blocks = [("", self.schema)]
        for path, block in blocks:
            for name, entry in block["properties"].items():
                where = f"{path}{name}"
                self.assertTrue(entry.get("description") or "properties" in entry, where)
                blocks += [(where + ".", entry)] if "properties" in entry and not where.startswith("sweep.") else []
                checker = jsonschema.Draft7Validator(entry)
                for value in entry.get("examples", []) + ([entry["default"]] if "default" in entry else []):
                    self.assertEqual([error.message for error in checker.iter_errors(value)], [], where)
                    seen += 1
        self.assertGreater(seen, 150)

    def test_models_strategies_and_allreduces_are_listed(self):
        properties = self.schema["properties"]
        told = json.loads(subprocess.run([site.DTCTL, "recipe", "strategies", "--json"], stdout=subprocess.PIPE, check=True).stdout)
        names = {row["name"] for row in told["strategies"]}
        self.assertEqual(set(properties["sync"]["properties"]["strategy"]["enum"]), names)
        self.assertIn("halving-doubling", properties["sync"]["properties"]["allreduce"]["enum"])
        self.assertIn("resnet50", properties["model"]["properties"]["name"]["enum"])

    def test_every_shipped_recipe_is_accepted(self):
        library = site.SOURCE / "recipes" / "library"
        recipes = [file for file in library.rglob("*.yaml") if "platforms" not in file.parts]
        self.assertGreater(len(recipes), 25)
        for file in recipes:
            with self.subTest(recipe=file.name):
                self.assertEqual(places(self.validator, read(file.read_text())), set())

    def test_right_recipes_are_accepted_by_both(self):
        for blocks in RIGHT:
            with self.subTest(recipe=blocks):
                own = {line.split(":")[0] for line in blocks.splitlines()} | ({"model", "data"} if "program: " in blocks else set())
                text = "\n".join([line for line in BASE.splitlines() if line.split(":")[0] not in own] + [blocks]) + "\n"
                Path("right.yaml").write_text(text)
                told = json.loads(subprocess.run([site.DTCTL, "validate", "right.yaml", "--json"], stdout=subprocess.PIPE,
                                                 stderr=subprocess.DEVNULL, check=False).stdout)
                self.assertEqual(told.get("error"), None)
                self.assertEqual(places(self.validator, read(text)), set())

    def test_recipes_of_the_guide_are_accepted(self):
        wrong_on_purpose = "model: { name: lenett }"
        blocks = [block for page in (site.SOURCE / "docs" / "guide").glob("*.md")
                  for block in re.findall(r"```yaml\n(version: 1\n.*?)```", page.read_text(), re.S) if wrong_on_purpose not in block]
        self.assertGreater(len(blocks), 10)
        for block in blocks:
            with self.subTest(recipe=block):
                self.assertEqual(places(self.validator, read(block)), set())

    def test_wrong_recipes_are_refused_by_the_schema_and_by_dtctl_at_the_same_place(self):
        self.assertGreaterEqual(len(WRONG), 45)
        for number, (at, block) in enumerate(WRONG):
            with self.subTest(recipe=block):
                recipe = {**read(BASE), **read(block)}
                self.assertEqual(places(self.validator, recipe), {at})
                lines = [line for line in BASE.splitlines() if line.split(":")[0] != block.split(":")[0]]
                file = Path(f"wrong-{number}.yaml")
                file.write_text("\n".join(lines + [block]) + "\n")
                told = json.loads(subprocess.run([site.DTCTL, "validate", str(file), "--json"], stdout=subprocess.PIPE,
                                                 check=False).stdout)
                self.assertEqual((told["exit_code"], told["error"]["kind"]), (2, "recipe"))
                word = "" if at[-1].isdigit() else at.split("/")[-1]  # of an item of a list dtctl names what is wrong in it
                self.assertTrue([found for found in told["error"]["diagnostics"]
                                 if word in found["message"] and found["line"] == len(lines) + 1], told["error"]["message"])

    def test_a_new_recipe_names_the_schema_of_this_dtctl(self):
        subprocess.run([site.DTCTL, "new", "new.yaml", "--defaults", "--quiet"], check=True, stderr=subprocess.DEVNULL)
        first = Path("new.yaml").read_text().splitlines()[0]
        mark = "# yaml-language-server: $schema="
        self.assertTrue(first.startswith(mark), first)
        named = Path(first[len(mark):])
        self.assertEqual(json.loads(named.read_text()), self.schema)
        self.assertEqual(places(self.validator, read(Path("new.yaml").read_text())), set())


if __name__ == "__main__":
    unittest.main()
