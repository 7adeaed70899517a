#include "jobs/launch/transports.hpp"

#include <algorithm>
#include <array>

namespace dt::jobs {
namespace {

// Open MPI's frameworks that choose who sends messages.
const std::array<std::string, 3> frameworks{"pml", "btl", "mtl"};
// Options of mpirun that read parameters from a file.
const std::array<std::string, 4> files{"--tune", "-tune", "--am", "-am"};

bool holds(const auto& list, const std::string& word) { return std::find(list.begin(), list.end(), word) != list.end(); }

} // namespace

std::map<std::string, std::string> transports_on_one_node(const std::vector<std::string>& words,
                                                          const std::function<bool(const std::string&)>& is_set)
{
  const auto prefix = [](const std::string& framework) { return "OMPI_MCA_" + framework; };
  if (std::ranges::any_of(frameworks, [&](const auto& framework) { return is_set(prefix(framework)); })) return {};
  if (std::ranges::any_of(words, [](const auto& word) { return holds(frameworks, word) || holds(files, word); })) return {};
  return {{prefix("pml"), "ob1"}, {prefix("btl"), "self,vader"}};
}

} // namespace dt::jobs
