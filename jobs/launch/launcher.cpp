#include "jobs/launch/launcher.hpp"

#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/spec/names.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace dt::jobs {
namespace {

// The first of these variables that is set, as a number.
std::optional<int> number_in(std::initializer_list<const char*> variables)
{
  for (const char* name : variables)
    if (const char* text = std::getenv(name); text != nullptr && *text != '\0') return std::atoi(text);
  return std::nullopt;
}

} // namespace

std::optional<RankPosition> position_of_rank()
{
  // First, because a shell in an allocation has the variables of srun.
  if (const auto rank = number_in({OwnLauncher::rank_variable})) return RankPosition{*rank, *rank};
  const auto local_rank = number_in({MpirunLauncher::local_rank_variable, SrunLauncher::local_rank_variable});
  if (!local_rank) return std::nullopt;
  const auto rank = number_in({MpirunLauncher::rank_variable, SrunLauncher::rank_variable});
  return RankPosition{rank.value_or(*local_rank), *local_rank};
}

std::vector<std::string> usable_hosts(const ResourcesSpec& resources)
{
  auto hosts = resources.hosts;
  std::erase_if(hosts, [&](const std::string& host) {
    const bool is_excluded = std::ranges::find(resources.exclude, host) != resources.exclude.end();
    return is_excluded || (!resources.nodelist.empty() && host != resources.nodelist);
  });
  return hosts;
}

std::unique_ptr<Launcher> make_launcher(const std::string& name)
{
  if (name == "mpirun") return std::make_unique<MpirunLauncher>();
  if (name == "srun") return std::make_unique<SrunLauncher>();
  if (name == "dtjob") return std::make_unique<OwnLauncher>();
  throw Error(ErrorKind::recipe, unknown_name("launcher", name, strings_of(launcher_names())));
}

} // namespace dt::jobs
