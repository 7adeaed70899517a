#include "engine/train/job/job_overseer.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "engine/train/step/step_timer.hpp"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>

namespace dt::train {
namespace {

constexpr std::size_t kept_checkpoints = 2; // one stays intact while the next is written

std::string explanation(const std::string& latest)
{
  return latest.empty() ? "There is none of this attempt yet." : latest + " stays the latest.";
}

} // namespace

JobOverseer::JobOverseer(Options options) : options_(std::move(options)), written_s_(comm::monotonic_s()) {}

Overseer::Request JobOverseer::request()
{
  const int signal = signal_.load(std::memory_order_relaxed);
  Request request{.time_limit = signal == SIGUSR1, .preemption = signal == SIGTERM};
  if (!options_.is_root) return request;
  request.cancel = cancelled_.load(std::memory_order_relaxed);
  request.checkpoint = options_.checkpoint_every_s > 0 && comm::monotonic_s() - written_s_ >= options_.checkpoint_every_s;
  return request;
}

bool JobOverseer::is_cancelled()
{
  std::error_code ignored;
  return options_.is_root &&
         (cancelled_.load(std::memory_order_relaxed) || std::filesystem::exists(options_.attempt.cancel(), ignored));
}

void JobOverseer::checkpoint(const TrainingProgress& progress, const Snapshot& snapshot, const Request& agreed)
{
  if (!options_.is_root) return snapshot.save(nullptr);
  try {
    write(progress, snapshot);
  } catch (const Error& error) {
    complain(progress, error.what(), agreed.stops());
  }
  written_s_ = comm::monotonic_s();
}

void JobOverseer::write(const TrainingProgress& progress, const Snapshot& snapshot) const
{
  const double begin_s = comm::monotonic_s();
  std::unique_ptr<CheckpointWriter> writer;
  std::exception_ptr refused;
  try {
    writer = std::make_unique<CheckpointWriter>(options_.attempt.checkpoints(), options_.owner, progress, snapshot.tensors());
  } catch (const Error&) {
    refused = std::current_exception(); // the other ranks still send their tensors
  }
  snapshot.save(writer.get());
  if (refused) std::rethrow_exception(refused);
  const auto file = writer->commit();
  prune_checkpoints(options_.attempt.checkpoints(), kept_checkpoints);
  fmt::print("step {}: checkpoint {}, {}, written in {}\n", progress.step, file.path.filename().string(),
             format_bytes(static_cast<double>(file.bytes)), format_seconds(comm::monotonic_s() - begin_s));
  std::fflush(stdout);
}

void JobOverseer::complain(const TrainingProgress& progress, const std::string& cause, bool stopping)
{
  if (complained_ && !stopping) return;
  complained_ = true;
  fmt::print(stderr, "dtengine: step {}: no checkpoint could be written: {}. {}{}\n", progress.step, cause,
             explanation(latest_checkpoint()), stopping ? "" : " The run goes on; later failures of this kind are not told.");
  std::fflush(stderr);
}

std::string JobOverseer::last_checkpoint() const
{
  try {
    for (int number = options_.attempt.number(); number > 0; --number) {
      const auto all = list_checkpoints(AttemptFolder(options_.attempt.run_folder(), number).checkpoints());
      if (!all.empty()) return all.front().string();
    }
  } catch (const Error&) { // the path is only an addition to an error message
  }
  return {};
}

std::string JobOverseer::latest_checkpoint() const
{
  try {
    const auto all = list_checkpoints(options_.attempt.checkpoints());
    return all.empty() ? "" : all.front().filename().string();
  } catch (const Error&) { // an error has already happened, so this one is ignored
    return "";
  }
}

} // namespace dt::train
