"""Every allreduce beside plain MPI and Gloo, on one node and over hosts with shaped links.

  node4 node8      one node, 4 and 8 ranks, 1 KiB to 256 MiB
  hosts4 hosts8    4 hosts with 1 Gbit/s links, 1 and 2 ranks on each
  supernodes       4 hosts, 2 behind each switch, trunks of 250 Mbit/s, 1 rank on each host
  trunk-bytes      bytes counted on those trunks beside the formulas

All cases take over an hour, with --most 67108864 about 25 minutes. Hosts need root (tests/cluster/testbed check).
"""
import pathlib

from measuring import Testbed, columns, mpirun, one_of, print_head, row, run

PROGRAMS = ["dtbench"]
CASES = ["node4", "node8", "hosts4", "hosts8", "supernodes", "trunk-bytes"]


def options(parser):
    parser.add_argument("cases", nargs="*", type=one_of(CASES), metavar="CASE", help="all, if none is named")
    parser.add_argument("--most", type=int, default=256 << 20, metavar="BYTES", help="largest vector (256 MiB; over hosts that takes minutes)")
    parser.add_argument("--least", type=int, default=1 << 10, metavar="BYTES", help="smallest vector (1 KiB)")
    parser.add_argument("--seconds", type=float, help="to measure one size for (4 on one node, 20 over hosts)")
    parser.add_argument("--output", type=pathlib.Path, metavar="FOLDER", help="the figures as JSON too, a file a case")


def supernodes(place):
    return Testbed(place, 4, "1gbit", "--supernodes", 2, "--trunk", "250mbit")


def count_trunk_bytes(place):
    """With p = 4 ranks, q = 2 a supernode, p n (p-q)/p bytes cross in each of two phases in physical order, p n (p/q-1)/p when
    topology-aware. dtbench sums once to check, once to warm up, and then as often as it is told."""
    size, sums = 16 << 20, 5
    print(f"\n## trunk-bytes: {sums + 2} sums of {size} bytes, 4 hosts, 2 supernodes\n")
    columns("algorithm", "bytes on the trunk a sum", "formula", "ratio")
    with supernodes(place) as testbed:
        for algorithm, factor in (("halving-doubling", 4), ("topology-aware", 2), ("ring", 3)):
            before = int(testbed("trunk-bytes"))
            testbed.run(4, "dtbench", "comm", "--algorithms", algorithm, "--least", size, "--most", size, "--repeats", sums, "--nodes-per-supernode", 2)
            each = (int(testbed("trunk-bytes")) - before) // (sums + 2)
            row(f"`{algorithm}`", each, factor * size, f"{each / (factor * size):.3f}")


def measure(asked, place):
    def words_of(name, seconds, *more):
        words = ["comm", "--least", asked.least, "--most", asked.most, "--seconds", asked.seconds or seconds, *more]
        print(f"\n## {name}: dtbench {' '.join(map(str, words))}\n", flush=True)
        return ["dtbench", *words, *(["--json-file", asked.output.resolve() / f"{name}.json"] if asked.output else [])]

    print_head(run(["mpirun", "--version"]).splitlines()[0])
    if asked.output:
        asked.output.mkdir(parents=True, exist_ok=True)
    for name in asked.cases or CASES:
        if name == "trunk-bytes":
            count_trunk_bytes(place)
        elif name.startswith("node"):
            launcher = mpirun(name[4:], "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1")
            program, *words = words_of(name, 4)
            print(run([*launcher, place.program(program), *words]))
        elif name == "supernodes":
            with supernodes(place) as testbed:
                print(testbed.run(4, *words_of(name, 20, "--link-gbit", 1, "--trunk-gbit", 0.25, "--nodes-per-supernode", 2)))
        else:
            with Testbed(place, 4, "1gbit") as testbed:
                print(testbed.run(name[5:], *words_of(name, 20, "--link-gbit", 1)))
