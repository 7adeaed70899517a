#include "jobs/program/rank_program.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/file_at.hpp"
#include "core/files/paths.hpp"
#include "core/home/home.hpp"
#include "core/machine/cpu_allowance.hpp"
#include "core/machine/process.hpp"
#include "core/program/environment.hpp"
#include "core/program/interpreter.hpp"
#include "core/program/program_words.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/launch/container.hpp"
#include "jobs/launch/rank_start.hpp"
#include "jobs/program/gpu_facts.hpp"
#include "jobs/program/load_watch.hpp"
#include "jobs/program/meeting_point.hpp"
#include "jobs/program/program_copies.hpp"
#include "jobs/program/reports/report_lines.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;

void set(const std::string& name, const std::string& value) { ::setenv(name.c_str(), value.c_str(), 1); }
void set_default(const std::string& name, const std::string& value) { ::setenv(name.c_str(), value.c_str(), 0); }

// Keys whose values a program may need. Lists, maps and empty texts are left out; DTCTL_SPEC has them.
bool is_passed(const Key& key)
{
  using enum KeyType;
  const auto is_in = [&](std::string_view block) { return key.path.starts_with(block); };
  const bool is_single = key.type != structure && key.type != integer_list && key.type != text_list && key.type != text_map;
  const bool is_number = key.type == integer || key.type == real || key.type == duration;
  return is_single &&
         (is_in("model.") || is_in("data.") || is_in("train.") || is_in("optimizer.") || (is_in("resources.") && is_number));
}

// "-" stands for none.
std::string cores_of_this_rank()
{
  const auto cores = mask_text(cores_in_mask());
  return cores.empty() ? "-" : cores;
}

std::string gpus_of_this_rank()
{
  const char* gpus = std::getenv("CUDA_VISIBLE_DEVICES");
  return gpus == nullptr || *gpus == '\0' ? "-" : gpus;
}

// Whether the job runs where it was submitted, whichever node it gets.
bool stays_here(const RunSpec& spec)
{
  return scheduler_row(spec.resources.scheduler).uses_this_machine && spec.resources.hosts.empty();
}

