// What dtctl needs of a machine, looked at one by one: the checks of `dtctl doctor`.
#pragma once

#include "core/paths.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

enum class Level { ok, warn, fail };
std::string_view name_of(Level level);

struct Finding {
  std::string check; // "cores"
  Level level = Level::ok;
  std::string found;  // what is the case
  std::string advice; // what to do; empty when all is well
};

Finding check_engine();
Finding check_recipes();
Finding check_mpi();
Finding check_ranks(); // starts two
Finding check_cores();
Finding check_hyperthreads();
Finding check_clock();
Finding check_load();
Finding check_memory();
Finding check_shared_memory();
Finding check_home(const Home& home);        // writable, space, closed to other users
Finding check_project();                     // which dtctl.yaml counts here, and which is ignored
Finding check_file_system(const Home& home); // may SQLite trust it
Finding check_database(const Home& home);

// All of them, in the order they are shown.
std::vector<Finding> check_machine(const Home& home);

} // namespace dt::cli
