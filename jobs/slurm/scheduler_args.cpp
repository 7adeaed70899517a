#include "jobs/slurm/scheduler_args.hpp"

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

Error bad_value(const std::string& option, const std::string& value, const std::string& wanted)
{
  return {ErrorKind::recipe,
          "resources.scheduler_args: " + option + " cannot be `" + printable(value) + "`; it takes " + wanted + "."};
}

// An option of sbatch, and what dtctl does with it: it is passed to sbatch as it stands; or dtctl reads it into `field` and gives
// Slurm its own; or it is refused, because a key of the recipe or dtctl itself decides, and `instead` says what the user does.
struct Option {
  const char* name;
  char letter = 0; // 0: no short form
  enum class Value { needed, optional, none } value = Value::needed;
  std::string SlurmJob::*field = nullptr;
  const char* instead = nullptr;
};

Option read_into(const char* name, char letter, std::string SlurmJob::*field)
{
  return {name, letter, Option::Value::needed, field};
}

Option refused(const char* name, char letter, const char* instead)
{
  return {name, letter, Option::Value::optional, nullptr, instead};
}

const std::vector<Option>& options()
{
  constexpr auto needed = Option::Value::needed, optional = Option::Value::optional, none = Option::Value::none;
  static const std::vector<Option> rows{
      read_into("partition", 'p', &SlurmJob::partition),
      read_into("account", 'A', &SlurmJob::account),
      read_into("qos", 'q', &SlurmJob::qos),
      read_into("constraint", 'C', &SlurmJob::constraint),
      read_into("exclude", 'x', &SlurmJob::exclude_nodes),
      read_into("nodelist", 'w', &SlurmJob::require_nodes),
      read_into("dependency", 'd', &SlurmJob::user_dependency),
      {"reservation"},
      {"mem"},
      {"mem-per-cpu"},
      {"mem-per-gpu"},
      {"tmp"},
      {"gres"},
      {"gpus", 'G'},
      {"gpus-per-node"},
      {"gpus-per-socket"},
      {"gpus-per-task"},
      {"sockets-per-node"}, // needed with --gpus-per-socket
      {"exclusive", 0, optional},
      {"oversubscribe", 's', none},
      {"cores-per-socket"},
      {"threads-per-core"},
      {"ntasks-per-core"},
      {"mincpus"},
      {"cpus-per-gpu"},
      {"distribution", 'm', needed},
      {"contiguous", 0, none},
      {"nice", 0, optional},
      {"licenses", 'L'},
      {"begin", 'b'},
      {"deadline"},
      {"time-min"},
      {"hint"},
      {"prefer"},
      {"container"},
      {"mail-type"},
      {"mail-user"},
      {"switches"},
      {"hold", 'H', none},
      {"wckey"},
      refused("time", 't', "use resources.time_limit"),
      refused("nodes", 'N', "use resources.nodes"),
      refused("ntasks", 'n', "use resources.nodes and resources.ranks_per_node"),
      refused("ntasks-per-node", 0, "use resources.ranks_per_node"),
      refused("ntasks-per-socket", 0, "use resources.ranks_per_node"),
      refused("ntasks-per-gpu", 0, "use resources.ranks_per_node and resources.gpus_per_rank"),
      refused("cpus-per-task", 'c', "use resources.threads_per_rank"),
      refused("overcommit", 'O', "use resources.oversubscribe: true"),
      refused("requeue", 0, "use resources.requeue, the number of restarts"),
      refused("no-requeue", 0, "use resources.requeue: 0"),
      refused("signal", 0, "use resources.signal_ahead"),
      refused("export", 0, "use resources.env"),
      refused("export-file", 0, "use resources.env"),
      refused("get-user-env", 0, "use resources.setup or resources.env"),
      refused("chdir", 'D', "change to the folder before you submit, or use resources.setup"),
      refused("array", 'a', "use `sweep` or study.repeats; dtctl makes the arrays, and --max-jobs limits them"),
      refused("job-name", 'J', "dtctl uses the name to recognise its jobs; use the recipe's name or label"),
      refused("comment", 0, "dtctl uses the comment to recognise its jobs"),
      refused("output", 'o', "the output is in the run's folder; dtctl logs shows it"),
      refused("error", 'e', "the output is in the run's folder; dtctl logs shows it"),
      refused("input", 'i', "a job of dtctl reads no input"),
      refused("open-mode", 0, "dtctl appends to its log"),
      refused("wrap", 0, "use program.command, or resources.wrapper"),
      refused("wait", 'W', "use dtctl's own --wait"),
      refused("test-only", 0, "use dtctl sweep --dry-run"),
      refused("parsable", 0, "use dtctl's own --json"),
      refused("quiet", 'Q', "use dtctl's own --quiet"),
      refused("verbose", 'v', "use dtctl's own --verbose"),
      refused("clusters", 'M', "dtctl submits to the cluster of SLURM_CONF"),
      refused("mpi", 0, "it is an option of srun; use resources.launcher_args"),
      refused("cpu-bind", 0, "it is an option of srun; use resources.launcher_args"),
  };
  return rows;
}

