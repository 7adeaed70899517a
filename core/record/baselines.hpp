// Pinned baselines: names of studies that later studies are compared with, in one file of the home: <home>/baselines.json.
#pragma once

#include "core/home/locked_home.hpp"

#include <map>
#include <string>

namespace dt {

struct Baseline {
  std::string study, study_name; // its id, and its name when it was pinned
  double set_unix_s = 0;
};

using Baselines = std::map<std::string, Baseline>; // by name

// Throws an environment error that names the file if it is damaged. Empty if there is no file.
Baselines read_baselines(const Home& home);

// Throws a usage error with the names that there are.
const Baseline& baseline_named(const Baselines& baselines, const std::string& name);

void write_baselines(const LockedHome& home, const Baselines& baselines);

} // namespace dt
