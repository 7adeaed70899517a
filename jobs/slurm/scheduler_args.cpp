#include "jobs/slurm/scheduler_args.hpp"

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

using Put = std::function<void(SlurmJob&, const std::string& text, const std::string& option)>;

Error bad_value(const std::string& option, const std::string& value, const std::string& wanted)
{
  return {ErrorKind::recipe,
          "resources.scheduler_args: " + option + " cannot be `" + printable(value) + "`; it takes " + wanted + "."};
}

std::int64_t whole_number(const std::string& text, const std::string& option)
{
  if (const auto value = number_of<std::int64_t>(text)) return *value;
  throw bad_value(option, text, "a whole number");
}

// Reads "now+2hours", "16:00", "2026-11-22T08:00[:00]" or "2026-11-22".
std::int64_t moment_of(const std::string& text, const std::string& option)
{
  const auto now = std::time(nullptr);
  std::tm time{};
  localtime_r(&now, &time);
  time.tm_sec = 0;
  if (text == "now") return now;
  if (text.starts_with("now+")) {
    constexpr std::pair<const char*, std::int64_t> units[]{{"", 1},         {"seconds", 1},  {"minutes", 60},
                                                           {"minute", 60},  {"hours", 3600}, {"hour", 3600},
                                                           {"days", 86400}, {"day", 86400},  {"weeks", 604800}};
    const auto digits = text.find_first_not_of("0123456789", 4);
    const auto unit = digits == std::string::npos ? std::string() : text.substr(digits);
    for (const auto& [name, seconds] : units)
      if (unit == name) return now + whole_number(text.substr(4, digits - 4), option) * seconds;
  }
  for (const auto* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%H:%M", "%Y-%m-%d"}) {
    auto parsed = time;
    if (std::string(format) == "%Y-%m-%d") parsed.tm_hour = parsed.tm_min = 0;
    const auto* end = strptime(text.c_str(), format, &parsed);
    if (end == nullptr || *end != '\0') continue;
    parsed.tm_isdst = -1;
    const auto moment = std::mktime(&parsed);
    return moment < now && std::string(format) == "%H:%M" ? moment + 86400 : moment;
  }
  throw bad_value(option, text, "a time: 16:00, 2026-11-22T08:00 or now+2hours");
}

std::uint16_t mail_types_of(const std::string& text, const std::string& option)
{
  constexpr std::pair<const char*, std::uint16_t> types[]{{"NONE", 0},
                                                          {"BEGIN", 1},
                                                          {"END", 2},
                                                          {"FAIL", 4},
                                                          {"REQUEUE", 8},
                                                          {"TIME_LIMIT", 16},
                                                          {"TIME_LIMIT_90", 32},
                                                          {"TIME_LIMIT_80", 64},
                                                          {"TIME_LIMIT_50", 128},
                                                          {"STAGE_OUT", 256},
                                                          {"ARRAY_TASKS", 512},
                                                          {"INVALID_DEPEND", 1024},
                                                          {"ALL", 1 | 2 | 4 | 8 | 256 | 1024}};
  unsigned mask = 0;
  for (auto name : split(text, ',')) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const auto* type = std::find_if(std::begin(types), std::end(types), [&](const auto& row) { return name == row.first; });
    if (type == std::end(types))
      throw bad_value(option, text, "a list of BEGIN, END, FAIL, REQUEUE, ALL, NONE, TIME_LIMIT, ARRAY_TASKS");
    mask |= type->second;
  }
  return static_cast<std::uint16_t>(mask);
}

// Seconds of a time in Slurm's notation: days-hours[:minutes[:seconds]], hours:minutes:seconds or minutes[:seconds].
std::int64_t seconds_of(const std::string& text, const std::string& option)
{
  const auto dash = text.find('-');
  const bool has_days = dash != std::string::npos;
  const auto fields = split(has_days ? text.substr(dash + 1) : text, ':');
  if (fields.size() > 3) throw bad_value(option, text, "minutes, minutes:seconds, hours:minutes:seconds or days-hours:minutes");
  constexpr std::int64_t unit_s[]{3600, 60, 1};
  const std::size_t first = has_days || fields.size() == 3 ? 0 : 1; // a single number means minutes
  std::int64_t sum_s = has_days ? 86400 * whole_number(text.substr(0, dash), option) : 0;
  for (std::size_t i = 0; i < fields.size(); ++i) sum_s += unit_s[first + i] * whole_number(fields[i], option);
  return sum_s;
}

