// The samples of a batch (share/dtctl/program/dtctl_measure/samples.py): the number, or unknown; never another number.
#include "core/machine/process.hpp"
#include "tests/e2e/python.hpp"

#include <string>

#include <catch2/catch.hpp>

using dt::test::has_torch;
using dt::test::python;

namespace {

// Runs a script in which check(claim, found, expected) collects what is wrong. Returns what it has printed.
std::string wrong_in(const std::string& script, const std::string& declared = "")
{
  const std::string before = R"(
import collections, dataclasses, sys
import numpy, torch
from dtctl_measure import samples
count = samples.count
def check(claim, found, expected):
    if found != expected:
        print(f"{claim}: {found}, expected {expected}")
r, n = torch.randn, None
)";
  const std::string modules = std::string(DTCTL_SOURCE_DIR) + "/share/dtctl/program";
  const auto result =
      dt::run_command({"env", "PYTHONPATH=" + modules, "DTCTL_SAMPLES=" + declared, python(), "-c", before + script});
  return result.out + (result.ok() ? "" : result.err);
}

} // namespace

TEST_CASE("samples: every kind of batch counts what its parts agree on")
{
  if (!has_torch()) return;
  CHECK(wrong_in(R"(
class Encoding(collections.UserDict): pass
class Plain:
    def __init__(self, **parts): vars(self).update(parts)
class Slots:
    __slots__ = ("x", "y")
    def __init__(self): self.x, self.y = r(16, 3), r(16)
@dataclasses.dataclass
class Data:
    x: object
    name: str = "train"
Pair = collections.namedtuple("Pair", ["x", "y"])
x, y = r(16, 3, 8, 8), torch.zeros(16).long()
for claim, batch in dict(tensor=x, array=numpy.zeros((16, 3)), pair=(x, y), list=[x, y], floats=(r(16, 1), r(16, 1)), dict={"x": x, "y": y},
        user_dict=Encoding(x=x, y=y), object=Plain(x=x, y=y), slots=Slots(), dataclass=Data(x), namedtuple=Pair(r(16, 2), r(16, 2)),
        nested=({"a": [x, y]}, {"b": {"c": y}}), strings=(x, ["a word"] * 16), text=["a word"] * 16, scalar=(x, y, torch.tensor(3.0), 7, None, "train"),
        tokens=([[1, 2, 3] for _ in range(15)] + [[4]], [0] * 16), numpy_numbers=(x, [numpy.float64(1)] * 16), many={str(i): r(16, 2) for i in range(40)},
        empty_parts=(x, [], {}, None)).items():
    check(claim, count(batch), 16)
for batch in (None, 3, 2.5, "train", (), {}, torch.tensor(1.0), numpy.float32(1), object(), torch.nn.Linear(2, 2), (1.0, None) and None, lambda: 0):
    check(repr(batch), count(batch), None)
)") == "");
}

TEST_CASE("samples: lists of samples count their length, and where a list may have parts of one it is unknown")
{
  if (!has_torch()) return;
  CHECK(wrong_in(R"(
images = lambda b: [r(3, 32 + i, 32) for i in range(b)]
targets = lambda b: [{"boxes": r(1 + i % 4, 4), "labels": torch.zeros(1 + i % 4)} for i in range(b)]
check("images and targets", count((tuple(images(9)), tuple(targets(9)))), 9)
check("two images and targets", count((images(2), targets(2))), 2)
check("images of one size and labels", count((tuple(r(3, 4, 4) for _ in range(16)), tuple(torch.tensor(1) for _ in range(16)))), 16)
check("ragged sequences", count([r(5 + i) for i in range(20)]), 20)
check("images alone", count([r(3, 32, 32) for _ in range(8)]), n)
check("images in rows", count([r(32, 32, 3) for _ in range(8)]), n)
check("images alone, of a loader", count([r(3, 32, 32) for _ in range(8)], 8), 8)
check("two parts that disagree", count([r(35, 20), r(700, 20)]), n)
check("images that are collated", count([r(16, 3, 8, 8), r(16, 3, 8, 8)], 16), 16)
check("the last ones", count([r(7, 3, 8, 8), r(7, 3, 8, 8)], 16, are_parts=True), 7)
check("rows", count([(r(3, 8, 8), 1)] * 12, 12), 12)
class Graph: pass
def graph(nodes):
    g = Graph(); g.x, g.edge_index = r(nodes, 4), torch.zeros(2, 3 * nodes).long(); return g
check("graphs", count([graph(3 + i) for i in range(10)], 10), 10)
whole = graph(50); whole.num_graphs = 10
check("a batch of graphs", count(whole), 10)
check("one graph", count(graph(5)), n)
loop = Graph(); loop.self, loop.x = loop, r(4, 2)
check("an object that names itself", count(loop), 4)
)") == "");
}

TEST_CASE("samples: sequences are unknown or right, never their length")
{
  if (!has_torch()) return;
  CHECK(wrong_in(R"(
from torch.nn.utils.rnn import pack_sequence
check("packed", count(pack_sequence([r(5, 2), r(3, 2), r(2, 2)])), 3)
check("packed, with labels", count((pack_sequence([r(5, 2), r(3, 2), r(2, 2)]), torch.zeros(3))), 3)
check("length and flat labels", count((torch.zeros(35, 20).long(), torch.zeros(700).long())), n)
check("length first", count((torch.zeros(35, 20).long(), torch.zeros(35, 20).long()), 20), n)
check("length first, shorter than the batch", count(torch.zeros(10, 20).long(), 20), n)
check("put together", count((torch.zeros(700).long(), torch.zeros(700).long()), 20), n)
check("length first, drawn", count((torch.zeros(35, 20).long(), torch.zeros(700).long()), drawn=20), 20)
check("length first in the last batch", count(torch.zeros(10, 7).long(), 20, drawn=7), 7)
check("filtered", count((r(14, 3), torch.zeros(14)), drawn=16), 14)
check("the last batch", count((r(7, 3), torch.zeros(7)), 16), 7)
check("offsets of bags", count((torch.zeros(211), torch.zeros(16), torch.zeros(16)), drawn=16), 16)
check("a call", samples.count_of_call((r(8, 4),), {"mask": r(8, 4), "scale": 2.0}), 8)
check("a call with one row of numbers, which may be one sample", samples.count_of_call((r(4),), {}), None)
check("a call with words", samples.count_of_call((torch.zeros(4).long(),), {}), 4)
check("a call with images", samples.count_of_call(([r(3, 4, 5), r(3, 4, 4)], [{"boxes": r(1, 4)}, {"boxes": r(6, 4)}]), {}), 2)
check("recurrent", samples.has_length_first(torch.nn.Sequential(torch.nn.GRU(2, 2))), True)
check("batch first", samples.has_length_first(torch.nn.Sequential(torch.nn.GRU(2, 2, batch_first=True), torch.nn.Linear(2, 2))), False)
)") == "");
}

TEST_CASE("samples: a DataLoader's own draws decide, whatever its batches look like")
{
  if (!has_torch()) return;
  CHECK(wrong_in(R"(
from torch.utils.data import DataLoader, BatchSampler, IterableDataset, SequentialSampler
samples.watch_draws(torch)
def counts(*args, **kwargs):
    iterator = iter(DataLoader(*args, **kwargs))
    return [samples.of_loader(iterator, batch) for batch in iterator]
rows = [(r(3, 4, 4), r(3, 4, 4)) for _ in range(20)]
check("pairs", counts(rows, batch_size=8), [8, 8, 4])
check("pairs of two", counts(rows[:5], batch_size=2), [2, 2, 1])
check("workers", counts(rows, batch_size=8, num_workers=2), [8, 8, 4])
check("lists", counts(rows, batch_size=3, collate_fn=list), [3, 3, 3, 3, 3, 3, 2])
check("length first", counts([torch.zeros(35).long()] * 20, batch_size=8, collate_fn=lambda b: torch.stack(b, 1)), [8, 8, 4])
check("batches of a sampler", counts([torch.zeros(9).long()] * 9, batch_sampler=[[0, 1, 2], [3], [4, 5, 6, 7, 8]], collate_fn=lambda b: torch.stack(b, 1)), [3, 1, 5])
check("indices of a batch", counts(torch.utils.data.TensorDataset(r(20, 4)), sampler=BatchSampler(SequentialSampler(rows), 8, False), batch_size=None), [8, 8, 4])
class Stream(IterableDataset):
    def __iter__(self): return iter(rows)
check("a stream", counts(Stream(), batch_size=8), [8, 8, 4])
loader = DataLoader(rows, batch_size=8, num_workers=1, persistent_workers=True)
for epoch in range(3):
    iterator = iter(loader)
    check("persistent workers", [samples.of_loader(iterator, b) for _, b in zip(range(2 + epoch % 2), iterator)], [8, 8, 4][: 2 + epoch % 2])
)") == "");
}

TEST_CASE("samples: what the recipe declares counts")
{
  if (!has_torch()) return;
  CHECK(wrong_in(R"(
check("dimension", count((torch.zeros(35, 20), torch.zeros(700)), 35, drawn=35), 20)
check("the dimensions disagree", count((torch.zeros(35, 20), torch.zeros(35, 4))), n)
check("declared", samples.declared(), (None, 1))
)",
                 "dimension 1") == "");
  CHECK(wrong_in("check('a step', samples.declared(), (12.5, None))", "12.5") == "");
  CHECK(wrong_in("check('nothing', samples.declared(), (None, None))") == "");
}
