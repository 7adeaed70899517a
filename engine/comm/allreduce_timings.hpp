// What each allreduce takes at a few sizes, what it is predicted to take at others, and which one to take at any size. Pure.
#pragma once

#include "engine/comm/cost_model.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::engine {

struct AllreduceTimings {
  std::vector<std::string> algorithms;      // the first is taken where none is clearly faster
  std::vector<std::size_t> bytes;           // ascending
  std::vector<std::vector<double>> seconds; // of each size, of each algorithm; 0: not timed, being hopeless at that size
  // Of each size, of each algorithm: its time ÷ the first algorithm's is surely not more (PairedRatio::most). Empty: the seconds are sure.
  std::vector<std::vector<double>> surely{};
  CostShape shape{};
  CostModel model{};           // fitted to the seconds of all algorithms whose schedules are known
  std::vector<CostModel> own{}; // of each algorithm, fitted to its seconds of the largest sizes; empty: `model` stands for all
};

// Between sizes at which the algorithm was timed, straight lines with both axes logarithmic; beyond them its formula with its own α and
// β, multiplied so that it passes through the nearest timed size; the formula with the common ones where it was timed nowhere.
double predicted_s(const AllreduceTimings& timings, std::size_t algorithm, std::size_t bytes);

// Fits timings.model and timings.own. local_add_s: seconds in which a rank adds local_add_bytes from memory, which tells γ from β.
void fit_models(AllreduceTimings& timings, std::size_t local_add_bytes, double local_add_s);

// From so many bytes up to the next choice: that algorithm of the timings.
struct AllreduceChoice {
  std::size_t from_bytes = 0;
  std::size_t algorithm = 0;
  friend bool operator==(const AllreduceChoice&, const AllreduceChoice&) = default;
};

// The first algorithm, unless another is surely and by at least 5% faster: of those the fastest, or the one of the size before where that
// is at most 3% slower. Between two sizes with different winners, the change is where their predictions cross. Below the least
// size the least decides. Above the largest, sizes of 2, 4, … 1024 times as much are predicted, and what is sure there
// is less by up to twice the spread of both models. Ascending, the first from 0 bytes up.
std::vector<AllreduceChoice> choose(const AllreduceTimings& timings);

// Index into choices that holds for so many bytes.
std::size_t choice_for(const std::vector<AllreduceChoice>& choices, std::size_t bytes);

// "mpi, hierarchical from 14.2 KiB, ring from 1.0 MiB".
std::string in_words(const std::vector<AllreduceChoice>& choices, const std::vector<std::string>& algorithms);

// The least of the sizes from 256 KiB on (of all, when none is as large) at which the choices move at least 80% of the most bytes a
// second that they move at any of them: smaller buckets would waste the network, larger ones would only begin later. Below, links
// that let a burst pass look faster than they are, and each bucket costs a hand-over.
std::size_t best_bucket_bytes(const AllreduceTimings& timings, const std::vector<AllreduceChoice>& choices);

// A sum whose time tells whether timings still hold: the largest timed one that takes at most a quarter of a second, else the least.
struct ConfirmingSum {
  std::size_t algorithm = 0, bytes = 0;
  double seconds = 0;
};
ConfirmingSum confirming_sum(const AllreduceTimings& timings, const std::vector<AllreduceChoice>& choices);
// Whether fresh_s, seconds of that sum now, is within a factor of 1.5 of those when it was timed.
bool is_confirmed(const ConfirmingSum& sum, double fresh_s);

// As a text file: a line that names the format and `key`, a line of algorithms, "shape" and "model" with their numbers, a line a size, a last
// line that says how many sizes there are.
std::string to_text(const AllreduceTimings& timings, std::string_view key);
// Nothing unless the text is whole, of this format, and of this key.
std::optional<AllreduceTimings> parse_timings(std::string_view text, std::string_view key);

} // namespace dt::engine
