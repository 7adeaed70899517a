#include "core/error.hpp"
#include "core/text.hpp"
#include "engine/comm/mpi_allreduce.hpp"

#include <array>

namespace dt::engine {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Allreduce> (*make)();
};

constexpr std::array entries{
    Entry{"mpi", []() -> std::unique_ptr<Allreduce> { return std::make_unique<MpiAllreduce>(); }},
};

} // namespace

std::unique_ptr<Allreduce> make_allreduce(const std::string& name)
{
  for (const auto& entry : entries)
    if (name == entry.name) return entry.make();
  throw Error(ErrorKind::recipe,
              "There is no allreduce `" + printable(name) + "`; there are: " + join(registered_allreduces(), ", ") + ".");
}

std::vector<std::string> registered_allreduces()
{
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

} // namespace dt::engine
