#include "jobs/slurm/access/site_facts.hpp"

#include "jobs/slurm/access/api.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <pwd.h>

namespace dt::jobs::slurm {
namespace {

// If a job has a flag, Slurm's word is the flag in place of the base state.
struct StateWord {
  std::string_view word;
  JobPhase phase;
};
constexpr StateWord state_words[]{
    {"PENDING", JobPhase::pending},           {"RUNNING", JobPhase::running},      {"SUSPENDED", JobPhase::suspended},
    {"COMPLETED", JobPhase::complete},        {"CANCELLED", JobPhase::cancelled},  {"FAILED", JobPhase::failed},
    {"TIMEOUT", JobPhase::timeout},           {"NODE_FAIL", JobPhase::node_fail},  {"PREEMPTED", JobPhase::preempted},
    {"BOOT_FAIL", JobPhase::boot_fail},       {"DEADLINE", JobPhase::deadline},    {"OUT_OF_MEMORY", JobPhase::out_of_memory},
    {"COMPLETING", JobPhase::completing},     {"STAGE_OUT", JobPhase::completing}, {"CONFIGURING", JobPhase::configuring},
    {"POWER_UP_NODE", JobPhase::configuring}, {"REQUEUED", JobPhase::requeued},    {"REQUEUE_HOLD", JobPhase::held},
    {"SPECIAL_EXIT", JobPhase::held},         {"REQUEUE_FED", JobPhase::pending},  {"RESV_DEL_HOLD", JobPhase::pending},
    {"EXPEDITING", JobPhase::pending},        {"RESIZING", JobPhase::running},     {"SIGNALING", JobPhase::running},
    {"STOPPED", JobPhase::running},           {"REVOKED", JobPhase::cancelled},
};

} // namespace

JobPhase phase_of(std::string_view state)
{
  const auto* row =
      std::find_if(std::begin(state_words), std::end(state_words), [&](const auto& one) { return one.word == state; });
  return row == std::end(state_words) ? JobPhase::unknown : row->phase;
}

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

} // namespace dt::jobs::slurm
