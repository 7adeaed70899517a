#include "engine/comm/machine/message.hpp"

#include "core/spec/simulation_cost.hpp"
#include "engine/sim/machine/simulated_machine.hpp"

#include <algorithm>
#include <cmath>

namespace dt::comm {
namespace {

constexpr MessageLimits real{.chunk_length = 15 * 1024, .posted_receives = 16};

// As many receives are posted as messages leave a link during a latency.
MessageLimits whole_slices(std::size_t shortest)
{
  const auto& platform = sim::simulated_machine().platform;
  const double latency_s = platform.latency_s + (platform.supernodes() > 1 ? platform.trunk_latency_s : 0);
  constexpr double most = most_simulated_ranks;
  const double during_latency =
      latency_s * platform.bandwidth / static_cast<double>(std::max<std::size_t>(1, shortest) * sizeof(float));
  return {.chunk_length = longest_simulated_message,
          .posted_receives = 1 + static_cast<std::size_t>(std::min(most, std::ceil(during_latency))),
          .pace = {.bytes_per_s = platform.bandwidth, .latency_s = latency_s, .shortest_bytes = simulated_eager_bytes}};
}

} // namespace

// What a real machine sends in messages of 60 KiB takes as long in fewer and longer ones.
// - Slices in turn are whole: nothing is passed on before the round is complete, and additions overlap with the transfer although
//   it is one message (begin_pass_over_arrival). A real rank's short messages travel before their receive is posted, so all
//   receives of a round are posted. They go directly to their destination, as all but a few of the short ones do.
// - Of what is passed on, some chunks are enough to keep every link busy: two of each slice at least. One chunk arrives while the
//   last one is added, so there are two receives at least, and no more bytes than on a real machine.
MessageLimits usual_limits(std::size_t length, std::size_t ranks, Travel travel)
{
  if (travel == Travel::slices_in_turn) return whole_slices(length / ranks);
  auto chunk_length = length / simulated_chunks_of_a_vector;
  if (travel == Travel::passed_slices) chunk_length = std::min(chunk_length, (length / ranks + 2) / 2);
  chunk_length = std::max(real.chunk_length, chunk_length);
  return {chunk_length, std::max<std::size_t>(2, real.posted_receives * real.chunk_length / chunk_length)};
}

std::size_t longest_message() { return longest_simulated_message; }

// SMPI keeps the two kinds of messages apart, and a short one may get a receive that was posted for a later long one.
int machine_tag(int tag, std::size_t bytes)
{
  constexpr int short_tags = 1 << 16; // beyond all others
  return bytes < simulated_eager_bytes ? tag + short_tags : tag;
}

std::size_t longest_block_growth() { return longest_simulated_block_growth; }

} // namespace dt::comm
