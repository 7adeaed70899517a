// Measured times of each allreduce at a few sizes, predicted times at other sizes, and the selection of an algorithm per size.
// Pure functions.
#pragma once

#include "engine/comm/choice/cost_shape.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::comm {

struct AllreduceTimings {
  std::vector<std::string> algorithms;      // the first one is used where no other is clearly faster
  std::vector<std::size_t> bytes;           // ascending
  std::vector<std::vector<double>> seconds; // [size][algorithm]; 0: not timed, because it was hopeless at that size
  // [size][algorithm]: upper confidence limit of this algorithm's time ÷ the first algorithm's time (PairedRatio::most). Empty:
  // the seconds count as exact.
  std::vector<std::vector<double>> ratio_limits{};
  CostShape shape{};
  CostModel model{};            // fitted to the times of all algorithms with a known schedule
  std::vector<CostModel> own{}; // [algorithm]: fitted to its times at the largest sizes; empty: use `model` for all
};

// Between two sizes at which the algorithm was timed: interpolates linearly on logarithmic axes. Beyond them: the algorithm's
// formula with its own α and β, scaled to pass through the nearest timed size. For an algorithm that was never timed: the formula
// with the common α and β.
double predicted_s(const AllreduceTimings& timings, std::size_t algorithm, std::size_t bytes);

// The formula with the common α and β, whatever was timed.
double modelled_s(const AllreduceTimings& timings, std::size_t algorithm, std::size_t bytes);

// Fits timings.model and timings.own. local_add_s: seconds that a rank takes to add local_add_bytes in memory; this separates γ
// from β.
void fit_models(AllreduceTimings& timings, std::size_t local_add_bytes, double local_add_s);

// An algorithm (index in the timings) and the smallest sum in bytes for which it is used, up to the next choice.
struct AllreduceChoice {
  std::size_t from_bytes = 0;
  std::size_t algorithm = 0;
  friend bool operator==(const AllreduceChoice&, const AllreduceChoice&) = default;
};

// Selects the first algorithm, unless another one is faster by at least 5% with confidence. Among several such algorithms it
// selects the fastest, or keeps the one of the next smaller size if that is at most 3% slower. Between two sizes with different
// winners, the change is where their predictions cross. The smallest timed size decides for all smaller sums. Above the largest
// timed size, times are predicted for 2, 4, … 1024 times that size, with an added uncertainty of up to twice the spread of both
// models. The result is ascending and begins at 0 bytes.
std::vector<AllreduceChoice> choose(const AllreduceTimings& timings);

// Index of the choice that applies to a sum of `bytes` bytes.
std::size_t choice_for(const std::vector<AllreduceChoice>& choices, std::size_t bytes);

// "mpi, hierarchical from 14.2 KiB, ring from 1.0 MiB".
std::string in_words(const std::vector<AllreduceChoice>& choices, const std::vector<std::string>& algorithms);

// The smallest timed size from 256 KiB (of all sizes, if none is that large) that reaches at least 80% of the highest bytes per
// second. Smaller buckets waste the network; larger ones only begin later. Sizes below 256 KiB are left out because links that
// pass short bursts look too fast there, and because each bucket has a fixed cost.
std::size_t best_bucket_bytes(const AllreduceTimings& timings, const std::vector<AllreduceChoice>& choices);

// A sum that is timed again to check old timings: the largest timed size that takes at most 0.25 s, otherwise the smallest size.
struct ConfirmingSum {
  std::size_t algorithm = 0, bytes = 0;
  double seconds = 0;
};
ConfirmingSum confirming_sum(const AllreduceTimings& timings, const std::vector<AllreduceChoice>& choices);
// Whether the new time fresh_s is within a factor of 1.5 of the old time.
bool is_confirmed(const ConfirmingSum& sum, double fresh_s);

// Text file format: a line with the format's name and `key`, a line with the algorithms, the lines "shape" and "model" with their
// numbers, one line per size, and a last line with the number of sizes.
std::string to_text(const AllreduceTimings& timings, std::string_view key);
// Empty unless the text is complete and has this format and this key.
std::optional<AllreduceTimings> parse_timings(std::string_view text, std::string_view key);

} // namespace dt::comm
