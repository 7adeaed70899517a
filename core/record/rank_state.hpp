// states/rank-<r> and stall.json of an attempt: what each rank was doing when it was asked, and which ranks delayed the others.
#pragma once

#include "core/record/attempt_files.hpp"
#include "core/record/field.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dt {

struct RankState {
  int rank = 0;
  std::string host;
  std::int64_t step = 0;   // the step in progress, or the last completed step
  std::string what;        // the rank's activity: "waits for a gradient"
  int peer = -1;           // the rank it waits for; -1: none, or unknown
  bool waiting = false;    // the rank only waits for other ranks
  double since_unix_s = 0; // when the rank was first seen in this activity
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
  double unix_s = 0;                     // when the stall was noticed
  double stalled_s = 0;                  // time without progress until then
  std::int64_t step = 0;                 // step of rank 0
  std::vector<MissingRank> missing;      // ranks that the others wait for; empty: all ranks wait, and all at the same step
  std::vector<RankState> ranks;          // only the ranks that answered
  double resolved_unix_s = not_measured; // when a step was completed again
};

std::string to_json(const StallRecord& stall);
std::optional<StallRecord> read_stall(const AttemptFolder& attempt);
// Returns "rank 2 on node7 has not answered; rank 3 on node8 computes the backward pass".
std::string words_of(const std::vector<MissingRank>& missing);

} // namespace dt
