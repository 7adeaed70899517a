// Keys that a study tunes (study.tune.keys): their ranges.
//
//   range = from ".." to [ SP ( "log" | "linear" ) ]        "0.001..1", "1..64", "0.5..0.99 linear"
//
// Without a word it is logarithmic if both ends are above 0, else linear.
#pragma once

#include "core/spec/run_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dt {

// A key that is tuned, and the range in which its search begins.
struct TunedKey {
  std::string path; // "optimizer.learning_rate"
  double from = 0, to = 0;
  bool is_logarithmic = true; // equal ratios; the range is then above 0
  bool is_integer = false;
  double least = 0, most = 0; // values that the key can have at all
};

// A numeric key of `optimizer` or `sync`, or an entry of `program.parameters`. Throws a recipe error that says what is wrong with
// the key or its range.
TunedKey tuned_key(const std::string& path, const std::string& range);

// The keys that are tuned for a run, in the order of their names: those of study.tune.keys without keys of `sync` that its
// strategy does not read.
std::vector<TunedKey> tuned_keys(const RunSpec& run);

// The fewest runs that a search of `keys` keys needs. With fewer it cannot try a worse setting on both sides of the best one.
constexpr std::int64_t least_tuning_runs(std::size_t keys) { return keys < 2 ? 6 : 12; }

// The repeat of a setting's first run in a search: beyond those of results (study.repeats is at most 10,000), so that a study
// with more results has the same search.
inline constexpr std::int64_t first_search_repeat = 10000;

// The value of a tuned key as a recipe has it: a whole number for an integer, else its shortest form.
std::string tuned_text(const TunedKey& key, double value);

} // namespace dt
