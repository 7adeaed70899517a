#include "engine/train/record/watcher.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/units.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/train/record/stop_signals.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace dt::train {
namespace {

namespace fs = std::filesystem;

// All ranks of a job get a signal at the same time; one `dump` within this period is enough for all.
constexpr auto one_question = std::chrono::seconds(10);

std::optional<fs::file_time_type> time_of(const fs::path& path)
{
  std::error_code absent;
  const auto time = fs::last_write_time(path, absent);
  return absent ? std::nullopt : std::optional(time);
}

std::string name_of_signal(int signal) { return signal == SIGUSR1 ? "SIGUSR1" : signal == SIGUSR2 ? "SIGUSR2" : "SIGTERM"; }

void say(const std::string& words)
{
  fmt::print(stderr, "dtengine: {}\n", words);
  std::fflush(stderr);
}

using States = std::vector<std::optional<RankState>>;

std::vector<MissingRank> select(const States& states, const std::vector<std::string>& hosts,
                                const std::function<std::string(const std::optional<RankState>&)>& why)
{
  std::vector<MissingRank> missing;
  for (std::size_t rank = 0; rank < states.size(); ++rank)
    if (auto words = why(states[rank]); !words.empty())
      missing.push_back({static_cast<int>(rank), hosts.at(rank), std::move(words)});
  return missing;
}

std::string absence(const std::optional<RankState>& state)
{
  if (!state) return "has not answered";
  return state->waiting ? "" : state->what;
}

} // namespace

std::vector<MissingRank> missing_ranks(const States& states, const std::vector<std::string>& hosts)
{
  if (auto absent = select(states, hosts, absence); !absent.empty()) return absent;
  std::int64_t latest = 0;
  for (const auto& state : states) latest = std::max(latest, state->step);
  return select(states, hosts, [&](const auto& state) {
    return state->step < latest ? fmt::format("is at step {} of {}", state->step, latest) : "";
  });
}

StallInspector::StallInspector(Options options) : options_(std::move(options))
{
  std::error_code ignored;
  std::filesystem::remove(options_.attempt.stall(), ignored); // left by a launch that died before its first step
}

void StallInspector::look(std::int64_t advances, std::int64_t step, double now_s)
{
  if (options_.after_s <= 0) return;
  if (advances != std::exchange(advances_, advances) || advanced_s_ < 0) return progressed(now_s);
  if (told_) return;
  if (!asked_s_) {
    if (now_s - advanced_s_ >= options_.after_s) ask(now_s);
    return;
  }
  const auto states = answers();
  const bool all = std::all_of(states.begin(), states.end(), [](const auto& state) { return state.has_value(); });
  if (all || now_s - *asked_s_ >= options_.answer_s) conclude(step, now_s);
}

void StallInspector::progressed(double now_s)
{
  asked_s_.reset();
  if (told_) {
    told_->resolved_unix_s = now_unix_s();
    write();
    options_.say(fmt::format("the training goes on, after {} without progress", format_duration(now_s - advanced_s_)));
    told_.reset();
  }
  advanced_s_ = now_s;
}

// Removes old states first, because they would count as answers.
void StallInspector::ask(double now_s)
{
  std::error_code ignored;
  std::filesystem::remove_all(options_.attempt.states(), ignored);
  options_.ask();
  asked_s_ = now_s;
}

// An unreadable answer counts as no answer: the inspector must not end the run.
std::optional<RankState> StallInspector::answer_of(int rank) const
{
  try {
    return read_rank_state(options_.attempt, rank);
  } catch (const Error&) {
    return std::nullopt;
  }
}

States StallInspector::answers() const
{
  States states;
  for (std::size_t rank = 0; rank < options_.hosts.size(); ++rank) states.push_back(answer_of(static_cast<int>(rank)));
  return states;
}

void StallInspector::conclude(std::int64_t step, double now_s)
{
  asked_s_.reset();
  const auto states = answers();
  told_ = StallRecord{.unix_s = now_unix_s(),
                      .stalled_s = now_s - advanced_s_,
                      .step = step,
                      .missing = missing_ranks(states, options_.hosts),
                      .ranks = {}};
  for (const auto& state : states)
    if (state) told_->ranks.push_back(*state);
  write();
  options_.say(fmt::format(
      "no progress for {}, at step {}: {}. What all ranks were doing stands in {}.", format_duration(told_->stalled_s), step,
      told_->missing.empty() ? "all ranks wait for each other" : words_of(told_->missing), options_.attempt.stall().string()));
}

