#include "engine/sync/exchange/node_step.hpp"

#include "core/spec/optimizer_table.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/units.hpp"
#include "engine/sync/exchange/isolated.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include <fmt/format.h>

namespace dt::sync {
namespace {

// Floats of a piece: 16 KiB.
constexpr std::size_t piece = 4096;
// A shorter slice is processed by one thread: waking a team would cost more than it saves.
constexpr std::size_t smallest_shared = 128 * 1024;

bool sums_in_node_memory(const SyncSpec& sync)
{
  return !reads(sync.strategy, "sync.allreduce") || sync.allreduce == "hierarchical";
}

// Sums of what the ranks told at their last meeting.
comm::SharedVectors::Note sums_of_notes(const comm::SharedVectors& memory, bool rounds)
{
  comm::SharedVectors::Note sums{};
  for (std::size_t i = 0; i < sums.size(); ++i)
    for (int rank = 0; rank < memory.ranks(); ++rank) {
      const double told = memory.note_of(rank)[i];
      sums[i] = rounds ? static_cast<double>(static_cast<float>(sums[i]) + static_cast<float>(told)) : sums[i] + told;
    }
  return sums;
}

void meet(comm::SharedVectors& memory, const comm::SharedVectors::Note& note, const char* waits_for, comm::Communicator& comm,
          PhaseClock& clock)
{
  comm.activity().enter(comm::Doing::waits, waits_for);
  clock.begin_communication();
  memory.meet(note);
  clock.end_communication();
}

} // namespace

bool shares_weights(const RunSpec& spec, const StrategyParts& parts)
{
  return parts.comm.size() > 1 && parts.topology.nodes() == 1 && strategy_row(spec.sync.strategy).keeps_equal &&
         sums_in_node_memory(spec.sync) && parts.sync.progress != ProgressMode::thread && spec.optimizer.clip_norm <= 0 &&
         !optimizer_row(spec.optimizer.name).has_norms;
}

void sum_own_slice(const comm::SharedVectors& memory, const TakeSums& take)
{
  const auto slice = memory.slice();
  const auto pieces = (slice.size() + piece - 1) / piece;
  std::exception_ptr failure;
#pragma omp parallel for schedule(static) if (slice.size() >= smallest_shared)
  for (std::size_t p = 0; p < pieces; ++p) {
    alignas(64) std::array<float, piece> sums;
    const auto begin = slice.begin + p * piece;
    const std::span part(sums.data(), std::min(piece, slice.end - begin));
    try {
      memory.sum(begin, part);
      take(begin, part);
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

double update_in_node(const BatchLoss& loss, bool rounds_loss, NodeSlices& slices, GradientNoise& noise, comm::Communicator& comm,
                      PhaseClock& clock)
{
  auto& memory = slices.memory();
  const auto samples = static_cast<double>(loss.samples);
  noise.add_own(memory.own(), 0);
  meet(memory, {loss.mean * samples, samples}, "waits for the gradients of its node's ranks", comm, clock);
  // sum_i loss_i n_i / sum_i n_i over the ranks' batches of n_i samples
  const auto losses = sums_of_notes(memory, rounds_loss);

  comm.activity().enter(comm::Doing::works, "updates weights");
  const float factor = 1.0F / static_cast<float>(memory.ranks());
  clock.begin_update();
  slices.begin_update();
  // W <- opt(W, sum_r g^r / R)
  sum_own_slice(memory, [&](std::size_t begin, std::span<const float> sums) {
    noise.add_sum(sums, begin);
    slices.update_slice(begin, sums, factor);
  });
  clock.end_update();

  meet(memory, {noise.own(), noise.sum()}, "waits for the weights of its node's ranks", comm, clock);
  if (noise.measures()) {
    const auto [own, sum] = sums_of_notes(memory, false);
    noise.end_step(own, sum);
  }
  return losses[0] / losses[1];
}

double isolated_in_node_s(comm::SharedVectors& memory, comm::Communicator& comm)
{
  return measure_isolated_s(comm, [&] {
    memory.meet();
    sum_own_slice(memory, [](std::size_t, std::span<const float>) {});
    memory.meet();
  });
}

std::string describe(const comm::SharedVectors& memory)
{
  const auto& pages = memory.memory();
  return fmt::format(
      "one copy on the node, in {} of shared memory ({}; huge pages: {}); {} ranks update a slice each and {} while "
      "they wait",
      format_bytes(static_cast<double>(pages.size())), pages.has_own_file() ? "a file of our own" : "a window of the MPI library",
      comm::huge_pages_of_shared_memory(), memory.ranks(), memory.waiting() == comm::Waiting::spins ? "poll" : "sleep");
}

} // namespace dt::sync