// Reads "2" or "2@30:00": maximum number of switches, and how long to wait for them.
void put_switches(SlurmJob& job, const std::string& text, const std::string& option)
{
  const auto at = text.find('@');
  job.switches = whole_number(text.substr(0, at), option);
  if (at != std::string::npos) job.switches_wait_s = seconds_of(text.substr(at + 1), option);
}

// Converts "gpu:2" to Slurm's internal form "gres:gpu:2".
std::string gres_of(const std::string& text)
{
  std::vector<std::string> parts;
  for (const auto& part : split(text, ',')) parts.push_back(part.starts_with("gres:") ? part : "gres:" + part);
  return text == "none" ? std::string() : join(parts, ",");
}

// Converts "2", "a100:2" or "a100:1,v100:1" to Slurm's internal form "gres:gpu:a100:1,gres:gpu:v100:1".
Put gpus_into(std::string SlurmJob::*field)
{
  return [field](SlurmJob& job, const std::string& text, const std::string& option) {
    std::vector<std::string> parts;
    for (const auto& part : split(text, ',')) {
      if (part.empty()) throw bad_value(option, text, "a count, or type:count[,type:count]");
      parts.push_back("gres:gpu:" + part);
    }
    job.*field = join(parts, ",");
  };
}

// Sets the same fields as sbatch does for a hint. srun inside the job reads the environment variable.
void put_hint(SlurmJob& job, const std::string& text, const std::string& option)
{
  constexpr std::uint16_t no_limit = 0xffff; // INFINITE16
  job.cores_per_socket = job.threads_per_core = job.ntasks_per_core = 0;
  if (text == "memory_bound") job.cores_per_socket = 1;
  if (text == "memory_bound" || text == "compute_bound" || text == "nomultithread")
    job.threads_per_core = 1;
  else if (text == "multithread")
    job.ntasks_per_core = no_limit;
  else
    throw bad_value(option, text, "compute_bound, memory_bound, multithread or nomultithread");
  job.environment["SLURM_HINT"] = text;
}

Put count_into(std::uint16_t SlurmJob::*field)
{
  return [field](SlurmJob& job, const std::string& text, const std::string& option) {
    constexpr std::int64_t most = 0xfffd; // the numbers above have a meaning of their own in Slurm
    const auto count = whole_number(text, option);
    if (count < 1 || count > most) throw bad_value(option, text, fmt::format("a whole number from 1 to {}", most));
    job.*field = static_cast<std::uint16_t>(count);
  };
}

// sbatch allows only one of --mem, --mem-per-cpu and --mem-per-gpu. Here the last one counts, as for any other option.
Put memory_into(std::optional<std::int64_t> SlurmJob::*field)
{
  return [field](SlurmJob& job, const std::string& text, const std::string& option) {
    const auto size = memory_mib_of(text, option);
    job.memory_mib = job.memory_per_cpu_mib = job.memory_per_gpu_mib = std::nullopt;
    job.*field = size;
  };
}

void put_sharing(SlurmJob& job, const std::string& text, const std::string& option)
{
  const auto word = lower_case(text);
  if (word.empty() || word == "exclusive")
    job.sharing = SlurmJob::Sharing::nobody;
  else if (word == "user")
    job.sharing = SlurmJob::Sharing::same_user;
  else if (word == "mcs")
    job.sharing = SlurmJob::Sharing::same_mcs;
  else
    throw bad_value(option, text, "no value, user or mcs");
}

// Slurm's bits of one level of a distribution: 0 for nodes, 1 for sockets, 2 for cores. Nothing for an unknown word.
std::optional<std::uint32_t> distribution_bits(const std::vector<std::string>& levels, std::size_t level)
{
  auto name = levels[level];
  if (name == "*") name = level == 0 ? "block" : level == 1 ? "cyclic" : levels[1] == "*" ? "cyclic" : levels[1]; // the defaults
  constexpr std::array<std::string_view, 3> names{"cyclic", "block", "fcyclic"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end() || (level == 0 && name == "fcyclic")) return std::nullopt;
  return static_cast<std::uint32_t>(found - names.begin() + 1) << (4 * level);
}

