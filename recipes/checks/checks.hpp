// Checks between the keys of one run. Pure functions from a RunSpec to the problems in it.
#pragma once

#include "core/spec/run_spec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::recipes {

// A contradiction between keys.
struct Problem {
  std::vector<std::string_view> keys; // the keys involved, the main cause first
  std::string message;
  std::string in_sweep{};                         // additional advice if a sweep varies one of the keys; may be empty
  std::vector<std::string_view> may_be_default{}; // keys whose value the message tells, although the recipe may not give it
};

// Returns all problems of a run. Each key's own range has been checked already.
std::vector<Problem> find_problems(const RunSpec& spec);

// Returns only the problems with the number of steps and samples. If the recipe does not determine the number of training
// samples, problems that depend on it are not found.
std::vector<Problem> find_length_problems(const RunSpec& spec);

// Returns the problems between the runs of a study. Each run alone is correct.
std::vector<Problem> find_problems_between(const std::vector<RunSpec>& runs);

// Returns the problems of a study before it is expanded.
std::vector<Problem> find_study_problems(const StudySpec& study);

// recipes/checks/sync_checks.cpp: the keys of `sync` against the rest of a run. Adds the contradictions.
void find_sync_problems(const RunSpec& spec, std::vector<Problem>& problems);

// recipes/checks/platform_checks.cpp: what a simulated run needs, and what cannot be simulated. Adds the problems.
void find_platform_problems(const RunSpec& spec, std::vector<Problem>& problems);

// recipes/checks/program_checks.cpp: the user's own program, GPUs and wrappers. Adds the problems.
void find_program_problems(const RunSpec& spec, std::vector<Problem>& problems);

// recipes/checks/tune_checks.cpp: study.tune against the rest of a run. Returns the problems.
std::vector<Problem> find_tune_problems(const RunSpec& spec);

// Returns a sentence for each model that gets images of another size than in its paper. The images of a packed set are not known
// here.
std::vector<std::string> notes_on_images(const std::vector<RunSpec>& runs);

// Returns values of `sync` that are allowed but probably unintended.
std::vector<Problem> find_sync_doubts(const RunSpec& spec);

} // namespace dt::recipes
