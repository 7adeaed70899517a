#include "core/home/home.hpp"

#include "core/paths.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/trust.hpp"

#include <array>
#include <cstdlib>

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
  require_own_home(home.root());
  return home;
}

void require_own_home(const fs::path& root)
{
  require_own_root(root);
  require_own(root);
  for (const auto* name : executed_from) require_own(root / name);
  for (const auto& row : scheduler_rows()) require_own(root / row.name.name);
}

} // namespace dt
