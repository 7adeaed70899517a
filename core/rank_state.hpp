// What ranks were doing when they were asked, and who kept the others waiting: states/rank-<r> and stall.json of an attempt.
#pragma once

#include "core/run_record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dt {

struct RankState {
  int rank = 0;
  std::string host;
  std::int64_t step = 0; // in progress, or the last one done
  std::string what;      // "waits for a gradient"
  int peer = -1;         // the rank it waits for; -1: none, or not known
  bool waiting = false;  // for other ranks, doing nothing else
  double since_unix_s = 0; // it has been seen doing so
  double unix_s = 0;
};

std::filesystem::path state_path(const AttemptFolder& attempt, int rank);
std::string to_json(const RankState& state);
std::optional<RankState> read_rank_state(const AttemptFolder& attempt, int rank);

struct MissingRank {
  int rank = 0;
  std::string host;
  std::string why; // "has not answered", "computes the backward pass", "is at step 7 of 8"
};

struct StallRecord {
  double unix_s = 0;    // when it was noticed
  double stalled_s = 0; // without progress by then
  std::int64_t step = 0; // of rank 0
  std::vector<MissingRank> missing; // who has not arrived; empty: every rank waits, and all at one step
  std::vector<RankState> ranks;     // of those that answered
  double resolved_unix_s = not_measured; // when steps were done again
};

std::string to_json(const StallRecord& stall);
std::optional<StallRecord> read_stall(const AttemptFolder& attempt);
// "rank 2 on node7 has not answered; rank 3 on node8 computes the backward pass".
std::string words_of(const std::vector<MissingRank>& missing);

} // namespace dt
