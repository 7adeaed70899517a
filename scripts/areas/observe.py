"""What dtctl's observer of PyTorch programs costs a training loop, and its phases beside a stop-watch in the same steps.

The loop runs plain, observed, and observed with a stop-watch of its own, round after round in turn (scripts/peers/observed_loop.py). The cost is
the median of the rounds' ratios, with the least and the most, and the least step plain and observed: beside other programs only the least times
tell. A phase is the ratio of the medians, observed to by hand. A minute a model. Needs python3-torch and libopenblas0-pthread. Loops of other
forms stand beside a stop-watch in scripts/measure programs.
"""
import multiprocessing

import torch

import networks
from measuring import columns, interval, ratios, row, words_of
from peers import observed_loop

PROGRAMS = []


def options(parser):
    parser.add_argument("--models", type=words_of, default="lenet,resnet20")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=1, help="of a round")


def compare(name, asked, folder):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    count = 8 * asked.batch
    data = torch.utils.data.TensorDataset(torch.randn(count, *networks.MODELS[name][1]), torch.randint(0, 10, (count,)))
    return observed_loop.compare(networks.build(name), torch.utils.data.DataLoader(data, asked.batch), folder / name, asked.rounds, asked.seconds)


def measure(asked, place):
    columns("model", "cost of being observed", "least steps, ms", *observed_loop.TIMED)
    for name in asked.models:
        with multiprocessing.get_context("fork").Pool(1) as process:  # an observer cannot leave its process
            times, phases = process.apply(compare, (name, asked, place.folder))
        row(name, interval(ratios(times["observed"], times["plain"]), ".4f"), f"{min(times['plain']):.3f} and {min(times['observed']):.3f}",
            *(f"{own / by_hand:.3f} of {1e3 * by_hand:.2f} ms" for own, by_hand in phases.values()))
