#include "jobs/launch/transports.hpp"

#include <algorithm>
#include <array>

namespace dt::jobs {

bool user_chooses_transports(const std::vector<std::string>& words, const std::function<bool(const std::string&)>& is_set)
{
  constexpr std::array frameworks{"pml", "btl", "mtl"};                   // of Open MPI: they decide what sends messages
  constexpr std::array parameter_files{"--tune", "-tune", "--am", "-am"}; // options of mpirun
  const auto holds = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
  return std::ranges::any_of(frameworks,
                             [&](const char* name) { return is_set("OMPI_MCA_" + std::string(name)) || holds(name); }) ||
         std::ranges::any_of(parameter_files, holds);
}

} // namespace dt::jobs
