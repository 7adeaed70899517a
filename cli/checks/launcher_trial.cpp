#include "cli/checks/launcher_trial.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/maths/statistics.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/launch/batch_script.hpp"
#include "jobs/launch/launcher.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

// Arguments: number of the way, number of the try, then the command.
constexpr std::string_view one_try = R"bash(
try() {
  local way=$1 try=$2 begin=$EPOCHREALTIME code end
  shift 2
  timeout --kill-after 5 "$limit_s" "$@" > "$way.$try.out" 2> "$way.$try.err" < /dev/null
  code=$?
  end=$EPOCHREALTIME
  echo "$way $try $code $(((${end/[.,]/} - ${begin/[.,]/}) / 1000))" >> results
}
)bash";

RunSpec spec_of(RunSpec spec, const LaunchWay& way)
{
  spec.resources.launcher = way.launcher;
  spec.resources.oversubscribe = true; // the trial measures nothing, and nodes may be busy
  auto& args = spec.resources.launcher_args;
  if (way.launcher == "srun") args.clear(); // the profile's arguments belong to its own launcher
  args.insert(args.end(), way.args.begin(), way.args.end());
  return spec;
}

// A shell function for one way, with the environment variables that its launcher needs.
std::string way_function(const RunSpec& spec, const LaunchWay& way, std::size_t number, const std::string& engine,
                         const std::string& agent)
{
  const auto launcher = jobs::make_launcher(way.launcher);
  const auto own = spec_of(spec, way);
  std::string text = fmt::format("\nway_{}() (\n", number);
  for (const auto& [name, value] : launcher->environment(own)) text += "  export " + name + "=" + shell_quote(value) + "\n";
  text += fmt::format("  try {} \"$1\"", number);
  for (const auto& word : launcher->command(own, agent, {engine, "hello"})) text += " " + shell_quote(word);
  return text + "\n)\n";
}

// The first line that is not one of Slurm's reports about the end of tasks, because those do not contain the cause.
std::string telling_line(const fs::path& file)
{
  const auto text = read_file_if_exists(file).value_or("");
  if (text.find("not built with SLURM's PMI support") != std::string::npos) return "the MPI library does not support this plugin";
  const auto lines = split(trim(text), '\n');
  const auto tells = [](const std::string& line) {
    return !line.starts_with("srun: ") && !line.starts_with("slurmstepd") && line.find_first_not_of("-= \t") != std::string::npos;
  };
  const auto found = std::find_if(lines.begin(), lines.end(), tells);
  return printable(found != lines.end() ? *found : lines.empty() ? "" : lines.back());
}

std::string exit_words(int code, const fs::path& err)
{
  constexpr int killed_by_timeout = 124;
  const auto said = telling_line(err);
  const auto how = code == killed_by_timeout ? fmt::format("no end within {} s", try_limit_s) : fmt::format("exit code {}", code);
  return said.empty() ? how : how + ": " + said;
}

// Whether the output is exactly one greeting of all ranks. Ranks that each run alone print one greeting each.
bool says_hello(const std::string& out, std::int64_t ranks, std::int64_t nodes)
{
  return trim(out) == fmt::format("hello {} ranks on {} hosts", ranks, nodes);
}

struct Line {
  std::size_t way = 0;
  int number = 0, code = 0;
  double milliseconds = 0;
};

std::vector<Line> read_lines(const fs::path& file)
{
  std::vector<Line> lines;
  std::istringstream text(read_file_if_exists(file).value_or(""));
  for (Line line; text >> line.way >> line.number >> line.code >> line.milliseconds;) lines.push_back(line);
  return lines;
}

Finding finding_of(const TrialOutcome& outcome)
{
  const auto found = fmt::format("{} of {} launches worked{}", outcome.worked, outcome.tries,
                                 outcome.worked > 0 ? ", " + format_seconds(outcome.median_s) + " each" : std::string());
  if (outcome.tries > 0 && outcome.worked == outcome.tries) return {outcome.way.name(), Level::ok, found, ""};
  if (outcome.apart > 0 && outcome.worked == 0)
    return {outcome.way.name(), Level::warn, found, "each rank ran alone: this plugin and the MPI library do not work together"};
  return {outcome.way.name(), Level::warn, found, outcome.words};
}

std::string profile_lines(const LaunchWay& way)
{
  return "launcher: " + way.launcher + (way.args.empty() ? "" : ", launcher_args: [" + join(way.args, ", ") + "]");
}

} // namespace

