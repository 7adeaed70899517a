"""dtsim beside measurements on a testbed of hosts with shaped links: allreduces of several sizes, and steps of strategies.

Two figures of the platform are fitted first, on two hosts only: the latency from a short sum, the bandwidth from a long one. Everything else is
predicted by the simulation and measured, on one switch and then with a trunk between two supernodes. Prints one line a case and a summary. 25
minutes for 100mbit,3ms and twice as long for 50mbit,5ms. The measured times are medians (of 64 MiB single sums); hosts share this machine's
cores, so nothing else should run. Needs root (tests/cluster/testbed check).

The links are real networks that are slower by a factor: 50mbit,5ms is 100 Gbit/s with 2.5 us, 2,000 times slower, and 100mbit,3ms is 10 Gbit/s
with 30 us, 100 times slower. So the hosts' own times, which two cores for all hosts make longer than those of a cluster, matter as little as
there. Links without a latency (100mbit) are the kernel's, through which short messages pass unshaped after a pause.
"""
import json
import statistics

from measuring import Testbed

PROGRAMS = ["dtbench", "dtsim"]
SIZES = [1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20]
ALGORITHMS = ["ring", "halving-doubling", "tree"]
STRATEGIES = ["sync-sgd", "local-sgd", "hsgd", "sync-easgd", "decentralized-easgd", "easgd", "async-easgd", "async-sgd", "async-msgd",
              "async-measgd", "hogwild-sgd", "hogwild-easgd"]
SERVED = ("easgd", "async", "hogwild")  # strategies with these beginnings have a server, on a host of its own


def options(parser):
    parser.add_argument("--links", nargs="+", default=["50mbit,5ms", "100mbit,3ms"], help="RATE, or RATE,LATENCY")
    parser.add_argument("--hosts", nargs="+", type=int, default=[2, 4, 8])
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS, help="of the sums on one switch")
    parser.add_argument("--bytes", type=int, default=SIZES[-1], help="no longer sums on one switch than this")
    parser.add_argument("--calls", type=int, default=1, help="sums in a row on one switch, whose mean counts")
    parser.add_argument("--strategies", nargs="*", default=STRATEGIES)
    parser.add_argument("--no-trunk", action="store_true", help="no sums between two supernodes")


class Machine:
    """The testbed, and the platform that stands for it."""

    def __init__(self, place, testbed, figures=(), calls=1):
        self.place, self.testbed, self.figures, self.calls = place, testbed, figures, calls

    def compare(self, name, measure, simulate, errors):
        measured_s, simulated_s = measure(), simulate()
        errors.append(simulated_s / measured_s - 1)
        print(f"{name:<46} {1e3 * measured_s:10.3f} {1e3 * simulated_s:10.3f} {100 * errors[-1]:+8.1f}%", flush=True)

    def measure(self, hosts, *words):
        return json.loads(self.testbed.run(hosts, "dtbench", *words, "--json"))

    def simulate(self, hosts, *words):
        return self.place.json("dtsim", *words, "--nodes", hosts, *self.figures)

    def allreduce_words(self, algorithm, size):
        return ["allreduce", "--algorithm", algorithm, "--bytes", size, *(["--calls", self.calls] if self.calls > 1 else [])]

    def measured_s(self, hosts, algorithm, size, *more):
        few = size > SIZES[2] or self.calls > 1
        length = ["--repeats", 1 if size == SIZES[-1] else 3, "--warm-up", 1] if few else ["--seconds", 2]
        return 1e-6 * self.measure(hosts, *self.allreduce_words(algorithm, size), *length, *more)["us_median"]

    def compare_sum(self, name, hosts, algorithm, size, errors, *more):
        self.compare(f"{algorithm}, {name}, {size >> 10} KiB", lambda: self.measured_s(hosts, algorithm, size, *more),
                     lambda: 1e-6 * self.simulate(hosts, *self.allreduce_words(algorithm, size))["us_median"], errors)

    def fit(self, links):
        """Two hosts exchange halves twice: two latencies, and as many bytes as the vector has over each link."""
        short, long = (self.measured_s(2, "halving-doubling", size) for size in (SIZES[0], SIZES[-1]))
        bandwidth = (SIZES[-1] - SIZES[0]) / (long - short)
        latency = max(1e-6, (short - SIZES[0] / bandwidth) / 2)  # short messages may pass unshaped
        self.figures = ["--latency", f"{1e6 * latency:.2f}us", "--bandwidth", f"{1e-6 * bandwidth:.3f} MB/s"]
        print(f"== links of {links}: {1e3 * short:.4f} ms and {1e3 * long:.3f} ms, so {1e6 * latency:.1f} us and {1e-6 * bandwidth:.2f} MB/s", flush=True)


def on_one_switch(machine, asked, errors):
    for hosts in asked.hosts:
        for algorithm in asked.algorithms:
            for size in (size for size in SIZES if size <= asked.bytes):
                if (hosts, algorithm) != (2, "halving-doubling") or size not in (SIZES[0], SIZES[-1]):  # these are fitted
                    machine.compare_sum(f"{hosts} hosts", hosts, algorithm, size, errors["sums up to 64 KiB" if size <= SIZES[1] else "sums from 1 MiB"])
    for hosts in (hosts for hosts in asked.hosts if hosts > 2):
        for strategy in asked.strategies:
            words = ["strategies", "--strategy", strategy, "--workers", hosts - strategy.startswith(SERVED), "--period", 2, "--steps", 6, "--allreduce", "ring",
                     "--scale", 0.02, "--compute", 0.05]
            machine.compare(f"{strategy}, {hosts} hosts", lambda: machine.measure(hosts, *words, "--sleep")[0]["step_s"],
                            lambda: machine.simulate(hosts, *words)[0]["step_s"], errors["steps"])


def behind_a_trunk(machine, errors):
    """Four hosts in two supernodes, whose trunk has a quarter of a link. The figures are those fitted without a trunk."""
    for algorithm in ["ring", "halving-doubling", "topology-aware"]:
        for size in SIZES[2:]:
            machine.compare_sum("2 x 2 hosts with a trunk", 4, algorithm, size, errors["sums over a trunk"], "--nodes-per-supernode", 2)


def measure(asked, place):
    place.environment["OMP_WAIT_POLICY"] = "passive"
    errors = {name: [] for name in ("sums from 1 MiB", "sums up to 64 KiB", "sums over a trunk", "steps")}
    for links in asked.links:
        rate, *latency = links.split(",")
        shaped = ["--latency", *latency] if latency else []
        with Testbed(place, max(asked.hosts), rate, *shaped) as testbed:
            machine = Machine(place, testbed)
            machine.fit(links)
            machine.calls = asked.calls
            print(f"{'case':<46} {'measured ms':>10} {'simulated':>10} {'error':>9}")
            on_one_switch(machine, asked, errors)
        if not asked.no_trunk:
            mbit = {"mbit": 1, "gbit": 1000}[rate[-4:]] * int(rate[:-4])
            with Testbed(place, 4, rate, *shaped, "--supernodes", 2, "--trunk", f"{mbit // 4}mbit") as testbed:
                figures = [*machine.figures, "--nodes-per-supernode", 2, "--trunk-share", 0.125]
                behind_a_trunk(Machine(place, testbed, figures), errors)
    for name, found in [*errors.items(), ("all", sum(errors.values(), []))]:
        if found:
            sizes = [abs(error) for error in found]
            print(f"{name}: median error {100 * statistics.median(sizes):.1f} %, {sum(size < 0.1 for size in sizes)} of {len(sizes)} under 10 %, from "
                  f"{100 * min(found):+.1f} to {100 * max(found):+.1f} %")
