"""Wall time of dtctl's commands, and speed of the ingest.

Whole processes, medians. Some minutes, of which the database of a million runs takes most; --quick leaves it out. Needs no root, but
drops the page cache only as root.
"""
import os

from measuring import columns, median_s, print_head, row

PROGRAMS = ["dtctl", "bench_store"]
PLAN = f"""version: 1
name: plan
model: {{name: lenet}}
data: {{name: synthetic}}
train: {{global_batch: 64, steps: 100}}
sweep:
  matrix:
    optimizer.learning_rate: [{", ".join(f"{i}e-4" for i in range(1, 101))}]
    train.seed: {list(range(1, 101))}
"""


def options(parser):
    parser.add_argument("--quick", action="store_true", help="not the database of 1,000,000 runs")


def drop_page_cache():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("3")


def measure(asked, place):
    def ms(times, *words):
        return f"{1e3 * median_s(times, lambda: place.dtctl(*words)):.1f} ms"

    def cold_s():
        drop_page_cache()
        return median_s(1, lambda: place.dtctl("--version"))

    print_head()
    columns("what", "measured", "aim", "how")
    row("dtctl --version, warm (median of 40)", ms(40, "--version"), "", "`dtctl --version`")
    if os.access("/proc/sys/vm/drop_caches", os.W_OK):
        row("dtctl --version, page cache dropped (median of 5)", f"{1e3 * sorted(cold_s() for _ in range(5))[2]:.1f} ms", "", "`dtctl --version`")
    plan = place.write("plan.yaml", PLAN)
    row("plan of a 10,000-run sweep (median of 5)", ms(5, "plan", plan), "< 300 ms", "`dtctl sweep --dry-run plan.yaml` (100 x 100 matrix)")
    row("ingest of run folders", " ".join(place.run("bench_store", "--ingest").split("\n")), ">= 200,000 step rows/s", "`bench_store --ingest`")
    if asked.quick:
        return
    place.home.mkdir(mode=0o700, exist_ok=True)
    place.run("bench_store", "--make", place.home / "results.db", "--runs", 1000000)
    row("results of a study among 1,000,000 runs (median of 20)", ms(20, "results", "last"), "< 50 ms",
        "`bench_store --make results.db; dtctl results last`")