std::string LaunchWay::name() const { return args.empty() ? launcher : launcher + " " + join(args, " "); }

std::vector<LaunchWay> launch_ways(const std::vector<std::string>& mpi_plugins)
{
  std::vector<LaunchWay> ways{{"mpirun", {}}};
  for (const auto& plugin : mpi_plugins) ways.push_back({"srun", {"--mpi=" + plugin}});
  return ways;
}

std::string trial_script(const RunSpec& spec, std::span<const LaunchWay> ways, const std::string& engine,
                         const std::string& agent, const fs::path& folder)
{
  const auto& resources = spec.resources;
  std::string text = fmt::format("#!/bin/bash\n# Which launchers start ranks here: dtctl doctor --launchers\ncd {} || exit 1\n"
                                 "limit_s={}\n",
                                 shell_quote(folder.string()), try_limit_s);
  for (const auto& [name, value] : resources.env) text += "export " + name + "=" + shell_quote(value) + "\n";
  for (const auto& line : resources.setup_before) text += "eval " + shell_quote(line) + " || exit 1\n";
  if (!resources.modules.empty()) text += jobs::find_modules;
  for (const auto& name : resources.modules) text += "module load " + shell_quote(name) + " || exit 1\n";
  for (const auto& line : resources.setup) text += "eval " + shell_quote(line) + " || exit 1\n";
  text += one_try;
  for (std::size_t i = 0; i < ways.size(); ++i) text += way_function(spec, ways[i], i, engine, agent);
  text += fmt::format("\nfor try in {{1..{}}}; do\n", tries_a_way);
  for (std::size_t i = 0; i < ways.size(); ++i) text += fmt::format("  way_{} \"$try\"\n", i);
  return text + "done\necho done > done\n";
}

std::vector<TrialOutcome> read_outcomes(std::span<const LaunchWay> ways, const fs::path& folder, std::int64_t ranks,
                                        std::int64_t nodes)
{
  std::vector<TrialOutcome> outcomes;
  for (const auto& way : ways) outcomes.push_back({.way = way, .words = {}});
  std::vector<std::vector<double>> seconds(ways.size());
  for (const auto& line : read_lines(folder / "results")) {
    if (line.way >= ways.size()) continue;
    auto& outcome = outcomes[line.way];
    const auto name = fmt::format("{}.{}", line.way, line.number);
    const auto out = read_file_if_exists(folder / (name + ".out")).value_or("");
    ++outcome.tries;
    if (line.code == 0 && says_hello(out, ranks, nodes)) {
      ++outcome.worked;
      seconds[line.way].push_back(line.milliseconds / 1000);
    } else if (line.code == 0) {
      ++outcome.apart;
      outcome.words = "exit code 0, but it printed: " + printable(trim(out));
    } else {
      outcome.words = exit_words(line.code, folder / (name + ".err"));
    }
  }
  for (std::size_t i = 0; i < ways.size(); ++i)
    if (!seconds[i].empty()) outcomes[i].median_s = median(seconds[i]);
  return outcomes;
}

const TrialOutcome* best_way(std::span<const TrialOutcome> outcomes)
{
  const auto is_worse = [](const TrialOutcome& a, const TrialOutcome& b) {
    if (a.worked != b.worked) return a.worked < b.worked;
    if ((a.way.launcher == "mpirun") != (b.way.launcher == "mpirun")) return b.way.launcher == "mpirun";
    return a.median_s > b.median_s;
  };
  const auto best = std::max_element(outcomes.begin(), outcomes.end(), is_worse);
  return best == outcomes.end() || best->worked == 0 ? nullptr : &*best;
}

std::vector<Finding> judge_outcomes(std::span<const TrialOutcome> outcomes)
{
  std::vector<Finding> findings;
  for (const auto& outcome : outcomes) findings.push_back(finding_of(outcome));
  const auto* best = best_way(outcomes);
  if (best == nullptr)
    findings.push_back({"launcher", Level::fail, "no launcher starts ranks that can communicate",
                        "load the MPI library that dtengine was built with (resources.modules); the outputs are named below"});
  else if (best->worked < best->tries)
    findings.push_back({"launcher", Level::warn, best->way.name() + " works best, but not always",
                        "put into the profile: resources: { " + profile_lines(best->way) +
                            " }; a launch that ends before its first step is repeated (resources.launch_tries)"});
  else
    findings.push_back({"launcher", Level::ok, best->way.name() + " works",
                        "put into the profile: resources: { " + profile_lines(best->way) + " }"});
  return findings;
}

} // namespace dt::cli
