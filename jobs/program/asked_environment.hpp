// Asks at the submission which environment the ranks of the user's own program will have.
#pragma once

#include "core/spec/run_spec.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace dt::jobs {

struct AskedEnvironment {
  std::string id;      // core/program/environment.hpp; empty: not known, or the program is not written in Python
  std::string unknown; // why it is not known, as a clause
};

// What the answer depends on: runs for which it is equal have one environment.
std::vector<std::string> environment_inputs(const RunSpec& run);

// Does on this machine what the job's script does before the launch (variables, modules, set-up lines), and asks the interpreter
// that the command names then. A wrapper is never started. `agent`: path of dtjob; `environments`: Home::environments().
// Throws nothing: a failure is the reason why nothing is known.
AskedEnvironment ask_environment(const RunSpec& run, const std::string& agent, const std::filesystem::path& environments);

// What `dtjob environment` prints: the answer about the command, in its own environment and current folder.
std::string answer_line(const std::vector<std::string>& command, const std::filesystem::path& environments);

} // namespace dt::jobs
