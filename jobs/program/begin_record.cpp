#include "jobs/program/begin_record.hpp"

#include "core/file.hpp"
#include "core/process.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/program/rank_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include <sys/utsname.h>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

std::string cpu_model()
{
  for (const auto& line : split(read_file_if_exists("/proc/cpuinfo").value_or(""), '\n'))
    if (line.starts_with("model name")) return std::string(trim(line.substr(std::min(line.find(':') + 1, line.size()))));
  return {};
}

std::string kernel()
{
  utsname name{};
  return ::uname(&name) == 0 ? std::string(name.release) : std::string();
}

std::map<std::string, std::string> environment_of(const PlannedRun& run)
{
  std::map<std::string, std::string> facts{{"program", shell_join(run.spec.program.command)},
                                           {"program_content", run.engine_build},
                                           {"cpu_model", cpu_model()},
                                           {"kernel", kernel()}};
  if (!run.spec.resources.modules.empty()) facts["modules"] = join(run.spec.resources.modules, " ");
  if (!run.spec.resources.wrapper.empty()) facts["wrapper"] = shell_join(run.spec.resources.wrapper);
  if (const char* git = std::getenv("DTCTL_GIT_STATE")) facts["git_state"] = git;
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

// Adds the facts of rank 0, and "node1: 535.129.03; node2: 550.54.14" where nodes differ in one.
void add_facts(BeginRecord& begin, const NodeFacts& facts)
{
  if (facts.contains(0))
    for (const auto& [name, text] : facts.at(0)) begin.environment[name] = text;
  for (const auto& [rank, of_rank] : facts) // also if the environment of another node alone differs
    if (const auto other = of_rank.find(std::string(other_environment)); other != of_rank.end())
      begin.environment.try_emplace(other->first, other->second);
  std::set<std::string> names;
  for (const auto& [rank, of_rank] : facts)
    for (const auto& [name, text] : of_rank) names.insert(name);
  for (const auto& name : names) {
    std::set<std::string> values;
    std::string by_node;
    for (const auto& [rank, of_rank] : facts) {
      const auto found = of_rank.find(name);
      const auto text = found == of_rank.end() ? std::string("none") : found->second;
      values.insert(text);
      by_node += fmt::format("{}{}: {}", by_node.empty() ? "" : "; ",
                             rank < begin.rank_hosts.size() ? begin.rank_hosts[rank] : "?", text);
    }
    if (values.size() > 1) begin.environment[name + "_by_node"] = by_node;
  }
}

} // namespace

BeginRecord begin_record(const PlannedRun& run, const std::map<std::size_t, RankLine>& started, const NodeFacts& facts)
{
  const auto ranks = static_cast<std::size_t>(run.spec.ranks());
  BeginRecord begin;
  begin.unix_s = now_unix_s();
  begin.ranks = static_cast<int>(ranks);
  begin.threads_per_rank = static_cast<int>(run.spec.resources.threads_per_rank);
  std::set<std::string> hosts;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto line = started.contains(rank) ? started.at(rank) : RankLine{};
    begin.rank_hosts.push_back(line.host);
    begin.rank_masks.push_back(line.cores);
    if (!line.host.empty()) hosts.insert(line.host);
  }
  if (started.contains(0)) {
    begin.host = started.at(0).host;
    begin.pid = started.at(0).pid;
  }
  begin.nodes = static_cast<int>(hosts.size());
  begin.environment = environment_of(run);
  add_facts(begin, facts);
  for (const auto& [rank, line] : started)
    if (line.gpus != "-") begin.environment[fmt::format("gpus of rank {}", rank)] = line.gpus;
  return begin;
}

} // namespace dt::jobs
