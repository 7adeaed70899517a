// Profiles of the model's parameters: the values that agree with the measurements about as well as the best ones. A parameter is
// held at a value and the others are fitted again; how much worse the fit becomes is its misfit [Raue2009]. Pure functions.
#pragma once

#include "store/analysis/prediction/calibration.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

enum class Parameter { latency, bandwidth, reduction, trunk, fixed_compute, service, algorithm, growth };

// "fixed_compute", for programs.
std::string_view name_of(Parameter parameter);
// "the latency of the network", "the service time of the servers".
std::string_view in_words(Parameter parameter);

// A calibration that agrees with the measurements.
struct PossibleFit {
  Parameter parameter{}; // that was held
  Calibration calibration{};
  double misfit = 0; // χ² beyond that of the best fit, 0 to most_misfit
};

// The 80 % quantile of χ² with one degree of freedom. Fits with a larger misfit are left out.
inline constexpr double most_misfit = 1.642;

// All of them agree with the measured step at the largest size, because each has a correction of its own:
//
//   latency, bandwidth, reduction  of the times of communication alone
//   trunk          the share of the trunks' bandwidth, from 1 to that of one node's link where no measured size tells it
//   fixed_compute  the part of a step's computation that does not depend on the batch
//   service        for how long an exchange keeps the servers busy, with the waiting of the workers as measured: from half the
//   time
//                  until the answer (requests and answers pass the link in both directions at once) to that time and the update
//                  that follows it; of lock-free servers also with one exchange at a time
//
//   algorithm      of the sums of a program of the user, of MPI and of `dynamic`: another one with other formulas
//   growth         what the measured steps take beyond the model grows with the workers, and goes on so: over all sizes, and
//                  between the two largest
//
// `best`: made of these sizes and links. Empty if the measurements determine every parameter.
std::vector<PossibleFit> possible_fits(const Calibration& best, std::span<const MeasuredSize> sizes);

// A sentence for each parameter that the measurements leave open by a quarter or more, with its range.
std::vector<std::string> ranges_in_words(const Calibration& best, std::span<const PossibleFit> fits);

} // namespace dt::store
