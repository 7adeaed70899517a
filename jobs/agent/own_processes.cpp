#include "jobs/agent/own_processes.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/text.hpp"
#include "jobs/registry/schedulers.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
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

// The node of a process by its environment; nothing if the variable is not set.
std::optional<std::string> node_of(pid_t process, std::string_view variable)
{
  const auto name = std::string(variable) + "=";
  for (const auto& word : split(text_of(process, "environ"), '\0'))
    if (word.starts_with(name)) return word.substr(name.size());
  return std::nullopt;
}

// "4:memory:/node0/uid_7/job_12" of the control group /node0/uid_7/job_12/step_0, with the mark `job` "/job_"; empty if it is of
// no job. Where several nodes are on one host, the part before the job's number names the node.
std::string job_group_of(pid_t process, std::string_view job)
{
  for (const auto& line : split(text_of(process, "cgroup"), '\n')) {
    const auto begin = line.find(job);
    if (begin == std::string::npos) continue;
    const auto end = line.find_first_not_of("0123456789", begin + job.size());
    if (end > begin + job.size() && (end == std::string::npos || line[end] == '/')) return line.substr(0, end);
  }
  return {};
}

// Keeps the processes that have the same marks as this one. Without a mark on this process all stay.
void remove_of_other_nodes(std::vector<pid_t>& processes, const NodeMarks& marks)
{
  const auto group = marks.job_group.empty() ? std::string() : job_group_of(::getpid(), marks.job_group);
  if (!group.empty()) {
    std::erase_if(processes, [&](pid_t process) { return job_group_of(process, marks.job_group) != group; });
    return;
  }
  const char* node = marks.variable.empty() ? nullptr : std::getenv(std::string(marks.variable).c_str());
  if (node != nullptr)
    std::erase_if(processes, [&](pid_t process) { return node_of(process, marks.variable).value_or("") != node; });
}

} // namespace

std::vector<pid_t> own_processes(const std::string& token)
{
  auto processes = processes_with_token(token);
  std::erase(processes, ::getpid());
  for (const auto* kind : scheduler_kinds()) remove_of_other_nodes(processes, kind->node_marks());
  return processes;
}

std::vector<pid_t> detached_processes(const std::string& token)
{
  auto processes = own_processes(token);
  std::erase_if(processes, descends_from_this);
  return processes;
}

} // namespace dt::jobs::agent
