// Conditions on runs, as in sweep.exclude. A condition holds if all its comparisons hold.
//
//   - { sync.strategy: sync-sgd, resources.nodes: 4 }      equal values
//   - { sync.allreduce: [ring, tree], resources.nodes: 4 }  a list: any of its values
//   - resources.nodes>=4 sync.strategy!=sync-sgd           comparisons: = != < <= > >=, values without blanks
//
// In addition to the keys, `ranks` stands for nodes x ranks per node.
#pragma once

#include "core/spec/spec_schema.hpp"
#include "recipes/reading/settings.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace dt::recipes {

enum class Relation { equal, unequal, less, less_equal, greater, greater_equal };

struct Comparison {
  const Key* key = nullptr; // null: compares the run's ranks
  Relation relation = Relation::equal;
  std::vector<FieldValue> values; // at least one; the comparison holds if it holds for any of them
};

using Condition = std::vector<Comparison>;

// Returns nothing, and adds diagnostics, if the node is not a condition.
std::optional<Condition> read_condition(const Node& node, const std::filesystem::path& folder, Diagnostics& diagnostics);

bool holds(const Condition& condition, const RunSpec& spec);

} // namespace dt::recipes
