"""How often `dtctl compare` finds a difference between equals on this machine.

Trains the same work under several labels, compares every pair of them, and prints the share of false verdicts. Without --apart the labels are
those of one study, whose runs are shuffled; about 5 % of false verdicts are expected. With --apart each label is a study of its own, and one runs
after the other: first labels that are works of their own to dtctl, of which no other study tells how far they scatter from study to study
(expected: no verdict, but "different in these runs"), then labels that are the same work with other seeds (expected: at most 5 %). About a
second a run. Other programs that come and go meanwhile add false verdicts to the shuffled runs; a slow drift does not.
"""
import itertools
import re
import subprocess

PROGRAMS = ["dtctl", "dtjob", "dtengine"]
RECIPE = """version: 1
name: a-a
model: { name: lenet }
data: { name: synthetic, train_samples: 2048, test_samples: 32 }
train: { global_batch: 64, steps: 300, warmup_steps: 20, eval_every_epochs: 0 }
optimizer: { learning_rate: 0.01 }
study: { repeats: REPEATS }
"""


def options(parser):
    parser.add_argument("--labels", type=int, default=8)
    parser.add_argument("--repeats", default="3", help="runs of each label (%(default)s)")
    parser.add_argument("--apart", action="store_true")


def measure(asked, place):
    place.environment["OMP_WAIT_POLICY"] = "passive"
    labels = range(1, asked.labels + 1)
    sweep = lambda *words: place.sweep(RECIPE.replace("REPEATS", asked.repeats), *words)

    def compare(*words):
        """Its exit code says what the verdict is."""
        return subprocess.run([place.program("dtctl"), "compare", *words], env=place.environment, capture_output=True, text=True).stdout

    def compare_pairs(prefix, words):
        verdicts = [verdict for a, b in itertools.combinations(labels, 2)
                    for verdict in re.findall('"verdict": "(.*)"', compare(f"{prefix}{a}", f"{prefix}{b}", "--margin", "0%", "--json"))[-1:]]
        pairs, false = asked.labels * (asked.labels - 1) // 2, sum(each in ("faster", "slower") for each in verdicts)
        print(f"{words}: {false} of {pairs} comparisons of equals ({asked.repeats} runs each) ended in faster or slower, "
              f"{verdicts.count('different in these runs')} in different in these runs", flush=True)

    if not asked.apart:
        sweep("--over", f"train.seed={','.join(map(str, labels))}")
        compare_pairs("a-a/seed=", "interleaved")
        print(compare("a-a").strip().split("\n")[-1])
        return
    for label in labels:
        sweep("--set", f"name=unknown-{label}", "--set", f"optimizer.learning_rate=0.0100{100 + label}")
    compare_pairs("unknown-", "apart, scatter between studies unknown")
    for label in labels:
        sweep("--set", f"name=known-{label}", "--set", f"train.seed={label}")
    compare_pairs("known-", f"apart, scatter between studies known from {asked.labels} of them")
    print(compare("known-1", f"known-{asked.labels}"))
