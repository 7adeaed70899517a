#include "jobs/agent/own_processes.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/record/claim.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs::agent {
namespace {

std::string text_of(pid_t process, const char* file) { return text_if_readable(fmt::format("/proc/{}/{}", process, file)); }

// The parent of a process; 0 if there is no such process.
pid_t parent_of(pid_t process)
{
  const auto stat = text_of(process, "stat");
  const auto name_end = stat.rfind(')'); // the name in parentheses may contain anything
  return name_end == std::string::npos || name_end + 4 > stat.size() ? 0 : std::atoi(stat.c_str() + name_end + 4);
}

bool descends_from_this(pid_t process)
{
  constexpr int deepest = 1000; // a number that was given out again while we looked can close a circle
  for (int depth = 0; process > 1 && depth < deepest; ++depth) {
    process = parent_of(process);
    if (process == ::getpid()) return true;
  }
  return false;
}

std::string node_of(pid_t process)
{
  constexpr std::string_view name = "SLURMD_NODENAME=";
  for (const auto& word : split(text_of(process, "environ"), '\0'))
    if (word.starts_with(name)) return word.substr(name.size());
  return {};
}

// "4:memory:/slurm_node0/uid_7/job_12" of the control group /slurm_node0/uid_7/job_12/step_0; empty if it is of no job. Where
// several nodes are on one host, the part before the job's number names the node.
std::string job_group_of(pid_t process)
{
  constexpr std::string_view job = "/job_";
  for (const auto& line : split(text_of(process, "cgroup"), '\n')) {
    const auto begin = line.find(job);
    if (begin == std::string::npos) continue;
    const auto end = line.find_first_not_of("0123456789", begin + job.size());
    if (end > begin + job.size() && (end == std::string::npos || line[end] == '/')) return line.substr(0, end);
  }
  return {};
}

} // namespace

std::vector<pid_t> own_processes(const std::string& token)
{
  auto processes = processes_with_token(token);
  const auto group = job_group_of(::getpid());
  const char* node = std::getenv("SLURMD_NODENAME");
  std::erase_if(processes, [&](pid_t process) {
    if (process == ::getpid()) return true;
    if (!group.empty()) return job_group_of(process) != group;
    return node != nullptr && node_of(process) != node;
  });
  return processes;
}

std::vector<pid_t> detached_processes(const std::string& token)
{
  auto processes = own_processes(token);
  std::erase_if(processes, descends_from_this);
  return processes;
}

} // namespace dt::jobs::agent
