#include "jobs/slurm/access/sbatch_words.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

// Collects options; those without a value are left to the site.
class OptionWords {
 public:
  void flag(const char* name) { words_.push_back(std::string("--") + name); }
  void text(const char* name, const std::string& value)
  {
    if (!value.empty()) words_.push_back(fmt::format("--{}={}", name, value));
  }
  void number(const char* name, std::int64_t value) { words_.push_back(fmt::format("--{}={}", name, value)); }
  void positive(const char* name, std::int64_t value)
  {
    if (value > 0) number(name, value);
  }
  void add(const std::string& word) { words_.push_back(word); }
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
}

void put_place_options(OptionWords& words, const SlurmJob& job)
{
  words.text("partition", job.partition);
  words.text("account", job.account);
  words.text("qos", job.qos);
  words.text("constraint", job.constraint);
  words.text("exclude", job.exclude_nodes);
  words.text("nodelist", job.require_nodes);
  words.text("gpus-per-node", without_prefix(job.gpus_per_node, "gres:gpu:"));
}

void put_life_options(OptionWords& words, const SlurmJob& job)
{
  words.text("array", job.array);
  words.text("dependency", job.dependency);
  words.flag(job.requeue ? "requeue" : "no-requeue");
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
  for (const auto& [name, word] : job.passed_options) words.add(word);
  return words.take();
}

} // namespace dt::jobs::slurm
