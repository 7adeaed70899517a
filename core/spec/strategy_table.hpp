// The table of strategies: one row per strategy, with all that recipes, checks and the engine need to know about it. The engine
// has only its implementation (engine/sync/registry.cpp).
//
// Update rules are those of [You2017]. Every EASGD strategy except async-measgd uses plain SGD as its local step, W^i <- W^i -
// eta g^i. The servers of async-sgd and hogwild-sgd use plain SGD too. async-msgd and async-measgd use V <- mu V - eta g, W <- W
// + V. The full text of swFLOW's paper was not available; we assume that decentralized-easgd uses the same local step as the
// other EASGD strategies.
#pragma once

#include "core/spec/names.hpp"
#include "core/spec/optimizer_table.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dt {

struct StrategyRow {
  Name name;
  bool has_servers = false;     // some ranks are parameter servers, which hold the weights and do not train
  bool is_lock_free = false;    // its servers update without a lock; with 0 servers, the weights are in a node's shared memory
  bool is_elastic = false;      // of the EASGD family: workers and a centre pull each other together
  bool is_asynchronous = false; // ranks may be at different steps
  bool may_overlap = false;     // can exchange messages while gradients are computed
  bool serves_in_turn = false;  // its servers answer the workers in their order, not whoever comes first
  bool has_outer_rule = false;  // of the DiLoCo family: an update rule moves the weights at which all workers begin again
  bool keeps_equal = false;     // all ranks have the same weights after every step (hsgd: if sync.node_period is 1)
  std::string_view allreduce{}; // the algorithm of its exchanges where sync.allreduce does not choose it
  // Keys of `sync` that it reads besides those that a property above implies (see reads()).
  std::array<std::string_view, 4> other_keys{};
  UpdateRule rule = UpdateRule::any; // what it works with
  std::string_view reason{};         // for an update rule that is not `any`: "its servers apply plain SGD"
  std::string_view remedy{};         // for such a rule: the strategy to use with an optimizer of the other kind

  // Whether it has a centre: the elastic centre, the outer parameters, or the servers' weights.
  bool has_centre() const { return is_elastic || has_outer_rule || has_servers; }
  // Whether each server applies the gradients of the parameters that it holds, so that no rank has the whole gradient.
  bool updates_on_servers() const { return has_servers && !is_elastic; }
};

// All rows, in the order of the reference.
std::span<const StrategyRow> strategy_rows();
// The row of a strategy. An unknown strategy has no properties and goes with every optimizer, because other code reports it.
const StrategyRow& strategy_row(std::string_view strategy);

// Whether the value of a key of `sync`, such as "sync.period", matters to the strategy. A key that no row and no property names
// matters to all strategies.
bool reads(std::string_view strategy, std::string_view key);
// Returns in words which strategies read a key: "the EASGD family and local-sgd". Empty if all do.
std::string readers_of(std::string_view key);

// Explains why the strategy cannot be used with `optimizer.name: optimizer`, and what to write instead. Returns nothing if it
// can.
std::optional<std::string> optimizer_misfit(const std::string& strategy, const std::string& optimizer);

// The elastic rate `sync.alpha` where neither it nor `sync.rho` is given: that of all workers together is 0.9, as in the first
// paper on EASGD (beta; Zhang, Choromanska, LeCun 2015).
inline double default_alpha(std::int64_t workers) { return 0.9 / static_cast<double>(workers); }

// Whether the strategy's velocity is a sum of steps, V <- mu V - eta g, W <- W + V, as in its paper, and not a sum of gradients.
bool has_velocity_of_steps(std::string_view strategy);

} // namespace dt