std::vector<std::string> names_of(bool with_refused)
{
  std::vector<std::string> names;
  for (const auto& option : options())
    if (with_refused || option.instead == nullptr) names.push_back(std::string("--") + option.name);
  return names;
}

[[noreturn]] void refuse(const std::string& word, const std::string& why)
{
  throw Error(ErrorKind::recipe, "resources.scheduler_args: `" + printable(word) + "` cannot be used: " + why + ".");
}

[[noreturn]] void refuse_unknown(const std::string& word)
{
  const auto known = names_of(false);
  const auto near = nearest(word.starts_with("--") ? word : "--" + word, known);
  refuse(word, "dtctl does not know it" + (near ? "; did you mean `" + *near + "`? It" : "; it") +
                   " may be one of: " + join(known, ", "));
}

// The full name, with its dashes. Like sbatch, takes the beginning of a name if it is of one option only.
std::string full_name(const std::string& name)
{
  auto names = names_of(true);
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  std::erase_if(names, [&](const std::string& one) { return !one.starts_with(name); });
  if (names.empty() || name == "--") refuse_unknown(name);
  if (names.size() > 1) refuse(name, "it is the beginning of several options: " + join(names, ", "));
  return names.front();
}

// An option split into its parts: "--mem=4G" or "-xnode3". In "--mem" and "-x" the value is missing.
struct Word {
  const Option* option = nullptr;
  std::string shown;
  std::optional<std::string> value;
};

Word read_word(const std::string& word)
{
  const bool is_long = word.starts_with("--");
  if (word.size() < 2 || word[0] != '-') refuse_unknown(word);
  const auto end = is_long ? std::min(word.find('='), word.size()) : 2;
  const auto shown = is_long ? full_name(word.substr(0, end)) : word.substr(0, end);
  const auto is_it = [&](const auto& row) {
    return is_long ? shown.substr(2) == row.name : row.letter != 0 && row.letter == shown[1];
  };
  const auto row = std::find_if(options().begin(), options().end(), is_it);
  if (row == options().end()) refuse_unknown(shown);
  if (row->instead != nullptr) refuse(shown, row->instead);
  const auto begin_of_value = is_long ? end + 1 : end;
  return {&*row, shown, end == word.size() ? std::nullopt : std::optional(word.substr(begin_of_value))};
}

// The last of equal options counts, and the last of the sizes of memory, of which sbatch allows one.
void pass(const std::string& name, const std::string& value, std::map<std::string, std::string>& passed)
{
  constexpr std::string_view memory = "mem";
  if (name.starts_with(memory)) std::erase_if(passed, [&](const auto& other) { return other.first.starts_with(memory); });
  passed[name] = value;
}

