#include "core/record/attempt/attempt_writer.hpp"

#include "core/error.hpp"
#include "core/files/descriptor.hpp"
#include "core/files/file.hpp"
#include "core/files/file_at.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace dt {
namespace {

using Clock = std::chrono::steady_clock;

// A few pages, freed so that error.json and dtjob's `end` can be written when the disk is full.
constexpr std::size_t reserve_bytes = 32 * 1024;

std::string fenced_off(int successor) { return fmt::format("fenced off by attempt {}: it writes nothing more", successor); }

// The sentence if there is a fence. Nothing, too, if the file system does not answer; a later call may find it.
std::string look_for_fence(const AttemptFolder& attempt)
{
  try {
    const auto successor = fenced_by(attempt);
    return successor ? fenced_off(*successor) : "";
  } catch (const std::exception&) {
    return {};
  }
}

// Ranks on other nodes use the same folder, so it may be gone.
void free_reserve(const AttemptFolder& attempt)
{
  std::error_code ignored;
  std::filesystem::remove(attempt.reserve(), ignored);
}

// Frees the reserved space for a last file of the attempt. Returns why the attempt must not be written to; empty if it may be.
std::string make_room(const AttemptFolder& attempt)
{
  auto refusal = look_for_fence(attempt);
  if (refusal.empty()) free_reserve(attempt);
  return refusal;
}

std::string put_error(const AttemptFolder& attempt, const RankError& error)
{
  auto refusal = make_room(attempt);
  if (!refusal.empty()) return refusal;
  create_file_exclusive(attempt.error(), to_json(error));
  return {};
}

// Waits for the thread that writes the file, and returns its result. Throws an environment error if the thread needs longer than
// the limit.
std::string answer_within(std::future<std::string>& answer, double limit_s, const std::filesystem::path& path)
{
  if (answer.wait_for(std::chrono::duration<double>(limit_s)) == std::future_status::ready) return answer.get();
  throw Error(ErrorKind::environment, fmt::format("{} could not be written within {}: the file system does not answer.",
                                                  path.string(), format_seconds(limit_s)));
}

} // namespace

AttemptFolder require_attempt(const std::filesystem::path& path)
{
  AttemptFolder attempt(path);
  if (attempt.number() == 0)
    throw Error(ErrorKind::usage,
                "--attempt must name <run folder>/attempts/<number>, not " + printable(attempt.path().string()) + ".");
  return attempt;
}

void require_unaltered(const PlannedRun& run, const std::filesystem::path& path)
{
  const auto key = run_key(run.spec, run.engine_build, run.data_id, run.start_id, run.environment_id);
  if (key == run.key) return;
  throw Error(ErrorKind::run,
              fmt::format("{} was altered after the run was planned: its key is {}, but its content has the key {}. "
                          "Submit the recipe again: it becomes a new run.",
                          path.string(), printable(run.key), key));
}

RankError own_error(int rank, const std::string& cause, std::int64_t step)
{
  return {rank, host_name(), cause, step, now_unix_s()};
}

// A system call that waits for a dead file server cannot be ended, so a thread of its own makes it, which goes on with its
// copies.
std::string record_error(const AttemptFolder& attempt, const RankError& error, double limit_s)
{
  std::packaged_task<std::string()> task([attempt, error] { return put_error(attempt, error); });
  auto recorded = task.get_future();
  std::thread(std::move(task)).detach();
  return answer_within(recorded, limit_s, attempt.error());
}

std::string record_preemption(const AttemptFolder& attempt, const Preemption& preemption)
{
  auto refusal = make_room(attempt);
  if (!refusal.empty()) return refusal;
  write_file_atomic(attempt.preempted(), to_json(preemption));
  return {};
}

namespace {
void append(const std::filesystem::path& path, const std::string& line)
{
  auto file = open_regular(path, O_WRONLY | O_CREAT | O_APPEND);
  write_all(file.get(), line, path);
  if (file.close() != 0) throw system_error("write " + path.string(), errno);
}
} // namespace

void record_wish(const AttemptFolder& attempt, const Wish& wish) { append(attempt.asked(), to_line(wish)); }

void record_launch(const AttemptFolder& attempt, const Launch& launch) { append(attempt.launches(), to_line(launch)); }

void record_cause(const AttemptFolder& attempt, const FailureCause& cause)
{
  free_reserve(attempt);
  write_file_atomic(attempt.cause(), to_json(cause));
}

void record_end(const AttemptFolder& attempt, const JobEnd& end)
{
  free_reserve(attempt);
  replace_file(attempt.end(), to_line(end));
}

std::string AttemptWriter::begin(const BeginRecord& record)
{
  if (!refusal().empty()) return refusal_;
  try {
    has_begun_ = create_file_exclusive(attempt_.begin(), to_json(record)) || may_have_begun_;
  } catch (const std::exception&) {
    may_have_begun_ = true;
    throw;
  }
  if (!has_begun_)
    refusal_ =
        fmt::format("{} exists: this attempt was started before, by another process. Nothing was written; to try again, make "
                    "a new attempt (dtctl retry).",
                    attempt_.begin().string());
  return refusal_;
}

