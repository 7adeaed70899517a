"""`dtctl predict` beside measurements on a testbed of hosts with shaped links and modelled computation.

Studies small sizes, predicts twice and four times the largest size, then runs these sizes and prints predicted beside measured. A table for
each prediction and a summary: the largest errors at 2x and 4x, and the share of backtests that lay inside their 80 % intervals. About five
minutes a rate and strategy. Needs root (tests/cluster/testbed check).
"""
import statistics

from measuring import Testbed, words_of

PROGRAMS = ["dtctl", "dtjob", "dtengine"]


def options(parser):
    parser.add_argument("--rates", type=words_of, default="100mbit,1gbit")
    parser.add_argument("--strategies", type=words_of, default="sync-sgd,local-sgd,sync-easgd,async-easgd")


def recipe(name, strategy, nodes, seed):
    more = "" if strategy == "sync-sgd" else ", period: 2" + (", servers: 1" if strategy.startswith("async-") else "")
    return f"""version: 1
name: {name}
model: {{ name: lenet }}
data: {{ name: synthetic, train_samples: 4096, test_samples: 32 }}
train: {{ batch_per_rank: 8, steps: 120, warmup_steps: 10, eval_every_epochs: 0, modelled_rate: 200, seed: {seed} }}
optimizer: {{ name: sgd }}
sync: {{ strategy: {strategy}{more} }}
resources: {{ ranks_per_node: 1, oversubscribe: true, time_limit: 10m }}
study: {{ mode: weak, nodes: {nodes}, repeats: 3 }}
"""


def measure(asked, place):
    place.environment["OMP_WAIT_POLICY"] = "passive"
    errors, tests, seed = {}, [], 0
    for rate in asked.rates:
        with Testbed(place, 16, rate):
            for strategy in asked.strategies:
                name, seed = f"{strategy}-{rate}", seed + 1
                sizes = [2, 3, 4] if strategy.startswith("async-") else [1, 2, 4]  # one node is the server's
                place.sweep(recipe(name, strategy, sizes, seed), "--profile", "testbed")
                place.dtctl("predict", name, "--nodes", "8,16")
                place.sweep(recipe(name, strategy, [8, 16], seed), "--profile", "testbed")
                print(f"== {strategy}, links of {rate}\n{place.dtctl('results', name, '--predictions')}", flush=True)
                for score in place.json("dtctl", "results", name, "--predictions")["predictions"]:
                    if score["error"] is not None:
                        errors.setdefault(score["nodes"], []).append(abs(score["error"]))
                tests += place.json("dtctl", "predict", name, "--nodes", "8,16", "--backtest", "--dry-run")["backtests"]
    print("== summary")
    for nodes, found in sorted(errors.items()):
        print(f"{nodes} nodes: {len(found)} predictions, largest error {100 * max(found):.1f} %, median {100 * statistics.median(found):.1f} %")
    print(f"backtests inside their 80 % intervals: {sum(bool(test['inside']) for test in tests)} of {len(tests)}")
