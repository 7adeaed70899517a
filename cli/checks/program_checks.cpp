#include "cli/checks/program_checks.hpp"

#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/program/program_files.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "jobs/machine/gpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;
using Findings = std::vector<ProgramFinding>;
using Names = std::set<std::string>;

bool runs_here(const RunSpec& run)
{
  const auto& resources = run.resources;
  return scheduler_row(resources.scheduler).uses_this_machine && resources.hosts.empty() && resources.modules.empty() &&
         resources.setup.empty() && resources.setup_before.empty();
}

std::string path_variable(const RunSpec& run)
{
  if (const auto own = run.resources.env.find("PATH"); own != run.resources.env.end()) return own->second;
  const char* path = std::getenv("PATH");
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

// Why the program that begins a command cannot be started on this machine; empty if it can.
std::string objection_to(const std::string& program, const RunSpec& run)
{
  if (program.find('/') == std::string::npos)
    return !find_program(program, path_variable(run)).empty() ? "" : "there is no program " + program + " in PATH";
  if (!fs::path(program).is_absolute()) return {};
  if (!find_program(program, {}).empty()) return {};
  return fs::exists(program) ? program + " is not executable" : "there is no program " + program;
}

std::string normal(const std::string& word) { return fs::path(word).lexically_normal().string(); }

// Why the program cannot be started from the run's copy of its files; empty if it can, or if it is not of the copy.
std::string objection_in_copy(const std::string& program, const std::vector<ProgramFile>& files)
{
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.name == normal(program); });
  const bool is_path = program.find('/') != std::string::npos && !fs::path(program).is_absolute();
  if (!is_path && found != files.end()) return program + " is in program.files, but not in PATH; write ./" + program;
  if (!is_path) return {};
  if (found == files.end()) return program + " is not in program.files, and the program runs in a copy of these files";
  if (found->is_executable) return {};
  return program + " is not executable; make it so (chmod +x), or write its interpreter before it";
}

bool is_interpreter(const std::string& word)
{
  const auto name = fs::path(word).filename().string();
  return name.starts_with("python") || name == "bash" || name == "sh";
}

// A word that names a file which the program will not find, because it is not in program.files.
bool names_missing_file(const std::vector<std::string>& command, std::size_t at, const Names& names, const fs::path& folder)
{
  const auto& word = command[at];
  if (word.empty() || word.starts_with('-') || fs::path(word).is_absolute() || names.contains(normal(word))) return false;
  std::error_code unknown;
  const bool is_script = at == 1 && is_interpreter(command[0]) && (word.ends_with(".py") || word.ends_with(".sh"));
  return is_script || fs::is_regular_file(folder / word, unknown);
}

void check_command(const RunSpec& run, const std::vector<ProgramFile>& files, const fs::path& folder, Findings& findings)
{
  const auto& command = run.program.command;
  Names names;
  for (const auto& file : files) names.insert(file.name);
  auto objection = objection_in_copy(command.front(), files);
  if (objection.empty() && run.resources.wrapper.empty() && runs_here(run)) objection = objection_to(command.front(), run);
  if (!objection.empty()) findings.push_back({{"program.command"}, "`program.command`: " + printable(objection), 0});
  for (std::size_t i = 1; i < command.size(); ++i)
    if (names_missing_file(command, i, names, folder))
      findings.push_back({{"program.command"},
                          fmt::format("`program.command` names {}, which is not in `program.files`: the program runs in a copy "
                                      "of these files; add it there, or write its absolute path",
                                      printable(command[i])),
                          i});
}

} // namespace

std::vector<ProgramFinding> find_program_findings(const RunSpec& run, const fs::path& folder)
{
  Findings findings;
  try {
    check_command(run, program_files(run.program), folder, findings);
    if (findings.empty()) program_id(run); // reads all files
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::recipe) throw;
    findings.push_back({{"program.files", "program.command"}, error.what()});
  }
  return findings;
}

std::vector<ProgramFinding> find_start_findings(const RunSpec& run)
{
  Findings findings;
  const auto& resources = run.resources;
  if (!resources.wrapper.empty() && runs_here(run))
    if (const auto objection = objection_to(resources.wrapper.front(), run); !objection.empty())
      findings.push_back({{"resources.wrapper"}, "`resources.wrapper`: " + printable(objection), 0});
  const bool needs_gpus_here = resources.gpus_per_node > 0 && scheduler_row(resources.scheduler).uses_this_machine;
  // If the recipe gives only gpus_per_rank, gpus_per_node was computed from it: the finding names the key that the user wrote.
  const bool is_by_rank =
      resources.gpus_per_rank > 0 && resources.gpus_per_node == resources.gpus_per_rank * resources.ranks_per_node;
  const std::string_view given = is_by_rank ? "resources.gpus_per_rank" : "resources.gpus_per_node";
  if (needs_gpus_here && resources.hosts.empty())
    if (const auto found = jobs::gpus_here(); found < resources.gpus_per_node)
      findings.push_back({{given},
                          fmt::format("`{}` asks for {} on a node, but this machine has {}; run on a cluster "
                                      "(resources.scheduler: slurm), or remove the key",
                                      given, resources.gpus_per_node, found == 0 ? "no GPU" : std::to_string(found))});
  return findings;
}

} // namespace dt::cli
