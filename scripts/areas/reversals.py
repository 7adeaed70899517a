"""How often a few seeds of a study name another candidate the soonest than all of its seeds do, and how much longer that one takes.

  scripts/measure reversals --study at-1gbit [--nodes 4] [--seeds 3] [--links at-50mbit]

A candidate's time is the geometric mean of its times to the target. --links: the seconds a sample of each candidate are those of this study, whose
links are others; only for strategies whose samples to the target do not depend on the links, those without servers. A few seconds.
"""
import itertools
import json
import math
import statistics
import subprocess

PROGRAMS = ["dtctl"]


def options(parser):
    parser.add_argument("--study", required=True)
    parser.add_argument("--nodes", type=int, help="only points with so many")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--links", help="a study of the same points over other links")


def runs_of(study, nodes, place):
    """Of each label: by seed, seconds and samples until the target."""
    text = f"""SELECT label, seed, time_to_accuracy_s AS s, samples_to_accuracy AS samples FROM runs_flat WHERE study = '{study}' AND control = 0
               AND state = 'succeeded' AND nodes = {nodes or 'nodes'}"""
    answer = subprocess.run([place.build / "bin/dtctl", "query", text, "--json"], check=True, capture_output=True, text=True)
    found = {}
    for run in json.loads(answer.stdout)["rows"]:
        found.setdefault(run["label"], {})[run["seed"]] = (run["s"] or math.inf, run["samples"])
    return found


def measure(asked, place):
    runs = runs_of(asked.study, asked.nodes, place)
    times = {label: {seed: s for seed, (s, _) in by_seed.items()} for label, by_seed in runs.items()}
    if asked.links:
        others = runs_of(asked.links, asked.nodes, place)
        a_sample = {label: statistics.geometric_mean([s / count for s, count in others[label].values() if count]) for label in runs if label in others}
        times = {label: {seed: count * s if count else math.inf for seed, (_, count) in runs[label].items()} for label, s in a_sample.items()}
    seeds = sorted(set.intersection(*(set(runs) for runs in times.values())))
    overall = {label: statistics.geometric_mean([runs[seed] for seed in seeds]) for label, runs in times.items()}
    best = min(overall, key=overall.get)
    choices = list(itertools.combinations(seeds, asked.seeds))
    winners = [min(times, key=lambda label: statistics.geometric_mean([times[label][seed] for seed in chosen])) for chosen in choices]
    costs = [overall[winner] / overall[best] - 1 for winner in winners]
    print(f"{len(times)} candidates, {len(seeds)} seeds: the soonest is {best}, {overall[best]:.3g} s")
    print(f"{asked.seeds} seeds name another one in {100 * statistics.fmean(w != best for w in winners):.0f} % of {len(choices)} choices, which takes "
          f"{100 * statistics.fmean(costs):.1f} % longer in the mean, {100 * max(costs):.0f} % at most")
