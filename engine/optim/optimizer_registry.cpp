#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/spec/strategy_table.hpp"
#include "engine/optim/rules.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::optim {
namespace {

using Segments = std::vector<Segment>;

struct Entry {
  std::string_view name;
  std::unique_ptr<Optimizer> (*make)(const OptimizerSpec& spec, std::size_t size, Segments segments);
};

template<class Kind> std::unique_ptr<Optimizer> make(const OptimizerSpec& spec, std::size_t size, Segments segments)
{
  return std::make_unique<Kind>(spec, size, std::move(segments));
}

constexpr std::array registry{
    Entry{"sgd", make<Sgd>},   Entry{"momentum", make<Momentum>}, Entry{"nesterov", make<Nesterov>},
    Entry{"adam", make<Adam>}, Entry{"adamw", make<AdamW>},       Entry{"lars", make<Lars>},
};

// Rules that have a separate form with a velocity of steps. LARS always has this form.
constexpr std::array of_steps{
    Entry{"momentum", make<MomentumOfSteps>},
    Entry{"nesterov", make<NesterovOfSteps>},
};

void check_segments(const Segments& segments, std::size_t size)
{
  for (const auto& [range, decay, own_rate, statistic] : segments) {
    if (range.begin <= range.end && range.end <= size) continue;
    throw Error(ErrorKind::internal, fmt::format("An optimizer over {} floats was given a segment of {} floats at {}.", size,
                                                 range.size(), range.begin));
  }
}

} // namespace

Velocity velocity_of(const std::string& strategy)
{
  return has_velocity_of_steps(strategy) ? Velocity::of_steps : Velocity::of_gradients;
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments,
                                          Velocity velocity)
{
  check_segments(segments, size);
  for (const auto& entry : of_steps)
    if (velocity == Velocity::of_steps && entry.name == spec.name) return entry.make(spec, size, std::move(segments));
  return lookup(registry, "optimizer", spec.name).make(spec, size, std::move(segments));
}

std::vector<std::string> registered_optimizers()
{
  std::vector<std::string> names;
  for (const auto& entry : registry) names.emplace_back(entry.name);
  return names;
}

} // namespace dt::optim
