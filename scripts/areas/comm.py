"""Every allreduce beside plain MPI and Gloo, on one node and over hosts with shaped links.

  node4 node8      one node, 4 and 8 ranks, 1 KiB to 64 MiB
  hosts4 hosts8    4 hosts with 1 Gbit/s links, 1 and 2 ranks on each
  supernodes       4 hosts, 2 behind each switch, trunks of 250 Mbit/s, 1 rank on each host

All cases take about 25 minutes. Hosts need root (tests/cluster/testbed check).
"""
from measuring import Testbed, mpirun, one_of, print_head, run

PROGRAMS = ["dtbench"]
HOSTS = {"hosts4": (4, [], []), "hosts8": (8, [], []),  # ranks, words of the testbed, words of dtbench
         "supernodes": (4, ["--supernodes", 2, "--trunk", "250mbit"], ["--trunk-gbit", 0.25, "--nodes-per-supernode", 2])}
CASES = ["node4", "node8", *HOSTS]


def options(parser):
    parser.add_argument("cases", nargs="*", type=one_of(CASES), metavar="CASE", help="all, if none is named")
    parser.add_argument("--most", type=int, default=64 << 20, metavar="BYTES", help="largest vector (64 MiB)")


def measure(asked, place):
    print_head(run(["mpirun", "--version"]).splitlines()[0])
    for name in asked.cases or CASES:
        ranks, network, about = HOSTS.get(name, (int(name[-1]), [], []))
        words = ["comm", "--least", 1 << 10, "--most", asked.most, "--seconds", 20 if name in HOSTS else 4,
                 *(["--link-gbit", 1, *about] if name in HOSTS else [])]
        print(f"\n## {name}: dtbench {' '.join(map(str, words))}\n", flush=True)
        if name in HOSTS:
            with Testbed(place, 4, "1gbit", *network) as testbed:
                print(testbed.run(ranks, "dtbench", *words))
        else:
            launcher = mpirun(ranks, "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1")
            print(run([*launcher, place.program("dtbench"), *words]))
