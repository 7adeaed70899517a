#include "jobs/slurm/access/sbatch_words.hpp"

#include "core/text.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

// Collects options; those without a value are left to the site.
class OptionWords {
 public:
  void flag(const char* name, bool is_set = true)
  {
    if (is_set) words_.push_back(std::string("--") + name);
  }
  void text(const char* name, const std::string& value)
  {
    if (!value.empty()) words_.push_back(fmt::format("--{}={}", name, value));
  }
  void number(const char* name, std::int64_t value) { words_.push_back(fmt::format("--{}={}", name, value)); }
  void positive(const char* name, std::int64_t value)
  {
    if (value > 0) number(name, value);
  }
  void mebibytes(const char* name, const std::optional<std::int64_t>& value)
  {
    if (value) words_.push_back(fmt::format("--{}={}M", name, *value));
  }
  std::vector<std::string> take() { return std::move(words_); }

 private:
  std::vector<std::string> words_{"sbatch", "--parsable"};
};

// "gres:gpu:a100:1,gres:gpu:v100:1", Slurm's internal form, without `prefix` at each part.
std::string without_prefix(const std::string& list, std::string_view prefix)
{
  std::vector<std::string> parts;
  if (list.empty()) return {};
  for (const auto& part : split(list, ',')) parts.push_back(part.starts_with(prefix) ? part.substr(prefix.size()) : part);
  return join(parts, ",");
}

std::string mail_type_names(std::uint16_t mask)
{
  constexpr std::pair<std::uint16_t, const char*> types[]{{1, "BEGIN"},
                                                          {2, "END"},
                                                          {4, "FAIL"},
                                                          {8, "REQUEUE"},
                                                          {16, "TIME_LIMIT"},
                                                          {32, "TIME_LIMIT_90"},
                                                          {64, "TIME_LIMIT_80"},
                                                          {128, "TIME_LIMIT_50"},
                                                          {256, "STAGE_OUT"},
                                                          {512, "ARRAY_TASKS"},
                                                          {1024, "INVALID_DEPEND"}};
  std::vector<std::string> names;
  for (const auto& [bit, name] : types)
    if ((mask & bit) != 0) names.emplace_back(name);
  return join(names, ",");
}

// "cyclic:block,Pack" of Slurm's SLURM_DIST_ bits: four bits a level, of nodes, sockets and cores.
std::string distribution_text(const SlurmJob& job)
{
  constexpr std::uint32_t plane = 4, pack = 0x800000, no_pack = 0x400000;
  constexpr std::array<const char*, 4> names{"*", "cyclic", "block", "fcyclic"};
  std::vector<std::string> levels;
  const auto level = [&](int place) { return job.distribution >> (4 * place) & 0xf; };
  const int last = level(2) != 0 ? 2 : level(1) != 0 ? 1 : level(0) != 0 ? 0 : -1;
  if (level(0) == plane)
    levels.push_back(fmt::format("plane={}", job.plane_size));
  else
    for (int place = 0; place <= last; ++place) levels.emplace_back(names[level(place) & 3]);
  std::vector<std::string> words;
  if (!levels.empty()) words.push_back(join(levels, ":"));
  if ((job.distribution & pack) != 0) words.emplace_back("Pack");
  if ((job.distribution & no_pack) != 0) words.emplace_back("NoPack");
  return join(words, ",");
}

void put_text_options(OptionWords& words, const SlurmJob& job)
{
  words.text("comment", job.comment); // first, so that the submit line, which the accounting keeps, begins with it
  words.text("job-name", job.name);
  words.text("chdir", job.work_dir);
  words.text("output", job.out_path);
  words.text("input", "/dev/null");
  words.text("open-mode", "append");
  words.text("propagate", "NONE"); // the node's own limits, as for a job that is submitted through libslurm
}