// What this process becomes: wrapper, container and command.
std::vector<std::string> words_of_program(const RunSpec& spec, const AttemptFolder& attempt)
{
  const auto home = home_of(attempt);
  const bool has_data = !spec.data.name.empty() || !spec.data.path.empty();
  const ContainerPlaces places{home.root().string(), has_data ? fs::absolute(home.data_place(spec.data)).string() : "",
                               attempt.path_of(AttemptFile::work).string()};
  auto words = spec.resources.wrapper;
  for (const auto& more : {container_words(spec, places), spec.program.command})
    words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct NodeFacts {
  std::map<std::string, std::string> facts;
  // Packages that differ from those of the run's key, and that the program does not import.
  std::vector<std::string> unused_changes;
};

// Says in the facts `other_environment` and `other_imports` what differs from the environment of the run's key. If the program
// imports nothing of that, the run has the environment of its key.
void add_changes(NodeFacts& node, const std::vector<std::string>& words, const fs::path& environments, const std::string& before,
                 const std::string& now)
{
  const auto changes = environment_changes(environments, before, now);
  if (changes.empty()) {
    const auto text = fmt::format("environment {}, now {}", short_key(before), short_key(now));
    node.facts[std::string(other_environment)] = node.facts[std::string(other_imports)] = text;
    return;
  }
  const auto found = changes_in_use(words, changes);
  const auto used = join(texts_of(found.used), "; ");
  node.facts[std::string(other_environment)] = join(texts_of(changes), "; ");
  node.facts[std::string(other_imports)] = found.used.empty() ? std::string(no_imports)
                                           : found.unknown.empty()
                                               ? used
                                               : used + " (what the program imports is not known: " + found.unknown + ")";
  if (found.used.empty()) set_environment(node.facts, environments, before);
  for (const auto& change : found.unused) node.unused_changes.push_back(change.package);
}

// What the program depends on here.
NodeFacts facts_of_node(const PlannedRun& run, const AttemptFolder& attempt)
{
  const auto home = home_of(attempt);
  const auto words = words_of_program(run.spec, attempt);
  auto found = describe_program(words, home.environments());
  if (run.spec.is_wrapped() && found.id.empty() && found.unknown.empty()) // what is known is the wrapper's own file
    found = unknown_environment(fmt::format("`{}` decides which program it starts", printable(words.front())));
  NodeFacts node{found.facts, {}};
  node.facts.merge(gpu_facts());
  if (!is_made_by_srun(run.spec)) node.facts.merge(container_facts(run.spec));
  if (!run.environment_id.empty() && !found.id.empty() && found.id != run.environment_id)
    add_changes(node, words, home.environments(), run.environment_id, found.id);
  return node;
}

// The first of the ranks that this process becomes or starts.
int first_rank(const RunSpec& spec, const RankPosition& position)
{
  return position.rank * static_cast<int>(spec.ranks_per_process());
}

// Begins the reports of the ranks that this process becomes or starts; the facts stand in the first one, whose path it returns.
fs::path begin_reports(const AttemptFolder& attempt, const RunSpec& spec, const RankPosition& position,
                       const std::map<std::string, std::string>& facts)
{
  std::string text;
  for (const auto& [name, value] : facts) text += to_line(FactLine{name, value});
  const int first = first_rank(spec, position), end = first + static_cast<int>(spec.ranks_per_process());
  for (int rank = first; rank < end; ++rank) {
    const auto path = report_file(attempt, static_cast<std::size_t>(rank));
    const RankLine line{rank, static_cast<int>(::getpid()), host_name(), cores_of_this_rank(), gpus_of_this_rank()};
    const auto file = open_regular(path, O_WRONLY | O_CREAT | O_APPEND);
    write_all(file.get(), std::exchange(text, {}) + to_line(line), path);
  }
  return report_file(attempt, static_cast<std::size_t>(first));
}

void append_to(const fs::path& path, const std::string& text)
{
  const auto file = open_regular(path, O_WRONLY | O_APPEND);
  write_all(file.get(), text, path);
}

// The results of packages that have changed would stand under the key of the old ones. A package that the program does not import
// has no part in its results. On a cluster the nodes may always have another environment than the machine of the submission, so
// there it is recorded and no error.
void require_same_environment(const PlannedRun& run, const std::map<std::string, std::string>& facts, const fs::path& report)
{
  const auto other = facts.find(std::string(other_imports));
  if (other == facts.end() || other->second == no_imports || !stays_here(run.spec)) return;
  const auto why = fmt::format("the Python environment is not the one with which this run was submitted: {}. Submit the recipe "
                               "again: it becomes a new run. If packages are to be no part of a run's key, say "
                               "`program.identity: files`.",
                               other->second);
  append_to(report, to_line(ErrorLine{-1, now_unix_s(), why}));
  throw Error(ErrorKind::run, why);
}

// For a launcher that starts the ranks of its node: torchrun takes the options that are not in its command from PET_….
void set_launcher_variables(const RunSpec& spec, const RankPosition& position, const MeetingPoint& point)
{
  const auto node = std::to_string(position.rank), nodes = std::to_string(spec.resources.nodes);
  const auto ranks = std::to_string(spec.resources.ranks_per_node);
  set("DTCTL_NODE_RANK", node);
  set("DTCTL_NODES", nodes);
  set("DTCTL_RANKS_PER_NODE", ranks);
  set("PET_NODE_RANK", node);
  set("PET_NNODES", nodes);
  set("PET_NPROC_PER_NODE", ranks);
  set("PET_MASTER_ADDR", point.host);
  set("PET_MASTER_PORT", std::to_string(point.port));
  set("DTCTL_LAUNCHER", std::to_string(::getpid()));
  for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"})
    ::unsetenv(name); // it sets them for its ranks
}

void set_torchrun_variables(const AttemptFolder& attempt, const RunSpec& spec, const RankPosition& position)
{
  const auto host = spec.resources.nodes == 1 ? std::string("127.0.0.1") : host_name();
  const auto point = position.rank == 0 ? choose_meeting_point(attempt, host) : wait_for_meeting_point(attempt);
  set("MASTER_ADDR", point.host);
  set("MASTER_PORT", std::to_string(point.port));
  if (spec.has_own_launcher()) return set_launcher_variables(spec, position, point);
  set("RANK", std::to_string(position.rank));
  set("LOCAL_RANK", std::to_string(position.local_rank));
  set("WORLD_SIZE", std::to_string(spec.ranks()));
  set("LOCAL_WORLD_SIZE", std::to_string(spec.resources.ranks_per_node));
}

// Whether the start-up module of the observer is put in front of the program (share/dtctl/program/observe). It does nothing
// unless the program imports torch, and is silent if the program reports steps by itself.
bool is_observed(const RunSpec& spec)
{
  const auto& program = spec.program;
  if (program.observe != ProgramObservation::automatic) return program.observe == ProgramObservation::pytorch;
  if (!program.metrics.empty() || program.sync) return false;
  auto words = spec.resources.wrapper;
  if (spec.has_container()) words.emplace_back("apptainer"); // the interpreter is one of the container
  words.insert(words.end(), program.command.begin(), program.command.end());
  return !find_interpreter(words).words.empty();
}

void put_first(const char* variable, const std::string& folder)
{
  const char* before = std::getenv(variable);
  set(variable, before == nullptr || *before == '\0' ? folder : folder + ":" + before);
}

void redirect(int descriptor, const fs::path& path)
{
  const auto file = open_regular(path, O_WRONLY | O_CREAT | O_APPEND);
  ::dup2(file.get(), descriptor);
}

} // namespace

