// The names that a recipe may use for models, data sets, optimizers, schedules, strategies, allreduces and so on. Words that are
// values of an enumeration stand in core/spec/choices.hpp.
//
// dtctl lists and checks them without linking the engine; the engine's registries must offer exactly these
// (tests/engine/model/model_builder_test.cpp, tests/engine/sync/strategies/strategy_test.cpp and others compare the two).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// A name and one line of help.
struct Name {
  std::string_view name;
  std::string_view help;
};

std::span<const Name> model_names();
std::span<const Name> data_names();
std::span<const Name> optimizer_names();
std::span<const Name> schedule_names();
std::span<const Name> strategy_names();
std::span<const Name> allreduce_names();
std::span<const Name> scheduler_names();
std::span<const Name> launcher_names();

// Whether the allreduce is one call of another library: it sends float32 only, and cannot be advanced between layers.
bool is_library_call(std::string_view allreduce);

// Whether dtsim can simulate the allreduce. Library calls would be those of the simulator's MPI library, or send past it. A
// simulated `dynamic` chooses among the others.
bool can_be_simulated(std::string_view allreduce);
// The names of those that can, for messages: "ring, tree or hierarchical".
std::string simulated_allreduces();

bool contains(std::span<const Name> names, std::string_view name);
std::vector<std::string> strings_of(std::span<const Name> names);

} // namespace dt
