"""Steps of EASGD's forms on hosts with links of a chosen bandwidth, and LeNet's time to an accuracy.

  transfers    steps with AlexNet's tensors, a modelled computation and real messages; about 3 minutes
  accuracy     LeNet to 97 % under decentralised EASGD against its period; about 2 minutes a repeat. All forms: the recipe easgd-family

Five hosts; needs root (tests/cluster/testbed check).
"""
import json

from measuring import Testbed, one_of

PROGRAMS = ["dtctl", "dtjob", "dtengine", "dtbench"]
PARTS = ["transfers", "accuracy"]
QUERY = """select sync_period as period, round(avg(throughput)) as samples_per_s, round(100 * avg(communication_share), 1) as comm,
  round(100 * avg(accuracy), 2) as accuracy, round(avg(time_to_accuracy_s), 2) as to_97_s from runs_flat where study = 'periods' group by 1 order by 1"""


def options(parser):
    parser.add_argument("parts", nargs="*", type=one_of(PARTS), metavar="PART", help="transfers, accuracy (both)")
    parser.add_argument("--repeats", default="3", help="runs of each point of the accuracy (%(default)s)")


def transfers(asked, place):
    """8 workers on host0 to host3 and a server on host4."""
    words = ["strategies", "--workers", 8, "--scale", 0.05, "--sleep", "--steps", 4, "--allreduce", "hierarchical", "--progress", "thread"]
    with Testbed(place, 5, "250mbit") as testbed:
        alone_s = json.loads(testbed.run(9, "dtbench", *words, "--strategy", "easgd", "--compute", 0, "--json"))[0]["communication_s"]
        compute_s = alone_s * 0.13 / 0.87  # beside which Original EASGD communicates for 87 % of its time
        print("== EASGD from Original's 87% on, packed, then a message a tensor")
        for more in [], ["--no-pack"]:
            print(testbed.run(9, "dtbench", *words, "--strategy", "easgd,sync-easgd:1,sync-easgd:2,sync-easgd:3", "--compute", compute_s, *more), flush=True)


def accuracy(asked, place):
    with Testbed(place, 5, "1gbit"):
        place.dtctl("data", "make", "digits")
        print("== Decentralised EASGD against its period")
        place.dtctl("sweep", "lenet-decentralized-easgd", "--profile", "testbed", "--set", "resources.nodes=4", "--set", "resources.ranks_per_node=2", "--set",
                    "name=periods", "--set", f"study.repeats={asked.repeats}", "--set", "study.vary_seed=true", "--over", "sync.period=1,2,4,8,16", "--wait")
        print(place.dtctl("query", QUERY), flush=True)


def measure(asked, place):
    for part in asked.parts or PARTS:
        {"transfers": transfers, "accuracy": accuracy}[part](asked, place)
