// Departures: ranks of the user's own program that have ended without a result or an error while others run, and whether these
// wait for them. A launcher says nothing of a rank that ends with exit code 0.
#pragma once

#include "core/record/attempt_files.hpp"
#include "core/record/rank_state.hpp"
#include "core/record/run_record.hpp"
#include "jobs/program/reports/rank_report.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dt::jobs {

class Departures {
 public:
  Departures(AttemptFolder attempt, const RunSpec& spec) : attempt_(std::move(attempt)), spec_(spec) {}

  // Looks which ranks have ended, and whether the others still report or compute. `started`: all ranks.
  // `has_root_result`: rank 0 has printed its result.
  void look(const std::map<std::size_t, RankLine>& started, bool has_root_result);
  // The ranks that have left, for stall.json; empty if all run or have ended as they should.
  std::vector<MissingRank> missing() const;
  // The first of the ranks that have left, if it was seen to have done so before this rank ended.
  std::optional<MissingRank> left_before(int other) const;
  // That a rank has left and another one waits for it, in a sentence; else empty. The other ranks wait if they have neither
  // reported nor computed anything for train.stall_after. With `is_at_limit` one of the two is enough, because the run ends
  // anyway.
  std::string cause(bool is_at_limit) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Rank {
    RankLine start;
    int process = 0;                 // 0: not known
    std::uintmax_t report_bytes = 0; // of its report when it was read
    std::optional<Clock::time_point> left;
    std::int64_t step = 0;
    bool has_word = false; // it has told a result or an error
  };

  std::string ending_of(const Rank& rank) const;
  MissingRank words_of(std::size_t number, const Rank& rank) const;
  bool is_here(const Rank& rank) const;
  bool is_over(std::size_t number, Rank& rank) const;
  void read_report(std::size_t number, Rank& rank) const;
  void look_at_those_who_stay();
  const std::pair<const std::size_t, Rank>* first_left() const;

  AttemptFolder attempt_;
  RunSpec spec_;
  std::map<std::size_t, Rank> ranks_;
  Clock::time_point looked_{}, last_word_{};
  std::uintmax_t written_ = 0;             // by all ranks
  double busy_s_ = 0, busy_at_word_s_ = 0; // processor time that the running ranks here wanted
};

// Whether an error says only that another rank has gone: of Gloo, NCCL and PyTorch's store.
bool tells_lost_peer(std::string_view cause);

// Exists when a rank has ended on a host where dtjob does not run.
std::filesystem::path left_file(const AttemptFolder& attempt, std::size_t rank);

} // namespace dt::jobs