// "; 2.5G is 2560M" for a size with a decimal point, which is the only mistake that needs arithmetic.
std::string in_whole_mib(const std::string& number, std::int64_t unit_mib)
{
  const double value = number_of<double>(number).value_or(0);
  constexpr double most = 1e9;
  if (!(value > 0 && value < most)) return {};
  return fmt::format("{}M", static_cast<std::int64_t>(std::ceil(value * static_cast<double>(unit_mib))));
}

// Minutes, rounded up, of a time in Slurm's notation: "90" (minutes), "10:00" (minutes and seconds), "1:30:00", "1-12",
// "1-12:30".
std::int64_t minutes_of(const std::string& text, const std::string& option)
{
  if (const auto minutes = number_of<std::int64_t>(text); minutes && *minutes >= 0) return *minutes;
  const auto seconds = text.find_first_not_of("0123456789:-") == text.npos ? parse_duration_s(text) : std::nullopt;
  if (seconds) return (*seconds + 59) / 60;
  throw bad_value(option, text, "minutes, minutes:seconds, hours:minutes:seconds or days-hours:minutes");
}

// MiB, rounded up, of "500" (MiB), "500M", "4G", "4GB", "1t", "2048K".
std::int64_t memory_mib_of(const std::string& text, const std::string& option)
{
  const auto unit_begin = text.find_first_not_of("0123456789.");
  const auto number = text.substr(0, unit_begin);
  auto unit = unit_begin == std::string::npos ? std::string("m") : lower_case(text.substr(unit_begin));
  if (unit.size() == 2 && unit[1] == 'b') unit.pop_back(); // sbatch takes GB for G
  const auto place = std::string_view("kmgt").find(unit.size() == 1 ? unit[0] : '?');
  const std::string wanted = "a whole number and K, M, G or T, such as 500M or 4G";
  if (place == std::string_view::npos) throw bad_value(option, text, wanted);
  const std::int64_t unit_mib = place == 3 ? 1024 * 1024 : place == 2 ? 1024 : 1;
  if (number.find('.') != std::string::npos) {
    const auto whole = place == 0 ? std::string() : in_whole_mib(number, unit_mib);
    throw bad_value(option, text, whole.empty() ? wanted : wanted + "; " + text + " is " + whole);
  }
  constexpr std::int64_t most = 999'999'999'999;
  const auto count = number_of<std::int64_t>(number);
  if (!count || *count > most) throw bad_value(option, text, wanted);
  return place == 0 ? (*count + 1023) / 1024 : *count * unit_mib;
}

// What dtctl compares with the site and with its own limits.
void read_passed(SlurmJob& job)
{
  const auto& passed = job.passed_options;
  const auto memory_in = [&](const std::string& name) {
    const auto value = passed.find(name);
    return value == passed.end() ? std::nullopt : std::optional(memory_mib_of(value->second, "--" + name));
  };
  job.memory_mib = memory_in("mem");
  job.memory_per_cpu_mib = memory_in("mem-per-cpu");
  if (const auto least = passed.find("time-min"); least != passed.end())
    job.time_min_min = minutes_of(least->second, "--time-min");
}

} // namespace

void apply_scheduler_args(std::span<const std::string> args, SlurmJob& job)
{
  for (std::size_t i = 0; i < args.size(); ++i) {
    auto word = read_word(args[i]);
    if (word.option->value == Option::Value::needed && !word.value) {
      if (i + 1 == args.size()) throw bad_value(word.shown, "", "a value");
      word.value = args[++i];
    }
    if (word.option->value == Option::Value::none && word.value) throw bad_value(word.shown, *word.value, "no value");
    if (word.option->field != nullptr)
      job.*word.option->field = word.value.value_or("");
    else
      pass(word.option->name, word.value.value_or(""), job.passed_options);
  }
  read_passed(job);
}

} // namespace dt::jobs::slurm
