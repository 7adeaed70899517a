#include "jobs/slurm/access/site_facts.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <pwd.h>

namespace dt::jobs::slurm {

std::string user_name(std::uint32_t uid)
{
  const auto* user = getpwuid(uid);
  return user == nullptr ? "user " + std::to_string(uid) : std::string(user->pw_name);
}

std::vector<std::string> mpi_plugins(const std::string& folder)
{
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    const auto name = file.path().stem().string();
    if (name.starts_with("mpi_") && file.path().extension() == ".so") names.push_back(name.substr(4));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::int64_t parameter(std::string_view list, std::string_view name)
{
  const auto text = "," + std::string(list);
  const auto key = "," + std::string(name) + "=";
  const auto place = text.find(key);
  return place == std::string::npos ? 0 : std::strtoll(text.c_str() + place + key.size(), nullptr, 10);
}

} // namespace dt::jobs::slurm
