// Scaling laws as baselines: curves through the measured throughputs that know nothing of computation and communication. Pure.
#pragma once

#include "store/analysis/prediction/measured_study.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::store {

// Fewer measured sizes than this leave nothing to judge a curve of three unknowns by.
inline constexpr std::size_t least_sizes_for_laws = 5;

// A law for the throughput X of N workers, with its fitted numbers:
//
//   amdahl       X = λ N / (1 + σ (N - 1))                      [Amdahl1967]
//   scalability  X = λ N / (1 + σ (N - 1) + κ N (N - 1))        the universal scalability law [Gunther2007]
//   power        X = a N^b
struct ScalingLaw {
  std::string name;
  double a = 0, b = 0, c = 0; // amdahl: λ, σ; scalability: λ, σ, κ; power: a, b
  double throughput(double workers) const;
};

// Fitted by least relative errors. Empty with fewer than least_sizes_for_laws sizes.
std::vector<ScalingLaw> fit_laws(std::span<const MeasuredSize> sizes);

} // namespace dt::store