void StallInspector::write() const
{
  try {
    write_file_atomic(options_.attempt.stall(), to_json(*told_));
  } catch (const Error&) {
    // Standard error has the same report.
  }
}

Watcher::Watcher(const Options& options, const comm::Activity& activity)
    : options_(options), activity_(activity), asked_(time_of(options.attempt.dump()))
{
  if (options_.rank == 0)
    inspector_.emplace(StallInspector::Options{.attempt = options_.attempt,
                                               .hosts = options_.hosts,
                                               .after_s = options_.stall_after_s,
                                               .answer_s = 2 * options_.look_every_s + 1,
                                               .ask = [this] { ask("no progress"); },
                                               .say = say});
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

Watcher::~Watcher()
{
  thread_.request_stop();
  ::pthread_kill(thread_.native_handle(), SIGUSR2); // ends the thread's wait for signals
  thread_.join();
  if (was_asked()) answer();
}

void Watcher::work(const std::stop_token& stop)
{
  double looked_s = comm::monotonic_s();
  while (!stop.stop_requested()) {
    const int signal = wait_for_signal(options_.tick_s);
    observe();
    if (signal != 0 && !stop.stop_requested()) take(signal);
    if (comm::monotonic_s() - looked_s >= options_.look_every_s) {
      if (was_asked()) answer();
      looked_s = comm::monotonic_s();
    }
    if (inspector_) inspector_->look(activity_.advances(), activity_.step(), comm::monotonic_s());
  }
}

void Watcher::take(int signal)
{
  // Handle the stop first: the sender may kill the rank soon, and writing the files below may take seconds on a busy disk.
  if (signal != SIGUSR2) options_.told_to_stop(signal);
  const auto asked = time_of(options_.attempt.dump());
  if (!asked || *asked + one_question < fs::file_time_type::clock::now())
    ask(name_of_signal(signal));
  else if (was_asked() || signal == SIGUSR2)
    answer();
}

// The computing thread records what it does but not when, because reading the clock each time would cost too much. So this thread
// records the time.
void Watcher::observe()
{
  const auto now = state();
  const auto advances = activity_.advances();
  const bool same = now.what == seen_.what && now.peer == seen_.peer && advances == seen_advances_;
  const double since_unix_s = same ? seen_.since_unix_s : now.unix_s;
  seen_ = now;
  seen_.since_unix_s = since_unix_s;
  seen_advances_ = advances;
}

RankState Watcher::state() const
{
  const auto occupation = activity_.occupation();
  return {.rank = options_.rank,
          .host = options_.hosts.at(static_cast<std::size_t>(options_.rank)),
          .step = activity_.step(),
          .what = activity_.what(),
          .peer = occupation.peer,
          .waiting = occupation.doing == comm::Doing::waits,
          .since_unix_s = 0,
          .unix_s = now_unix_s()};
}

// Whether there is a new `dump`. Marks it as answered.
bool Watcher::was_asked()
{
  const auto asked = time_of(options_.attempt.dump());
  return asked && asked != std::exchange(asked_, asked);
}

void Watcher::ask(const std::string& why)
{
  try {
    replace_file(options_.attempt.dump(), fmt::format("{} rank {} {}\n", why, options_.rank, now_unix_s()));
  } catch (const Error& error) {
    return say(fmt::format("rank {}: the other ranks could not be asked what they are doing: {}", options_.rank, error.what()));
  }
  asked_ = time_of(options_.attempt.dump());
  answer();
}

void Watcher::answer()
{
  observe();
  try {
    make_folder(options_.attempt.states());
    replace_file(state_path(options_.attempt, options_.rank), to_json(seen_));
  } catch (const Error& error) {
    say(fmt::format("rank {}: what it is doing could not be written: {}", options_.rank, error.what()));
  }
}

} // namespace dt::train
