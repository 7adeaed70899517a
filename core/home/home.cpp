#include "core/home/home.hpp"

#include "core/error.hpp"
#include "core/files/paths.hpp"
#include "core/files/trust.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

namespace dt {
namespace {

namespace fs = std::filesystem;

// Folders of a home with programs, scripts and answers that decide what is started. Those of schedulers, with what is started
// next, have the schedulers' names.
constexpr std::array executed_from{"runs", "programs", "environments", "doctor", "modules"};

} // namespace

Home Home::from_environment()
{
  const char* value = std::getenv("DTCTL_HOME");
  const bool is_named = value != nullptr && value[0] != '\0';
  const Home home(is_named ? fs::absolute(value) : user_data_folder() / "dtctl");
  require_possible_home(home.root());
  require_own_home(home.root());
  return home;
}

void require_possible_home(const fs::path& root)
{
  const auto advice = "Set DTCTL_HOME to another folder";
  std::error_code error;
  if (fs::exists(root, error) && !fs::is_directory(root, error))
    throw Error(ErrorKind::usage, fmt::format("The home {} is no folder. {}", printable(root.string()), advice));
  auto path = Home(root).database().string().size();
  if (const auto resolved = fs::weakly_canonical(Home(root).database(), error); !error)
    path = std::max(path, resolved.string().size());
  if (path > longest_database_path)
    throw Error(ErrorKind::usage,
                fmt::format("The home {} has too long a path: its database results.db would have a path of {} bytes, and SQLite "
                            "takes up to {}. {} with a shorter path",
                            printable(root.string()), path, longest_database_path, advice));
}

void require_own_home(const fs::path& root)
{
  require_own_root(root);
  require_own(root);
  for (const auto* name : executed_from) require_own(root / name);
  for (const auto& row : scheduler_rows()) require_own(root / row.name.name);
}

} // namespace dt
