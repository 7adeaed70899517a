// What must hold between the keys of one run. Pure: a RunSpec in, what is wrong with it out.
#pragma once

#include "core/run_spec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::recipes {

// Something wrong between keys.
struct Problem {
  std::vector<std::string_view> keys; // involved, the most responsible first
  std::string message;
  std::string in_sweep{}; // what to do besides when a sweep varies one of the keys; empty: nothing
};

// Everything wrong with a run, or nothing; the keys' own ranges hold already.
std::vector<Problem> find_problems(const RunSpec& spec);

// Of these, what is wrong with the number of steps and samples. Where the recipe does not say how many training samples there
// are, nothing that depends on it is found.
std::vector<Problem> find_length_problems(const RunSpec& spec);

// Everything wrong between the runs of a study together, each of which is good.
std::vector<Problem> find_problems_between(const std::vector<RunSpec>& runs);

// Everything wrong with a study as such, before it is expanded.
std::vector<Problem> find_study_problems(const StudySpec& study);

} // namespace dt::recipes
