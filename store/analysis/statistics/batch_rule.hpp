// How the samples of a step follow the workers in the sizes of a study: as recorded, whatever the recipe calls the study.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace dt::store {

// One size of a series. samples: of all workers in one step.
struct StepSamples {
  double workers = 0, samples = 0;
};

// The samples of a step are proportional to workers^growth: 0 is strong scaling, 1 weak scaling.
struct BatchRule {
  double growth = 0;
  bool is_recorded = false;         // the sizes tell it; otherwise the study's kind
  std::vector<StepSamples> sizes{}; // ascending

  bool is_weak() const { return growth == 1; }
  bool is_strong() const { return growth == 0; }
  // Of a recorded size its own, between two the power law through them, beyond by `growth`. NaN if no size has any.
  double samples_at(double workers) const;
};

// Decides from the samples of at least two sizes; those that deviate by less than a tenth agree, because an epoch's last batch
// may be shorter. A size without samples (NaN) says nothing. `kind`: StudyRecord::kind.
BatchRule batch_rule(std::string_view kind, std::span<const StepSamples> sizes);

// Whether the recorded samples contradict the kind: the recipe's author chose strong, weak or partition.
bool contradicts(const BatchRule& rule, std::string_view kind);

} // namespace dt::store
