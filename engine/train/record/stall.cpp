#include "engine/train/record/stall.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dt::train {
namespace {

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

} // namespace dt::train
