// What runs of the user's own program depended on, beside their keys: for comparisons, and for doubts about a study.
#pragma once

#include "store/database/sqlite.hpp"

#include <map>
#include <string>
#include <vector>

namespace dt::store {

// "Python environments" -> "CPython 3.11.2, torch 2.1.0, 61 packages (3fa9c1d2e4)". The names are those of `dependence_names`.
using Dependences = std::map<std::string, std::string>;

// In the order in which differences are told: Python environments, programs, GPUs, GPU drivers, git states.
const std::vector<std::string>& dependence_names();

// By the key of the run. Runs of dtengine and runs that have not begun are left out.
std::map<std::string, Dependences> dependences_of(Connection& connection, const std::vector<std::string>& keys);

} // namespace dt::store
