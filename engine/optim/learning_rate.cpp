#include "core/error.hpp"
#include "core/lookup.hpp"
#include "engine/optim/optimizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::optim {
namespace {

// Progress of a run, and its base and final rates with linear scaling.
struct Progress {
  double epoch;
  double fraction; // of the run, in [0, 1]
  double base, last;
};

double constant(const OptimizerSpec&, const Progress& now) { return now.base; }

// base * factor^floor(epoch / step_epochs)
double step(const OptimizerSpec& spec, const Progress& now)
{
  // A computed quotient may be slightly below the epoch boundary that it represents.
  constexpr double rounding = 1e-9;
  return now.base * std::pow(spec.step_factor, std::floor(now.epoch / spec.step_epochs + rounding));
}

// last + (base - last) (1 - t)^power
double polynomial(const OptimizerSpec& spec, const Progress& now)
{
  return now.last + (now.base - now.last) * std::pow(1 - now.fraction, spec.polynomial_power);
}

// last + (base - last) (1 + cos(pi t)) / 2
double cosine(const OptimizerSpec&, const Progress& now)
{
  return now.last + (now.base - now.last) * (1 + std::cos(std::numbers::pi * now.fraction)) / 2;
}

struct Schedule {
  std::string_view name;
  double (*rate)(const OptimizerSpec&, const Progress&);
};

constexpr std::array schedules{
    Schedule{"constant", constant},
    Schedule{"step", step},
    Schedule{"polynomial", polynomial},
    Schedule{"cosine", cosine},
};

const Schedule& entry_of(const std::string& schedule) { return lookup(schedules, "learning-rate schedule", schedule); }

// warmup_factor at epoch 0, rising linearly to 1 at warmup_epochs.
double warmup(const OptimizerSpec& spec, double epoch)
{
  if (epoch >= spec.warmup_epochs) return 1;
  return spec.warmup_factor + (1 - spec.warmup_factor) * epoch / spec.warmup_epochs;
}

} // namespace

LearningRate::LearningRate(const OptimizerSpec& spec, double total_epochs, std::int64_t ranks)
    : spec_(spec), total_epochs_(total_epochs), scale_(spec.linear_scaling ? static_cast<double>(ranks) : 1)
{
  entry_of(spec.schedule);
}

double LearningRate::at(double epoch) const
{
  const double fraction = total_epochs_ > 0 ? std::clamp(epoch / total_epochs_, 0.0, 1.0) : 0;
  const Progress now{epoch, fraction, scale_ * spec_.learning_rate, scale_ * spec_.final_learning_rate};
  return warmup(spec_, epoch) * entry_of(spec_.schedule).rate(spec_, now);
}

std::vector<std::string> registered_schedules()
{
  std::vector<std::string> names;
  for (const auto& entry : schedules) names.emplace_back(entry.name);
  return names;
}

} // namespace dt::optim