void put_size_options(OptionWords& words, const SlurmJob& job)
{
  words.number("nodes", job.nodes);
  words.number("ntasks", job.tasks);
  words.number("ntasks-per-node", job.tasks_per_node);
  words.number("cpus-per-task", job.cpus_per_task);
  words.positive("time", job.time_limit_min);
  words.positive("time-min", job.time_min_min);
  words.mebibytes("mem", job.memory_mib);
  words.mebibytes("mem-per-cpu", job.memory_per_cpu_mib);
  words.mebibytes("mem-per-gpu", job.memory_per_gpu_mib);
  if (job.temporary_disk_mib > 0) words.mebibytes("tmp", job.temporary_disk_mib);
  words.positive("mincpus", job.least_cpus_per_node);
  words.positive("cpus-per-gpu", job.cpus_per_gpu);
  words.positive("sockets-per-node", job.sockets_per_node);
  words.text("distribution", distribution_text(job));
  if (const auto hint = job.environment.find("SLURM_HINT"); hint != job.environment.end())
    return words.text("hint", hint->second); // sbatch takes only one of the hint and what it stands for
  words.positive("cores-per-socket", job.cores_per_socket);
  words.positive("threads-per-core", job.threads_per_core);
  words.positive("ntasks-per-core", job.ntasks_per_core);
}

void put_sharing_option(OptionWords& words, SlurmJob::Sharing sharing)
{
  using Sharing = SlurmJob::Sharing;
  words.flag("exclusive", sharing == Sharing::nobody);
  words.flag("exclusive=user", sharing == Sharing::same_user);
  words.flag("exclusive=mcs", sharing == Sharing::same_mcs);
  words.flag("oversubscribe", sharing == Sharing::anybody);
}

void put_place_options(OptionWords& words, const SlurmJob& job)
{
  put_sharing_option(words, job.sharing);
  words.flag("contiguous", job.contiguous);
  words.text("partition", job.partition);
  words.text("account", job.account);
  words.text("qos", job.qos);
  words.text("constraint", job.constraint);
  words.text("prefer", job.prefer);
  words.text("reservation", job.reservation);
  words.text("exclude", job.exclude_nodes);
  words.text("nodelist", job.require_nodes);
  words.text("container", job.container);
  words.text("gres", without_prefix(job.gres, "gres:"));
  words.text("gpus", without_prefix(job.gpus, "gres:gpu:"));
  words.text("gpus-per-node", without_prefix(job.gpus_per_node, "gres:gpu:"));
  words.text("gpus-per-socket", without_prefix(job.gpus_per_socket, "gres:gpu:"));
  words.text("gpus-per-task", without_prefix(job.gpus_per_task, "gres:gpu:"));
  words.text("licenses", job.licenses);
  words.text("wckey", job.wckey);
  if (job.switches > 0)
    words.text("switches", job.switches_wait_s > 0
                               ? fmt::format("{}@{}:{:02}", job.switches, job.switches_wait_s / 60, job.switches_wait_s % 60)
                               : std::to_string(job.switches));
}

// A moment as Slurm reads it in every time zone.
std::string moment(std::int64_t unix_s) { return unix_s > 0 ? fmt::format("uts{}", unix_s) : std::string(); }

void put_life_options(OptionWords& words, const SlurmJob& job)
{
  words.text("array", job.array);
  words.text("dependency", job.dependency);
  words.flag(job.requeue ? "requeue" : "no-requeue");
  words.text("mail-user", job.mail_user);
  words.text("mail-type", mail_type_names(job.mail_type));
  if (job.nice) words.number("nice", *job.nice);
  words.text("begin", moment(job.begin_unix_s));
  words.text("deadline", moment(job.deadline_unix_s));
  words.flag("hold", job.hold);
  if (job.signal > 0 && job.signal_ahead_s > 0)
    words.text("signal", fmt::format("B:{}@{}", job.signal, std::min<std::int64_t>(job.signal_ahead_s, 0xfffe)));
}

} // namespace

std::vector<std::string> sbatch_words(const SlurmJob& job)
{
  OptionWords words;
  put_text_options(words, job);
  put_size_options(words, job);
  put_place_options(words, job);
  put_life_options(words, job);
  return words.take();
}

} // namespace dt::jobs::slurm