std::map<std::string, std::string> program_variables(const PlannedRun& run, const AttemptFolder& attempt)
{
  const auto& spec = run.spec;
  std::map<std::string, std::string> variables;
  for (const auto& key : spec_keys()) {
    if (!is_passed(key)) continue;
    if (auto text = to_text(value_of(spec, key)); !text.empty()) variables[variable_of_key(key.path)] = std::move(text);
  }
  for (const auto& [name, value] : spec.program.parameters) variables[variable_of_key("program.parameters." + name)] = value;
  const auto home = home_of(attempt);
  if ((!spec.data.name.empty() && spec.data.name != "synthetic") || !spec.data.path.empty())
    variables["DTCTL_DATA_FOLDER"] = home.data_place(spec.data).string();
  variables["DTCTL_SPEC"] = spec_path(attempt.run_folder()).string();
  variables["DTCTL_KEEP_FOLDER"] = (attempt.run_folder() / "keep").string();
  variables["DTCTL_RUN_KEY"] = run.key;
  variables["DTCTL_REPEAT"] = std::to_string(spec.repeat);
  return variables;
}

std::vector<std::string> prepare_rank(const AttemptFolder& attempt, const RankPosition& position)
{
  const auto run = read_planned_run(attempt.run_folder());
  const auto& spec = run.spec;
  // A launcher that starts ranks on other hosts does not pass these on.
  for (const auto& [name, value] : rank_environment(spec)) set_default(name, value);
  for (const auto& [name, value] : spec.resources.env) set_default(name, value);
  for (const auto& [name, value] : program_variables(run, attempt)) set(name, value);
  const auto work = attempt.path_of(AttemptFile::work);
  if (::chdir(work.c_str()) != 0) throw system_error("enter " + work.string(), errno);
  ::signal(SIGUSR1, SIG_IGN);
  const auto [facts, unused_changes] = position.local_rank == 0 ? facts_of_node(run, attempt) : NodeFacts();
  set_torchrun_variables(
      attempt, spec,
      position); // only now: asking for the environment takes seconds, and meanwhile another process could take the port
  const auto report = begin_reports(attempt, spec, position, facts);
  require_same_environment(run, facts, report);
  // A launcher may start the only rank of a run without the variable RANK.
  set("DTCTL_REPORT", spec.has_own_launcher() && spec.ranks() > 1 ? report_of_each_rank(attempt) : report.string());
  if (position.local_rank == 0) start_load_watch(attempt, spec, first_rank(spec, position));
  set_default("PYTHONUNBUFFERED", "1"); // else what it prints is seen late, or is lost when it is killed
  if (const auto modules = report_modules(); !modules.empty()) {
    put_first("PYTHONPATH", modules.string());
    set("DTCTL_INCLUDE", modules.string());
    if (const auto samples = samples_of_rank(spec.program.samples, spec.workers())) set("DTCTL_SAMPLES", *samples);
    const bool observed = is_observed(spec);
    if (observed || !unused_changes.empty()) put_first("PYTHONPATH", (modules / "observe").string());
    if (!unused_changes.empty()) set("DTCTL_UNUSED_CHANGES", join(unused_changes, " "));
    if (observed)
      set("DTCTL_OBSERVE", fmt::format("{} {} {}", spec.ranks(), continued_attempt(attempt), spec.train.trace ? 1 : 0));
  }
  if (spec.sync.transport != SyncTransport::automatic) set("DTCTL_SYNC_TRANSPORT", std::string(name_of(spec.sync.transport)));
  for (const auto* name : {"libdtctl_sync.so", "libdtctl_sync_torch.so"}) // the module finds the other one beside it
    if (const auto library = shipped_library(name); !library.empty()) {
      set("DTCTL_SYNC_LIBRARY", library.string());
      break;
    }
  if (position.rank == 0 && !spec.program.metrics.empty()) {
    redirect(STDOUT_FILENO, attempt.path_of(AttemptFile::output) / "stdout");
    redirect(STDERR_FILENO, attempt.path_of(AttemptFile::output) / "stderr");
  }
  return words_of_program(spec, attempt);
}

} // namespace dt::jobs
