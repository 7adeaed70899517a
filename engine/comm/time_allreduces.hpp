// Timing of all allreduces on the ranks at hand.
#pragma once

#include "engine/comm/allreduce.hpp"
#include "engine/comm/allreduce_timings.hpp"

namespace dt::engine {

// Every other algorithm that has this wire format, at sizes of 1 KiB, 4 KiB, … up to options.largest_bytes (16 MiB where that is not
// known; 64 MiB at most), and at options.largest_bytes itself. Each size has its share of options.timing_s, and at least three
// rounds: sums by all algorithms in turn, each from a common start to the slowest rank's end. Those that are clearly slower than the
// best leave the race; those that the model of the smaller sizes predicts to be hopeless do not enter it, from 256 KiB up. Races that are
// open in the end, as on a busy machine, go on up to twice options.timing_s. Sizes are left out when three rounds would take longer than
// is left of three times options.timing_s. Equal on all ranks. Not counted as
// traffic. Collective.
AllreduceTimings time_allreduces(const AllreduceOptions& options, Communicator& comm);

// Whether time_allreduces could have timed all of these. A cache that names another algorithm is not of this program, and one that
// names `dynamic` would make it choose itself without end. Collective.
bool could_be_timed(const std::vector<std::string>& names, const AllreduceOptions& options, Communicator& comm);

// The sizes that are timed, ascending. Pure.
std::vector<std::size_t> sizes_to_time(std::size_t largest_bytes);

// How many short sums to time in a row when the fastest algorithm takes `fastest_s` for one; 1 for sums that take 20 ms or move
// 256 KiB. A link lets a burst pass after a pause, so a single short sum would look faster than sums that follow one another. Pure.
int calls_in_a_row(std::size_t bytes, double fastest_s);

// Seconds from a common start until this rank has the sum of these values, as the options see them; the mean of so many calls in a
// row. Collective.
double time_sum(Allreduce& allreduce, const std::string& name, std::span<float> values, int calls, const AllreduceOptions& options,
                Communicator& comm);

// options with another algorithm.
AllreduceOptions with_algorithm(AllreduceOptions options, const std::string& algorithm);

} // namespace dt::engine
