// The recipe that `dtctl simulate` writes: a measured program on another machine. Pure functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dt::cli {

// "diloco:period=32": a strategy and values of keys of the recipe's block `sync`.
struct SimulatedStrategy {
  std::string name;
  std::vector<std::pair<std::string, std::string>> values{}; // "period" -> "32"
};

// Reads "sync-sgd,diloco:period=32:outer.fragments=4". Throws a usage error that names the word if a strategy does not exist, or
// a value has no key or does not belong to the strategy.
std::vector<SimulatedStrategy> parse_simulated_strategies(std::string_view text);

// Reads "1..1024" (by doubling) or "1,4,16", ascending and without equal ones. Throws a usage error for anything else.
std::vector<std::int64_t> parse_node_counts(std::string_view text);

struct SimulationChoices {
  std::string name, program;       // of the recipe; what was measured, for a comment
  std::string platform;            // a shipped platform, or the path of one
  std::filesystem::path profile;   // absolute
  std::int64_t batch_per_rank = 0; // weak scaling, if it is above 0
  std::int64_t global_batch = 0;   // strong scaling, otherwise
  std::int64_t ranks_per_node = 1, threads_per_rank = 1;
  std::vector<std::int64_t> nodes{};
  std::vector<SimulatedStrategy> strategies{};
};

// A point for each strategy and number of nodes, long enough for four exchanges of the strategy that exchanges most rarely. With
// more than 16 nodes, sums go by topology-aware halving and doubling, which a large simulation has time for; else by the ring.
std::string simulation_recipe(const SimulationChoices& choices);

} // namespace dt::cli
