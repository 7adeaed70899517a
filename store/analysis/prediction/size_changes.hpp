// What changes between the largest measured size and one that is predicted: what makes a prediction an extrapolation. Pure
// functions.
#pragma once

#include "store/analysis/prediction/calibration.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// Servers and links that work at least for this share of the time limit the throughput.
inline constexpr double saturated_share = 0.8;
// A size beyond this multiple of the largest measured one is far away.
inline constexpr double far_beyond = 4;

struct SizeChange {
  enum class Kind { distance, network, trunk, server_saturates, link_saturates, ranks_per_node, small_batch, algorithm };
  Kind kind{};
  std::string text{};     // "the servers saturate: busy 70 % of the time at 9 nodes, 100 % at 17"
  bool is_certain = true; // by the best fit, or by arithmetic; otherwise it may happen
};

// "server_saturates", for programs.
std::string_view name_of(SizeChange::Kind kind);

// The sizes from which and to which it is predicted, with their steps by the best fit; and the steps at `to` by other fits that
// agree with the measurements, which tell what may happen.
struct SizeStep {
  StudySize from{}, to{};
  PredictedStep step_from{}, step_to{};
  std::span<const PredictedStep> possible{};
};

std::vector<SizeChange> changes_between(const Calibration& calibration, const SizeStep& sizes);

// Whether one of them is certain.
bool is_extrapolation(std::span<const SizeChange> changes);
// Whether a server or a link saturates, or messages pass trunks or a network that none of them passed before.
bool is_past_knee(std::span<const SizeChange> changes);

// "9 nodes", "1 rank".
std::string in_units(const SeriesTraits& traits, std::int64_t size);

} // namespace dt::store
