// Times all allreduces on the ranks of a communicator.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/choice/allreduce_timings.hpp"

namespace dt::comm {

// Times every algorithm of the machine other than `dynamic` that supports the wire format, at 1 KiB, 4 KiB, … up to
// options.largest_bytes (16 MiB if unknown; at most 64 MiB), and at options.largest_bytes itself. Each size gets an equal share
// of options.timing_s and at least three rounds. A round is one sum by each algorithm in turn, timed from a barrier to the
// slowest rank's end. Algorithms that are clearly slower than the best leave the race. From 256 KiB up, algorithms that the model
// predicts to be hopeless do not enter. Races that stay undecided, as on a busy machine, continue until up to twice
// options.timing_s. A size whose three rounds would exceed three times options.timing_s in total is skipped, and so are all
// larger ones. Where one time is exact (timing_repeats()), each algorithm makes one sum at each size, whatever the sum takes, and
// those that the model predicts to be hopeless do not enter from the second size on. The result is equal on all ranks. The
// traffic is not counted. Collective.
AllreduceTimings time_allreduces(const AllreduceOptions& options, Communicator& comm);

// Whether time_allreduces could have timed all these algorithms. Cached timings of an unknown algorithm come from another program
// version, and an entry for `dynamic` would make it select itself without end. Collective.
bool could_be_timed(const std::vector<std::string>& names, const AllreduceOptions& options, Communicator& comm);

// The sizes to time, ascending, in bytes. Pure.
std::vector<std::size_t> sizes_to_time(std::size_t largest_bytes);

// Number of short sums to time in a row when the fastest algorithm takes `fastest_s` per sum; 1 for sums that take 20 ms or move
// 256 KiB. After a pause a link passes a burst quickly, so a single short sum would look faster than consecutive sums. Pure.
int calls_in_a_row(std::size_t bytes, double fastest_s);

// Seconds from a barrier until this rank has the sum: the mean of `calls` consecutive calls, passed through options.seen_s if
// that is set. Collective.
double time_sum(Allreduce& allreduce, const std::string& name, std::span<float> values, int calls,
                const AllreduceOptions& options, Communicator& comm);

// options with another algorithm.
AllreduceOptions with_algorithm(AllreduceOptions options, const std::string& algorithm);

} // namespace dt::comm