const std::string& AttemptWriter::refusal()
{
  if (refusal_.empty()) refusal_ = look_for_fence(attempt_);
  return refusal_;
}

void AttemptWriter::start(ThreadOptions options)
{
  options_ = std::move(options);
  replace_file(attempt_.reserve(), std::string(reserve_bytes, '\0'));
  beat_if_due();
  std::promise<void> end;
  work_end_ = end.get_future();
  thread_ = std::jthread([this, end = std::move(end)](const std::stop_token& stop) mutable {
    work(stop);
    end.set_value();
  });
}

void AttemptWriter::progress(std::int64_t step, std::int64_t steps)
{
  const std::lock_guard lock(mutex_);
  heartbeat_.step = step;
  heartbeat_.steps = steps;
}

void AttemptWriter::work(const std::stop_token& stop)
{
  const auto write_every = std::chrono::duration<double>(options_.write_every_s);
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, write_every, [] { return false; });
    }
    if (stop.stop_requested()) return;
    try {
      write();
    } catch (const std::exception&) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    try {
      beat_if_due();
    } catch (const Error&) { // readers then see an old heartbeat
    }
  }
}

void AttemptWriter::write()
{
  if (has_begun_ && refusal_.empty()) write_lines(false);
}

void AttemptWriter::write_lines(bool synced)
{
  {
    const std::lock_guard lock(mutex_);
    unwritten_ += added_;
    added_.clear();
  }
  if (unwritten_.empty() && !(synced && written_ > 0)) return;
  const auto path = attempt_.events();
  // A file that was removed is not made anew: its first lines would be missing.
  auto file = open_regular(path, O_WRONLY | (written_ == 0 ? O_CREAT : 0));
  ::lseek(file.get(), written_, SEEK_SET);
  write_all(file.get(), unwritten_, path);
  if (synced && ::fdatasync(file.get()) != 0) throw system_error("sync " + path.string(), errno);
  if (file.close() != 0) throw system_error("write " + path.string(), errno);
  written_ += static_cast<std::int64_t>(unwritten_.size());
  unwritten_.clear();
}

void AttemptWriter::beat_if_due()
{
  if (!has_begun_ || !refusal_.empty()) return;
  if (Clock::now() - beaten_ < std::chrono::duration<double>(options_.beat_every_s)) return;
  if (!refusal().empty()) {
    if (options_.refused) options_.refused(refusal_);
    return;
  }
  std::error_code ignored;
  if (options_.cancelled && std::filesystem::exists(attempt_.cancel(), ignored)) options_.cancelled();
  beat();
}

void AttemptWriter::beat()
{
  Heartbeat beat;
  {
    const std::lock_guard lock(mutex_);
    beat = heartbeat_;
  }
  beat.unix_s = now_unix_s();
  replace_file(attempt_.heartbeat(), to_line(beat));
  beaten_ = Clock::now(); // a heartbeat that could not be written is due at the next call
}

void AttemptWriter::end_lines(bool synced)
{
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  if (!has_begun_ || !refusal().empty()) return;
  write_lines(synced);
  try {
    beat();
  } catch (const Error&) { // the lines tell the same step
  }
  if (failure_) std::rethrow_exception(failure_);
}

void AttemptWriter::close()
{
  end_lines(true);
  if (has_begun_) free_reserve(attempt_);
}

std::string AttemptWriter::commit(const RunResult& result)
{
  close();
  if (!refusal().empty() || commit_result(attempt_, result)) return refusal_;
  return refusal().empty() ? fenced_off(attempt_.number() + 1) : refusal_;
}

std::string AttemptWriter::preempt(const Preemption& preemption)
{
  if (has_begun_)
    free_reserve(attempt_); // the last lines may need it, too: a run that is stopped on a full disk shall go on later
  close();
  return refusal().empty() ? record_preemption(attempt_, preemption) : refusal_;
}

// If the writer's thread does not end, its members are not touched: it may still use them.
std::string AttemptWriter::record_failure(const RankError& error)
{
  thread_.request_stop();
  const std::chrono::duration<double> half(options_.fail_within_s / 2); // the other half is for error.json
  if (thread_.joinable() && work_end_.wait_for(half) != std::future_status::ready) return put_error(attempt_, error);
  try {
    end_lines(false);
  } catch (const std::exception&) { // the error that ends the attempt matters more
  }
  return refusal().empty() ? put_error(attempt_, error) : refusal_;
}

// With a thread of its own for the same reason as record_error(). It uses this object's members, so it is not left behind.
std::string AttemptWriter::fail(const RankError& error)
{
  if (!thread_.joinable()) return record_failure(error);
  std::packaged_task<std::string()> task([this, error] { return record_failure(error); });
  auto recorded = task.get_future();
  failing_ = std::jthread(std::move(task));
  auto refusal = answer_within(recorded, options_.fail_within_s, attempt_.error());
  failing_.join();
  return refusal;
}

} // namespace dt
