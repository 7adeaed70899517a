#include "core/machine/surroundings.hpp"

#include "core/files/file.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>

namespace dt {
namespace {

struct LimitName {
  const char* name;
  int resource;
};
constexpr std::array<LimitName, 9> limit_names{{{"as", RLIMIT_AS},
                                                {"core", RLIMIT_CORE},
                                                {"cpu", RLIMIT_CPU},
                                                {"data", RLIMIT_DATA},
                                                {"fsize", RLIMIT_FSIZE},
                                                {"memlock", RLIMIT_MEMLOCK},
                                                {"nofile", RLIMIT_NOFILE},
                                                {"nproc", RLIMIT_NPROC},
                                                {"stack", RLIMIT_STACK}}};
constexpr std::uint64_t unlimited = ~std::uint64_t{0};
constexpr std::uint64_t most_files = 1 << 20; // the kernel's own limit of files (fs.nr_open) is this by default
static_assert(RLIM_INFINITY == unlimited);

int number_of(std::string_view name)
{
  return std::find_if(limit_names.begin(), limit_names.end(), [&](const auto& row) { return row.name == name; })->resource;
}

// umask(2) alone would have to change it.
unsigned own_umask()
{
  constexpr std::string_view mark = "\nUmask:";
  const auto status = text_if_readable("/proc/self/status");
  const auto at = status.find(mark);
  return at == status.npos ? 022 : static_cast<unsigned>(std::strtoul(status.c_str() + at + mark.size(), nullptr, 8));
}

void set_limit(int resource, const Surroundings::Limit& wanted)
{
  rlimit limit{wanted.soft, wanted.hard};
  if (::setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0) return;
  rlimit own{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &own) != 0) return;
  limit = {std::min<rlim_t>(wanted.soft, own.rlim_max), std::min<rlim_t>(wanted.hard, own.rlim_max)};
  (void)::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

} // namespace

Surroundings own_surroundings()
{
  Surroundings own{.niceness = ::getpriority(PRIO_PROCESS, 0), .umask = own_umask(), .limits = {}};
  for (const auto& [name, resource] : limit_names) {
    rlimit limit{};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0) own.limits[name] = {limit.rlim_cur, limit.rlim_max};
  }
  return own;
}

void take_over(const Surroundings& wanted)
{
  (void)::setpriority(PRIO_PROCESS, 0, wanted.niceness);
  ::umask(wanted.umask);
  for (const auto& [name, resource] : limit_names)
    if (const auto limit = wanted.limits.find(name); limit != wanted.limits.end()) set_limit(resource, limit->second);
}

void leave_surroundings()
{
  if (::getpriority(PRIO_PROCESS, 0) != 0) (void)::setpriority(PRIO_PROCESS, 0, 0);
  for (const auto& [name, limit] : own_surroundings().limits) {
    const auto most = name == "nofile" ? std::max(most_files, limit.hard) : unlimited;
    const bool shapes_memory = name == "stack" || name == "core"; // of this process, which needs no more of them
    set_limit(number_of(name), {shapes_memory ? limit.soft : most, most});
  }
}

bool allow_more(const Surroundings& own, const Surroundings& other)
{
  if (std::max(own.niceness, 0) < other.niceness) return true;
  return std::any_of(other.limits.begin(), other.limits.end(), [&](const auto& limit) {
    const auto found = own.limits.find(limit.first);
    if (found == own.limits.end()) return false;
    const auto hard = limit.first == "nofile" ? std::min(found->second.hard, most_files) : found->second.hard;
    return hard > limit.second.hard;
  });
}

std::map<std::string, std::string> facts_of(const Surroundings& surroundings)
{
  std::string limits;
  for (const auto& [name, limit] : surroundings.limits)
    if (limit.soft != unlimited) limits += fmt::format("{}{} {}", limits.empty() ? "" : ", ", name, limit.soft);
  return {{"niceness", std::to_string(surroundings.niceness)},
          {"umask", fmt::format("{:04o}", surroundings.umask)},
          {"limits", limits.empty() ? "none" : limits}};
}

std::string to_json(const Surroundings& surroundings)
{
  auto limits = nlohmann::json::object();
  for (const auto& [name, limit] : surroundings.limits) limits[name] = {limit.soft, limit.hard};
  return nlohmann::json{{"niceness", surroundings.niceness}, {"umask", surroundings.umask}, {"limits", limits}}.dump();
}

Surroundings parse_surroundings(std::string_view text)
{
  Surroundings read;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return read;
  try {
    read.niceness = json.value("niceness", read.niceness);
    read.umask = json.value("umask", read.umask);
    const auto limits = json.value("limits", nlohmann::json::object());
    for (const auto& [name, limit] : limits.items()) read.limits[name] = {limit.at(0), limit.at(1)};
  } catch (const nlohmann::json::exception&) { // what was read so far
  }
  return read;
}

} // namespace dt
