// What each allreduce takes at a few sizes, and which one to take at any size. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::engine {

struct AllreduceTimings {
  std::vector<std::string> algorithms;      // the first is taken where none is clearly faster
  std::vector<std::size_t> bytes;           // ascending
  std::vector<std::vector<double>> seconds; // of each size, of each algorithm
};

// From so many bytes up to the next choice: that algorithm of the timings.
struct AllreduceChoice {
  std::size_t from_bytes = 0;
  std::size_t algorithm = 0;
  friend bool operator==(const AllreduceChoice&, const AllreduceChoice&) = default;
};

// The fastest at each size; but the first algorithm where it is at most 5% slower, else the one of the size before where that is
// at most 5% slower, so that noise does not decide.
// Between two sizes with different winners, the change is where straight lines through their times cross, both axes
// logarithmic. Below the least size and above the largest the nearest one decides. Ascending, the first from 0 bytes up.
std::vector<AllreduceChoice> choose(const AllreduceTimings& timings);

// Index into choices that holds for so many bytes.
std::size_t choice_for(const std::vector<AllreduceChoice>& choices, std::size_t bytes);

// "mpi, hierarchical from 14.2 KiB, ring from 1.0 MiB".
std::string in_words(const std::vector<AllreduceChoice>& choices, const std::vector<std::string>& algorithms);

// The least of the sizes from 256 KiB on (of all, when none is as large) at which the choices move at least 80% of the most bytes a
// second that they move at any of them: smaller buckets would waste the network, larger ones would only begin later. Below, links
// that let a burst pass look faster than they are, and each bucket costs a hand-over.
std::size_t best_bucket_bytes(const AllreduceTimings& timings, const std::vector<AllreduceChoice>& choices);

// As a text file: a line that names the format and `key`, a line of algorithms, a line a size, a last line that says how many
// sizes there are.
std::string to_text(const AllreduceTimings& timings, std::string_view key);
// Nothing unless the text is whole, of this format, and of this key.
std::optional<AllreduceTimings> parse_timings(std::string_view text, std::string_view key);

} // namespace dt::engine
