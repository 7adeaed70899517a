// Conditions on runs, as sweep.exclude has them: all comparisons of one condition must hold.
//
//   - { sync.strategy: sync-sgd, resources.nodes: 4 }      equal values
//   - { sync.allreduce: [ring, tree], resources.nodes: 4 }  a list: any of its values
//   - resources.nodes>=4 sync.strategy!=sync-sgd           comparisons: = != < <= > >=, values without blanks
//
// Besides the keys there is `ranks`, the run's nodes x ranks a node.
#pragma once

#include "core/spec_schema.hpp"
#include "recipes/settings.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace dt::recipes {

enum class Relation { equal, unequal, less, less_equal, greater, greater_equal };

struct Comparison {
  const Key* key = nullptr; // null: the run's ranks
  Relation relation = Relation::equal;
  std::vector<FieldValue> values; // at least one; the comparison holds when it does with any of them
};

using Condition = std::vector<Comparison>;

// Nothing, and diagnostics, when the node is no condition.
std::optional<Condition> read_condition(const Node& node, const std::filesystem::path& folder, Diagnostics& diagnostics);

bool holds(const Condition& condition, const RunSpec& spec);

} // namespace dt::recipes
