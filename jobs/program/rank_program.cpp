#include "jobs/program/rank_program.hpp"

#include "core/cpu_allowance.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/paths.hpp"
#include "core/process.hpp"
#include "core/program/program_words.hpp"
#include "core/spec/spec_schema.hpp"
#include "jobs/launch/rank_start.hpp"
#include "jobs/program/load_watch.hpp"
#include "jobs/program/meeting_point.hpp"
#include "jobs/program/report_lines.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

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

fs::path begin_report(const AttemptFolder& attempt, const RankPosition& position)
{
  const auto path = report_file(attempt, static_cast<std::size_t>(position.rank));
  const RankLine line{position.rank, static_cast<int>(::getpid()), host_name(), cores_of_this_rank(), gpus_of_this_rank()};
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.is_open()) throw system_error("open " + path.string(), errno);
  write_all(file.get(), to_line(line), path);
  return path;
}

void set_torchrun_variables(const AttemptFolder& attempt, const RunSpec& spec, const RankPosition& position)
{
  const auto host = spec.resources.nodes == 1 ? std::string("127.0.0.1") : host_name();
  const auto point = position.rank == 0 ? choose_meeting_point(attempt, host) : wait_for_meeting_point(attempt);
  set("MASTER_ADDR", point.host);
  set("MASTER_PORT", std::to_string(point.port));
  set("RANK", std::to_string(position.rank));
  set("LOCAL_RANK", std::to_string(position.local_rank));
  set("WORLD_SIZE", std::to_string(spec.ranks()));
  set("LOCAL_WORLD_SIZE", std::to_string(spec.resources.ranks_per_node));
}

void put_first(const char* variable, const std::string& folder)
{
  const char* before = std::getenv(variable);
  set(variable, before == nullptr || *before == '\0' ? folder : folder + ":" + before);
}

void redirect(int descriptor, const fs::path& path)
{
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.is_open()) throw system_error("open " + path.string(), errno);
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
  const Home home(attempt.run_folder().parent_path().parent_path());
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
  set_torchrun_variables(attempt, spec, position);
  set("DTCTL_REPORT", begin_report(attempt, position).string());
  if (position.local_rank == 0) start_load_watch(attempt, spec, position.rank);
  set_default("PYTHONUNBUFFERED", "1"); // else what it prints is seen late, or is lost when it is killed
  if (const auto modules = report_modules(); !modules.empty()) {
    put_first("PYTHONPATH", modules.string());
    set("DTCTL_INCLUDE", modules.string());
  }

  const auto work = attempt.path_of(AttemptFile::work);
  if (::chdir(work.c_str()) != 0) throw system_error("enter " + work.string(), errno);
  if (position.rank == 0 && !spec.program.metrics.empty()) {
    redirect(STDOUT_FILENO, attempt.path_of(AttemptFile::output) / "stdout");
    redirect(STDERR_FILENO, attempt.path_of(AttemptFile::output) / "stderr");
  }
  ::signal(SIGUSR1, SIG_IGN);
  auto words = spec.resources.wrapper;
  words.insert(words.end(), spec.program.command.begin(), spec.program.command.end());
  return words;
}

} // namespace dt::jobs
