"""`dtctl predict` beside simulated studies: 44 recipes, 1 to 8 workers predict 16 to 64.

Strategies, allreduces, machines, weak and strong scaling are simulated at small sizes, larger sizes are predicted from these, and then simulated
as well. Prints a line for each recipe and predicted size, and a summary: the share of simulated values inside the 80 % intervals, how far the
others lie outside, and how wide the intervals are. About ten minutes on two cores; no root. What an earlier call with the same --keep simulated
is not simulated again.
"""
import math
import statistics

from measuring import columns, row

PROGRAMS = ["dtctl", "dtjob", "dtsim"]
MEASURED, PREDICTED = [1, 2, 4, 8], [16, 32, 64]
SERVED = ["easgd", "async-easgd", "async-sgd", "hogwild-sgd", "hogwild-easgd", "async-measgd"]


def options(parser):
    parser.add_argument("--only", default="", metavar="TEXT", help="only recipes whose name contains this text")


def case(strategy, platform, mode="weak", rate=300, allreduce=""):
    """A name, and the recipe at some numbers of nodes."""
    served = strategy in SERVED
    name = "-".join([strategy, allreduce or "served", platform, mode] + (["fast"] if rate == 3000 else []))
    more = f", allreduce: {allreduce}" * (not served) + ", servers: 1" * served + ", period: 4" * (strategy == "local-sgd" or strategy.endswith("easgd"))
    batch = "global_batch: 2048" if mode == "strong" else "batch_per_rank: 32"
    recipe = lambda name, nodes: f"""version: 1
name: {name}
model: {{ name: resnet50 }}
data: {{ name: synthetic, channels: 3, height: 224, width: 224, classes: 1000, train_samples: 1281167 }}
train: {{ {batch}, steps: {48 if served else 10}, warmup_steps: {16 if served else 2}, eval_every_epochs: 0, modelled_rate: {rate} }}
optimizer: {{ name: {"momentum" if strategy == "async-measgd" else "sgd"} }}
sync: {{ strategy: {strategy}{more} }}
resources: {{ platform: {platform}, ranks_per_node: 1 }}
study: {{ mode: {mode}, nodes: {nodes}, repeats: 1 }}
"""
    return name, recipe, (lambda workers: [n + 1 for n in workers]) if served else (lambda workers: workers)


def cases():
    modes, ethernets = ("weak", "strong"), ("ethernet-10g", "ethernet-25g")
    yield from (case("sync-sgd", p, m, 300 if p == "fat-tree" else 60, a) for a in ("ring", "halving-doubling", "tree")
                for p in ("ethernet-10g", "fat-tree", "tianhe3") for m in modes)
    yield from (case("sync-sgd", p, m, allreduce="topology-aware") for p in ("fat-tree", "tianhe3") for m in modes)
    yield from (case(s, p, allreduce="halving-doubling") for s in ("local-sgd", "sync-easgd", "decentralized-easgd") for p in ("ethernet-10g", "fat-tree"))
    yield from (case("local-sgd", p, allreduce="ring") for p in ethernets)
    yield from (case(s, p, rate=60 if "easgd" in s else 6) for s in SERVED for p in ethernets)
    yield from (case("sync-sgd", p, rate=3000, allreduce="halving-doubling") for p in ("ethernet-25g", "taihulight"))


def judge(name, answer, truth):
    low, high, predicted = answer["throughput_low"], answer["throughput_high"], answer["throughput"]
    outside = math.exp(max(math.log(low / truth), math.log(truth / high), 0)) - 1
    error = predicted / truth - 1 if predicted is not None else None
    row(name, answer["nodes"], f"{truth:.1f}", "-" if predicted is None else f"{predicted:.1f}", f"{low:.1f} to {high:.1f}",
        "-" if error is None else f"{100 * error:+.1f} %", " ".join([*["OUTSIDE"] * (outside > 0), answer.get("note") or ""]))
    return dict(inside=outside == 0, outside=outside, width=high / low, identified=answer.get("identified", True), error=error)


def share(chosen, of):
    return f"{sum(map(of, chosen))} of {len(chosen)} ({100 * sum(map(of, chosen)) / max(1, len(chosen)):.0f} %)"


def print_summary(results, tests):
    inside = lambda one: one["inside"]
    width = lambda chosen: f"median width (high / low) {statistics.median(one['width'] for one in chosen):.2f}" if chosen else ""
    print("\ninside their 80 % intervals:", share(results, inside))
    for place, beyond in enumerate(("2x", "4x", "8x")):
        print(f"  at {beyond}:", share(results[place::3], inside), width(results[place::3]))
    told = [one for one in results if one["identified"]]
    print("with a value (identified):", share(results, lambda one: one["identified"]))
    print("  of these inside:", share(told, inside), width(told),
          f"median error {100 * statistics.median(abs(one['error']) for one in told):.1f} %" if told else "")
    missed = [one["outside"] for one in results if not one["inside"]]
    print(f"outside by more than 5 %: {sum(each > 0.05 for each in missed)}, more than 15 %: {sum(each > 0.15 for each in missed)}, "
          f"at most: {100 * max(missed, default=0):.0f} %")
    print("backtests from two sizes or more inside:", share(tests, lambda test: test["inside"]))


def measure(asked, place):
    chosen = [each for each in cases() if asked.only in each[0]]
    for name, recipe, nodes in chosen:
        place.sweep(recipe(name, nodes(MEASURED)))
        place.sweep(recipe(name + "-large", nodes(PREDICTED)))
    results, tests = [], []
    columns("recipe", "nodes", "simulated", "predicted", "80 % interval", "error", "")
    for name, recipe, nodes in chosen:
        answer = place.json("dtctl", "predict", name, "--nodes", ",".join(map(str, nodes(PREDICTED))), "--backtest", "--dry-run")
        truths = {int(each["nodes"]): float(each["throughput"]) for each in place.rows(f"select nodes, throughput from scaling where study = '{name}-large'")}
        tests += [test for test in answer["backtests"] if test["from_sizes"] > 1]
        results += [judge(name, each, truths[each["nodes"]]) for each in answer["predictions"]]
    print_summary(results, tests)
