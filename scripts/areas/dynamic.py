"""The allreduce `dynamic` beside plain MPI and beside each of our other algorithms, in one run.

In an order drawn anew for each round: over 3, 4, 5 and 7 hosts, a rank each, with links of 100 Mbit/s, 1 Gbit/s and without a limit, and behind
trunks of 250 Mbit/s; on the machine as it is, and beside two busy loops. 32 cases, 15 to 20 minutes on a quiet machine with two cores; --quick
about 2 minutes: 3 and 5 hosts at 1 Gbit/s and without a limit, up to 1 MiB. Needs root (tests/cluster/testbed check).

A ratio is the other's time divided by dynamic's in the same round: the median over the rounds, and in brackets an interval whose ends are
missed in one case of ten each. `below` marks what is less than 0.9 times as fast as plain MPI, or as the best of our algorithms divided by
1.1; `surely below` what is so for the whole interval. Exit code: 1 when something is surely below, or a case failed.
"""
import contextlib
import itertools
import json
import os
import subprocess

from measuring import Testbed, columns, load, print_head, row, run

PROGRAMS = ["dtbench"]
BUSY = "while kill -0 $1 2>/dev/null; do for ((i = 0; i < 200000; ++i)); do :; done; done"  # ends with this script, whatever happens to it


def options(parser):
    parser.add_argument("--quick", action="store_true")


@contextlib.contextmanager
def state(machine):
    loops = [subprocess.Popen(["bash", "-c", BUSY, "busy", str(os.getpid())]) for _ in range(2 if machine == "busy" else 0)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def answer_of(asked, place, machine, links, ranks):
    if links == "trunk":
        testbed = Testbed(place, ranks + ranks % 2, "1gbit", "--supernodes", 2, "--trunk", "250mbit")
    else:
        testbed = Testbed(place, ranks, links)
    trunk = ["--nodes-per-supernode", (ranks + 1) // 2] if links == "trunk" else []
    file = place.folder / "answer.json"
    with testbed, state(machine):
        run(["timeout", 300, testbed.command, "run", "--hosts", ranks, ranks, place.program("dtbench"), "comm", "--algorithms",
             f"mpi,ring,halving-doubling,tree{',topology-aware' if trunk else ''},dynamic", "--sizes", "4096,65536,1048576" + ("" if asked.quick else ",10485760"),
             "--seconds", 2.5, "--fewest", 3, "--leave-out", 3, "--json-file", file, *trunk], env=place.environment)
    return json.loads(file.read_text())


def verdict(mpi, best):
    if mpi["high"] < 0.9 or best["high"] < 1 / 1.1:
        return "surely below"
    return "below" if mpi["median"] < 0.9 or best["median"] < 1 / 1.1 else ""


def measure(asked, place):
    ratio = lambda each: f"{each['median']:.2f}x [{each['low']:.2f}, {each['high']:.2f}]"
    time = lambda us: f"{us:.0f} us" if us < 1e3 else f"{1e-3 * us:.3g} ms" if us < 1e6 else f"{1e-6 * us:.2f} s"
    print_head(run(["mpirun", "--version"]).splitlines()[0])
    columns("case", "size", "`dynamic`", "plain MPI", "times as fast as MPI", "times as fast as the best of ours", "best of ours", "rounds", "")
    verdicts, choices, has_failed = [], [], False
    for case in itertools.product(*([("quiet",), ("1gbit", "none"), (3, 5)] if asked.quick else
                                    [("quiet", "busy"), ("100mbit", "1gbit", "none", "trunk"), (3, 4, 5, 7)])):
        machine, links, ranks = case
        name = f"{ranks} hosts, {links}, {machine}"
        try:
            answer = answer_of(asked, place, *case)
        except SystemExit:
            row(name, "failed")
            has_failed = True
            continue
        for each in answer["dynamic"]:
            mpi, best, size = each["against_mpi"], each["against_best"], each["bytes"]
            verdicts.append(verdict(mpi, best))
            row(name, f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB", time(each["us_median"]), time(each["us_mpi"]), ratio(mpi),
                ratio(best), f"{each['best']} {time(each['us_best'])}", each["repeats"], verdicts[-1])
        choices += [f"{name}: dynamic took {answer.get('dynamic_start_s', 0):.2f} s to choose",
                    *(f"{name}: {what}: {said}" for what, said in answer.get("choices", {}).items())]
    print(f"\n{len(verdicts)} rows, {verdicts.count('below')} below, {verdicts.count('surely below')} surely below; load at the end {load()}\n")
    print("\n".join(choices))
    return 1 if has_failed or "surely below" in verdicts else 0