// Reads "block", "cyclic:block:fcyclic", "block,NoPack" or "plane=4": how Slurm spreads the tasks over nodes, sockets and cores.
void put_distribution(SlurmJob& job, const std::string& text, const std::string& option)
{
  constexpr std::uint32_t plane = 4, pack = 0x800000, no_pack = 0x400000; // SLURM_DIST_PLANE, …_PACK_NODES, …_NO_PACK_NODES
  constexpr std::size_t most_levels = 3;
  const auto bad = bad_value(option, text,
                             "plane=SIZE, or block, cyclic or * for nodes, sockets and cores (also fcyclic for the "
                             "last two), as in block:cyclic, with ,Pack or ,NoPack behind it");
  auto words = split(lower_case(text), ',');
  job.distribution = 0;
  job.plane_size = 0;
  if (words.back() == "pack" || words.back() == "nopack") {
    job.distribution = words.back() == "pack" ? pack : no_pack;
    words.pop_back();
    if (words.empty()) return;
  }
  if (words.size() != 1) throw bad;
  if (words[0].starts_with("plane=")) {
    job.distribution |= plane;
    return count_into(&SlurmJob::plane_size)(job, words[0].substr(6), option);
  }
  const auto levels = split(words[0], ':');
  if (levels.size() > most_levels) throw bad;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const auto bits = distribution_bits(levels, level);
    if (!bits) throw bad;
    job.distribution |= *bits;
  }
}

void put_nice(SlurmJob& job, const std::string& text, const std::string& option)
{
  job.nice = text.empty() ? 100 : whole_number(text, option);
}

// An option of sbatch: what it is called, and what dtctl does with it.
struct Option {
  const char* name;
  char letter; // 0: no short form
  enum class Value { needed, optional, none, refused } value;
  Put put{};             // into the job's fields, from which libslurm gets it
  bool is_passed = true; // sbatch gets it as it stands; false: dtctl gives sbatch its own, of the same field
  const char* instead{}; // of a refused one, because a key of the recipe or dtctl itself decides: what the user does
};

Option refused(const char* name, char letter, const char* instead)
{
  return {name, letter, Option::Value::refused, {}, false, instead};
}

Put text_into(std::string SlurmJob::*field)
{
  return [field](SlurmJob& job, const std::string& text, const std::string&) { job.*field = text; };
}

