#include "engine/train/record/recorder.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/units.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace dt::train {
namespace {

namespace fs = std::filesystem;

int create(const fs::path& path)
{
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) throw system_error("create " + path.string(), errno);
  return descriptor;
}

// Writes to a removed file succeed, so the run would continue without a record; this check ends it.
void require_present(const fs::path& path)
{
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) throw system_error("write " + path.string(), ENOENT);
}

} // namespace

Recorder::Recorder(const Options& options) : options_(options), events_(create(options.attempt.events()))
{
  beat();
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

Recorder::~Recorder()
{
  try {
    close();
  } catch (const std::exception&) {
    // Either close() has already thrown this error, or another error is being handled and matters more.
  }
}

void Recorder::planned(std::int64_t steps)
{
  const std::lock_guard lock(mutex_);
  heartbeat_.steps = steps;
}

void Recorder::step(const StepEvent& event) { append(event, event.step); }
void Recorder::evaluation(const EvalEvent& event) { append(event, event.step); }

template<class Event> void Recorder::append(const Event& event, std::int64_t step)
{
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  append_line(pending_, event);
  heartbeat_.step = step;
}

void Recorder::close()
{
  if (events_ < 0) return;
  thread_.request_stop();
  thread_.join();
  flush(); // lines added after the thread's last flush
  const int descriptor = std::exchange(events_, -1);
  const bool synced = ::fdatasync(descriptor) == 0;
  const int sync_error = errno;
  ::close(descriptor);
  if (failure_) std::rethrow_exception(failure_);
  if (!synced) throw system_error("sync " + options_.attempt.events().string(), sync_error);
}

void Recorder::work(const std::stop_token& stop)
{
  using Clock = std::chrono::steady_clock;
  const auto beat_every = std::chrono::duration<double>(options_.beat_every_s);
  const auto flush_every = std::chrono::duration<double>(options_.flush_every_s);
  auto last_beat = Clock::now();
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, flush_every, [] { return false; });
    }
    const bool beats = Clock::now() - last_beat >= beat_every;
    if (beats && options_.before_beat) options_.before_beat();
    flush();
    if (!beats) continue;
    beat();
    last_beat = Clock::now();
  }
}

void Recorder::flush()
{
  std::string lines;
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    lines.swap(pending_);
  }
  try {
    require_present(options_.attempt.events());
    write_all(events_, lines, options_.attempt.events());
  } catch (const std::exception&) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
}

// Ignores write errors: readers then see an old heartbeat, and writing the event lines reports the error.
void Recorder::beat()
{
  Heartbeat beat;
  {
    const std::lock_guard lock(mutex_);
    beat = heartbeat_;
  }
  beat.unix_s = now_unix_s();
  try {
    replace_file(options_.attempt.heartbeat(), to_line(beat));
  } catch (const Error&) {
  }
}

} // namespace dt::train
