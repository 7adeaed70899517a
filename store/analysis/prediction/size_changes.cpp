#include "store/analysis/prediction/size_changes.hpp"

#include "core/counted.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dt::store {
namespace {

using Kind = SizeChange::Kind;
using Changes = std::vector<SizeChange>;

// Exchanges that the servers can answer in the time in which a worker makes one: so many workers keep them busy.
double full_at(const Calibration& calibration, const StudySize& size)
{
  const auto step = served_at(calibration, size);
  const double own_s = static_cast<double>(step.period) * (step.input_s + step.compute_s + step.update_s);
  const double answer_s = step.service_s - step.after_answer_s;
  return static_cast<double>(std::max<std::int64_t>(1, step.threads)) * (own_s + answer_s) / step.service_s;
}

void add_saturation(Changes& changes, const Calibration& calibration, const SizeStep& sizes)
{
  if (sizes.step_from.busy >= saturated_share) return;
  const auto most = std::max_element(sizes.possible.begin(), sizes.possible.end(),
                                     [](const auto& a, const auto& b) { return a.busy < b.busy; });
  const bool is_certain = sizes.step_to.busy >= saturated_share;
  const bool may_be = most != sizes.possible.end() && most->busy >= saturated_share;
  if (!is_certain && !may_be) return;
  const auto& traits = calibration.traits;
  const auto busy =
      fmt::format("busy {} of the time at {}, {} at {}", format_percent(sizes.step_from.busy), in_units(traits, sizes.from.size),
                  format_percent(is_certain ? sizes.step_to.busy : most->busy), in_units(traits, sizes.to.size));
  if (!traits.is_served) {
    changes.push_back(
        {Kind::link_saturates, fmt::format("the links {}: {}", is_certain ? "saturate" : "may saturate", busy), is_certain});
    return;
  }
  const auto full = is_certain ? fmt::format("; about {:.3g} workers keep them busy", full_at(calibration, sizes.to)) : "";
  changes.push_back({Kind::server_saturates,
                     fmt::format("the servers {}: {}{}", is_certain ? "saturate" : "may saturate", busy, full), is_certain});
}

void add_network(Changes& changes, const Calibration& calibration, const SizeStep& sizes)
{
  const auto& traits = calibration.traits;
  if (sizes.from.nodes == 1 && sizes.to.nodes > 1 && sizes.from.ranks > 1)
    changes.push_back({Kind::network, "messages leave the node, which they do at no measured size"});
  const int from = shape_of(traits, sizes.from).supernodes, to = shape_of(traits, sizes.to).supernodes;
  if (from == 1 && to > 1)
    changes.push_back(
        {Kind::trunk, fmt::format("messages cross trunks between {} supernodes of {} nodes", to, traits.nodes_per_supernode)});
}

void add_node(Changes& changes, const Calibration& calibration, const SizeStep& sizes)
{
  const auto& traits = calibration.traits;
  if (traits.ranks_per_node == any_number_of_ranks && sizes.to.ranks > sizes.from.ranks)
    changes.push_back({Kind::ranks_per_node,
                       fmt::format("{} ranks share the node, at most {} were measured", sizes.to.ranks, sizes.from.ranks),
                       false});
  if (!traits.batches.is_weak() && sizes.to.batch < sizes.from.batch / 2)
    changes.push_back({Kind::small_batch,
                       fmt::format("batches of {:.3g} samples, at least {:.3g} were measured: caches may serve them differently",
                                   sizes.to.batch, sizes.from.batch),
                       false});
}

void add_algorithm(Changes& changes, const Calibration& calibration, const SizeStep& sizes)
{
  const auto& traits = calibration.traits;
  if (traits.is_served || sizes.to.ranks == sizes.from.ranks) return;
  if (traits.allreduce == "mpi") changes.push_back({Kind::algorithm, "MPI's allreduce may take another algorithm", false});
  if (traits.allreduce == "dynamic") changes.push_back({Kind::algorithm, "dynamic may choose another algorithm", false});
}

} // namespace

std::string_view name_of(SizeChange::Kind kind)
{
  constexpr std::array<std::string_view, 8> names{"distance",       "network",        "trunk",       "server_saturates",
                                                  "link_saturates", "ranks_per_node", "small_batch", "algorithm"};
  return names[static_cast<std::size_t>(kind)];
}

std::string in_units(const SeriesTraits& traits, std::int64_t size) { return counted(size, traits.by_nodes ? "node" : "rank"); }

std::vector<SizeChange> changes_between(const Calibration& calibration, const SizeStep& sizes)
{
  Changes changes;
  if (sizes.to.size <= sizes.from.size) return changes;
  add_saturation(changes, calibration, sizes);
  add_network(changes, calibration, sizes);
  if (static_cast<double>(sizes.to.size) > far_beyond * static_cast<double>(sizes.from.size))
    changes.push_back({Kind::distance, fmt::format("more than {:.0f} times the largest measured size", far_beyond)});
  add_node(changes, calibration, sizes);
  add_algorithm(changes, calibration, sizes);
  return changes;
}

bool is_extrapolation(std::span<const SizeChange> changes)
{
  return std::any_of(changes.begin(), changes.end(), [](const auto& change) { return change.is_certain; });
}

bool is_past_knee(std::span<const SizeChange> changes)
{
  return std::any_of(changes.begin(), changes.end(), [](const auto& change) {
    return change.kind == Kind::server_saturates || change.kind == Kind::link_saturates || change.kind == Kind::trunk ||
           change.kind == Kind::network;
  });
}

} // namespace dt::store