const std::vector<Option>& options()
{
  using V = Option::Value;
  static const std::vector<Option> rows{
      {"partition", 'p', V::needed, text_into(&SlurmJob::partition), false},
      {"account", 'A', V::needed, text_into(&SlurmJob::account), false},
      {"qos", 'q', V::needed, text_into(&SlurmJob::qos), false},
      {"constraint", 'C', V::needed, text_into(&SlurmJob::constraint), false},
      {"reservation", 0, V::needed, text_into(&SlurmJob::reservation)},
      {"exclude", 'x', V::needed, text_into(&SlurmJob::exclude_nodes), false},
      {"nodelist", 'w', V::needed, text_into(&SlurmJob::require_nodes), false},
      {"mem", 0, V::needed, memory_into(&SlurmJob::memory_mib)},
      {"mem-per-cpu", 0, V::needed, memory_into(&SlurmJob::memory_per_cpu_mib)},
      {"mem-per-gpu", 0, V::needed, memory_into(&SlurmJob::memory_per_gpu_mib)},
      {"tmp", 0, V::needed,
       [](SlurmJob& job, const std::string& text, const std::string& option) {
         job.temporary_disk_mib = memory_mib_of(text, option);
       }},
      {"gres", 0, V::needed, [](SlurmJob& job, const std::string& text, const std::string&) { job.gres = gres_of(text); }},
      {"gpus", 'G', V::needed, gpus_into(&SlurmJob::gpus)},
      {"gpus-per-node", 0, V::needed, gpus_into(&SlurmJob::gpus_per_node), false},
      {"gpus-per-socket", 0, V::needed, gpus_into(&SlurmJob::gpus_per_socket)},
      {"gpus-per-task", 0, V::needed, gpus_into(&SlurmJob::gpus_per_task)},
      {"sockets-per-node", 0, V::needed, count_into(&SlurmJob::sockets_per_node)}, // needed with --gpus-per-socket
      {"dependency", 'd', V::needed, text_into(&SlurmJob::user_dependency), false},
      {"exclusive", 0, V::optional, put_sharing},
      {"oversubscribe", 's', V::none,
       [](SlurmJob& job, const std::string&, const std::string&) { job.sharing = SlurmJob::Sharing::anybody; }},
      {"cores-per-socket", 0, V::needed, count_into(&SlurmJob::cores_per_socket)},
      {"threads-per-core", 0, V::needed, count_into(&SlurmJob::threads_per_core)},
      {"ntasks-per-core", 0, V::needed, count_into(&SlurmJob::ntasks_per_core)},
      {"mincpus", 0, V::needed, count_into(&SlurmJob::least_cpus_per_node)},
      {"cpus-per-gpu", 0, V::needed, count_into(&SlurmJob::cpus_per_gpu)},
      {"distribution", 'm', V::needed, put_distribution},
      {"contiguous", 0, V::none, [](SlurmJob& job, const std::string&, const std::string&) { job.contiguous = true; }},
      {"nice", 0, V::optional, put_nice},
      {"licenses", 'L', V::needed, text_into(&SlurmJob::licenses)},
      {"begin", 'b', V::needed,
       [](SlurmJob& job, const std::string& text, const std::string& option) { job.begin_unix_s = moment_of(text, option); }},
      {"deadline", 0, V::needed,
       [](SlurmJob& job, const std::string& text, const std::string& option) { job.deadline_unix_s = moment_of(text, option); }},
      {"time-min", 0, V::needed,
       [](SlurmJob& job, const std::string& text, const std::string& option) { job.time_min_min = minutes_of(text, option); }},
      {"hint", 0, V::needed, put_hint},
      {"prefer", 0, V::needed, text_into(&SlurmJob::prefer)},
      {"container", 0, V::needed, text_into(&SlurmJob::container)},
      {"mail-type", 0, V::needed,
       [](SlurmJob& job, const std::string& text, const std::string& option) { job.mail_type = mail_types_of(text, option); }},
      {"mail-user", 0, V::needed, text_into(&SlurmJob::mail_user)},
      {"switches", 0, V::needed, put_switches},
      {"hold", 'H', V::none, [](SlurmJob& job, const std::string&, const std::string&) { job.hold = true; }},
      {"wckey", 0, V::needed, text_into(&SlurmJob::wckey)},
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
    if (with_refused || option.value != Option::Value::refused) names.push_back(std::string("--") + option.name);
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
  if (row->value == Option::Value::refused) refuse(shown, row->instead);
  const auto begin_of_value = is_long ? end + 1 : end;
  return {&*row, shown, end == word.size() ? std::nullopt : std::optional(word.substr(begin_of_value))};
}

// The last of equal options counts, and the last of the sizes of memory, of which sbatch allows one.
void pass(const Option& option, const std::optional<std::string>& value, std::map<std::string, std::string>& passed)
{
  constexpr std::string_view memory = "mem";
  if (std::string_view(option.name).starts_with(memory))
    std::erase_if(passed, [&](const auto& other) { return other.first.starts_with(memory); });
  passed[option.name] = value ? fmt::format("--{}={}", option.name, *value) : fmt::format("--{}", option.name);
}

// "; 2.5G is 2560M" for a size with a decimal point, which is the only mistake that needs arithmetic.
std::string in_whole_mib(const std::string& number, std::int64_t unit_mib)
{
  const double value = number_of<double>(number).value_or(0);
  constexpr double most = 1e9;
  if (!(value > 0 && value < most)) return {};
  return fmt::format("{}M", static_cast<std::int64_t>(std::ceil(value * static_cast<double>(unit_mib))));
}

} // namespace

std::int64_t minutes_of(const std::string& text, const std::string& option) { return (seconds_of(text, option) + 59) / 60; }

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
  constexpr std::size_t most_digits = 12;
  if (number.empty() || number.size() > most_digits) throw bad_value(option, text, wanted);
  const auto count = whole_number(number, option);
  return place == 0 ? (count + 1023) / 1024 : count * unit_mib;
}

void apply_scheduler_args(std::span<const std::string> args, SlurmJob& job)
{
  for (std::size_t i = 0; i < args.size(); ++i) {
    auto word = read_word(args[i]);
    if (word.option->value == Option::Value::needed && !word.value) {
      if (i + 1 == args.size()) throw bad_value(word.shown, "", "a value");
      word.value = args[++i];
    }
    if (word.option->value == Option::Value::none && word.value) throw bad_value(word.shown, *word.value, "no value");
    word.option->put(job, word.value.value_or(""), word.shown);
    if (word.option->is_passed) pass(*word.option, word.value, job.passed_options);
  }
  // sbatch takes only one of the hint and what it stands for.
  if (job.passed_options.contains("hint"))
    for (const auto* part : {"cores-per-socket", "threads-per-core", "ntasks-per-core"}) job.passed_options.erase(part);
}

} // namespace dt::jobs::slurm
