// The checks of `dtctl doctor` for this machine.
#pragma once

#include "core/home/home.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

enum class Level { ok, warn, fail };
std::string_view name_of(Level level);

struct Finding {
  std::string check; // "cores"
  Level level = Level::ok;
  std::string found;  // the observation
  std::string advice; // what the user should do; empty if there is no problem
};

Finding check_engine();
Finding check_recipes();
Finding check_mpi();
Finding check_ranks(); // starts two ranks
Finding check_python();
Finding check_figures(); // gnuplot, for dtctl plot
Finding check_cores();
Finding check_hyperthreads();
Finding check_clock();
Finding check_load();
Finding check_memory();
Finding check_shared_memory();
Finding check_home(const Home& home);        // writable, enough space, closed to other users
Finding check_project();                     // which dtctl.yaml is used here, and which are ignored
Finding check_file_system(const Home& home); // whether SQLite can rely on it
Finding check_database(const Home& home);

// All checks, in the order in which they are shown.
std::vector<Finding> check_machine(const Home& home);

} // namespace dt::cli
