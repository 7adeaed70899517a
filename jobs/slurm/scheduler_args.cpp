#include "jobs/slurm/scheduler_args.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <functional>
#include <limits>
#include <utility>

namespace dt::jobs::slurm {
namespace {

Error bad_value(const std::string& option, const std::string& value, const std::string& wanted)
{
  return {ErrorKind::recipe,
          "resources.scheduler_args: " + option + " cannot be `" + printable(value) + "`; it takes " + wanted + "."};
}

std::int64_t whole_number(const std::string& text, const std::string& option)
{
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) throw bad_value(option, text, "a whole number");
  return value;
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
std::function<void(SlurmJob&, const std::string&, const std::string&)> gpus_into(std::string SlurmJob::*field)
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

void put_sockets(SlurmJob& job, const std::string& text, const std::string& option)
{
  const auto sockets = whole_number(text, option);
  if (sockets < 1 || sockets > 0xfffd) throw bad_value(option, text, "a whole number from 1");
  job.sockets_per_node = static_cast<std::uint16_t>(sockets);
}

void put_nice(SlurmJob& job, const std::string& text, const std::string& option)
{
  job.nice = text.empty() ? 100 : whole_number(text, option);
}

struct Option {
  const char* name;
  char letter; // 0: no short form
  enum class Value { needed, optional, none } value;
  std::function<void(SlurmJob&, const std::string& text, const std::string& option)> put;
};

std::function<void(SlurmJob&, const std::string&, const std::string&)> text_into(std::string SlurmJob::*field)
{
  return [field](SlurmJob& job, const std::string& text, const std::string&) { job.*field = text; };
}

const std::vector<Option>& options()
{
  using V = Option::Value;
  static const std::vector<Option> rows{
      {"partition", 'p', V::needed, text_into(&SlurmJob::partition)},
      {"account", 'A', V::needed, text_into(&SlurmJob::account)},
      {"qos", 'q', V::needed, text_into(&SlurmJob::qos)},
      {"constraint", 'C', V::needed, text_into(&SlurmJob::constraint)},
      {"reservation", 0, V::needed, text_into(&SlurmJob::reservation)},
      {"exclude", 'x', V::needed, text_into(&SlurmJob::exclude_nodes)},
      {"nodelist", 'w', V::needed, text_into(&SlurmJob::require_nodes)},
      {"mem", 0, V::needed,
       [](SlurmJob& job, const std::string& text, const std::string& option) { job.memory_mib = memory_mib_of(text, option); }},
      {"mem-per-cpu", 0, V::needed,
       [](SlurmJob& job, const std::string& text, const std::string& option) {
         job.memory_per_cpu_mib = memory_mib_of(text, option);
       }},
      {"gres", 0, V::needed, [](SlurmJob& job, const std::string& text, const std::string&) { job.gres = gres_of(text); }},
      {"gpus", 'G', V::needed, gpus_into(&SlurmJob::gpus)},
      {"gpus-per-node", 0, V::needed, gpus_into(&SlurmJob::gpus_per_node)},
      {"gpus-per-socket", 0, V::needed, gpus_into(&SlurmJob::gpus_per_socket)},
      {"gpus-per-task", 0, V::needed, gpus_into(&SlurmJob::gpus_per_task)},
      {"sockets-per-node", 0, V::needed, put_sockets}, // Slurm requires it together with --gpus-per-socket
      {"dependency", 'd', V::needed, text_into(&SlurmJob::user_dependency)},
      {"exclusive", 0, V::none, [](SlurmJob& job, const std::string&, const std::string&) { job.exclusive = true; }},
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
  };
  return rows;
}

[[noreturn]] void refuse(const std::string& word)
{
  std::vector<std::string> known;
  for (const auto& option : options()) known.push_back(std::string("--") + option.name);
  const auto hint = word == "--comment" ? "dtctl uses the comment to recognise its jobs" : "dtctl does not know it";
  throw Error(ErrorKind::recipe, "resources.scheduler_args: `" + printable(word) + "` cannot be used (" + hint +
                                     "); it may be one of: " + join(known, ", ") + ".");
}

// An option split into its parts: "--mem=4G" or "-xnode3". In "--mem" and "-x" the value is missing.
struct Word {
  const Option* option = nullptr;
  std::string shown;
  std::optional<std::string> value;
};

Word long_option(const std::string& word)
{
  const auto equals = word.find('=');
  const auto name = word.substr(0, equals);
  const auto row = std::find_if(options().begin(), options().end(),
                                [&](const Option& option) { return name == std::string("--") + option.name; });
  if (row == options().end()) refuse(name);
  return {&*row, name, equals == std::string::npos ? std::nullopt : std::optional(word.substr(equals + 1))};
}

Word read_word(const std::string& word)
{
  if (word.starts_with("--")) return long_option(word);
  if (word.size() < 2 || word[0] != '-') refuse(word);
  const auto row = std::find_if(options().begin(), options().end(),
                                [&](const Option& option) { return option.letter != 0 && option.letter == word[1]; });
  if (row == options().end()) refuse(word.substr(0, 2));
  return {&*row, word.substr(0, 2), word.size() == 2 ? std::nullopt : std::optional(word.substr(2))};
}

} // namespace

std::int64_t minutes_of(const std::string& text, const std::string& option) { return (seconds_of(text, option) + 59) / 60; }

std::int64_t memory_mib_of(const std::string& text, const std::string& option)
{
  const auto wanted = "a size: 500, 500M, 4G, 1T";
  const auto end = text.find_first_not_of("0123456789");
  const auto unit = end == std::string::npos ? std::string("M") : text.substr(end);
  if (end == 0 || text.empty() || end > 12) {
    if (end != std::string::npos || text.empty() || text.size() > 12) throw bad_value(option, text, wanted);
  }
  const auto count = whole_number(text.substr(0, end), option);
  switch (unit.size() == 1 ? std::toupper(static_cast<unsigned char>(unit[0])) : 0) {
  case 'K':
    return (count + 1023) / 1024;
  case 'M':
    return count;
  case 'G':
    return count * 1024;
  case 'T':
    return count * 1024 * 1024;
  default:
    throw bad_value(option, text, wanted);
  }
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
  }
}

} // namespace dt::jobs::slurm
