// The begin of an attempt of the user's own program: ProgramRecorder::write_begin and what it needs.
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/machine/surroundings.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/launch/container.hpp"
#include "jobs/machine/processor_peak.hpp"
#include "jobs/program/program_recorder.hpp"
#include "jobs/program/rank_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include <sys/utsname.h>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

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
  if (is_made_by_srun(run.spec)) facts.merge(container_facts(run.spec));
  if (run.spec.has_own_launcher()) facts[std::string(own_launcher)] = name_of(run.spec.program.launch);
  if (const char* git = std::getenv("DTCTL_GIT_STATE")) facts["git_state"] = git;
  if (const char* idle = std::getenv("DTCTL_WHEN_IDLE")) facts["when_idle"] = idle;
  facts.merge(facts_of(own_surroundings()));
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

// Adds what differs on a node from the environment of the run's key. A change that the program imports prevails.
void add_other_environment(BeginRecord& begin, const std::map<std::string, std::string>& of_rank)
{
  const auto imports = of_rank.find(std::string(other_imports));
  if (imports == of_rank.end()) return;
  const auto [known, is_new] = begin.environment.try_emplace(imports->first, imports->second);
  if (!is_new && known->second != no_imports) return;
  known->second = imports->second;
  begin.environment[std::string(other_environment)] = of_rank.at(std::string(other_environment));
}

// Adds the facts of rank 0, and "node1: 535.129.03; node2: 550.54.14" where nodes differ in one.
void add_facts(BeginRecord& begin, const std::map<std::size_t, std::map<std::string, std::string>>& facts)
{
  if (facts.contains(0))
    for (const auto& [name, text] : facts.at(0)) begin.environment[name] = text;
  for (const auto& [rank, of_rank] : facts) // also if the environment of another node alone differs
    add_other_environment(begin, of_rank);
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

// Each rank that reports facts about its node has a value for each fact. Records the value of rank 0 as NAME and, if the nodes
// have different values, all of them as NAME_by_node.
BeginRecord ProgramRecorder::begin_record() const
{
  BeginRecord begin;
  begin.unix_s = now_unix_s();
  begin.ranks = static_cast<int>(ranks());
  begin.threads_per_rank = static_cast<int>(run_.spec.resources.threads_per_rank);
  std::set<std::string> hosts;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    const auto line = started_.contains(rank) ? started_.at(rank) : RankLine{};
    begin.rank_hosts.push_back(line.host);
    begin.rank_masks.push_back(line.cores);
    if (!line.host.empty()) hosts.insert(line.host);
  }
  if (started_.contains(0)) {
    begin.host = started_.at(0).host;
    begin.pid = started_.at(0).pid;
  }
  begin.nodes = static_cast<int>(hosts.size());
  begin.environment = environment_of(run_);
  add_facts(begin, facts_);
  for (const auto& [rank, line] : started_)
    if (line.gpus != "-") begin.environment[fmt::format("gpus of rank {}", rank)] = line.gpus;
  return begin;
}

void ProgramRecorder::write_begin()
{
  find_started();
  if (!writer_->begin(begin_record()).empty()) return;
  for (const auto& [rank, facts] : facts_) {
    const auto other = facts.find(std::string(other_environment));
    if (other == facts.end()) continue;
    say(fmt::format("the Python environment on {} is not the one that is part of the run's key: {}. Imported by the program: {}",
                    started_.at(rank).host, other->second, facts.at(std::string(other_imports))));
    break;
  }
  advanced_ = Clock::now();
}

} // namespace dt::jobs
