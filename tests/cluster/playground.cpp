#include "tests/cluster/playground.hpp"

#include "core/files/file.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

#include <unistd.h>

namespace dt::test {
namespace fs = std::filesystem;

// Only for a cluster that never starts or stops: on a machine with a load of 13 the start has taken more than a minute.
constexpr double patience_s = 200;

Cluster::Cluster(const Words& options)
{
  Words verb{"start", "--owner", std::to_string(::getpid())};
  verb.insert(verb.end(), options.begin(), options.end());
  const auto started = call(verb, patience_s);
  INFO("standard error: " << started.err);
  REQUIRE(started.ok());
}

Cluster::~Cluster() { call({"stop"}, patience_s); }

CommandResult Cluster::call(const Words& verb, double timeout_s) const
{
  Words words{"env", "DTCTL_CLUSTER=" + folder().string(), DTCTL_SOURCE_DIR "/tests/cluster/cluster"};
  words.insert(words.end(), verb.begin(), verb.end());
  return run_command(words, timeout_s);
}

void Cluster::hurt(const Words& verb) const
{
  const auto done = call(verb, patience_s);
  INFO("cluster " << join(verb, " ") << ": " << done.out << done.err);
  REQUIRE(done.ok());
}

std::string Cluster::slurm(const Words& command) const
{
  Words words{"env", "SLURM_CONF=" + configuration().string()};
  words.insert(words.end(), command.begin(), command.end());
  return std::string(trim(run_command(words, 20).out));
}

Words Cluster::environment() const
{
  return {"SLURM_CONF=" + configuration().string(), "XDG_CONFIG_HOME=" + (folder() / "config").string()};
}

namespace {
Words sweep_words(const Words& more)
{
  Words words{"sweep", "recipe.yaml", "--profile", "cluster"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}
} // namespace

Json ClusterUser::sweep(const std::string& recipe, const Words& more, int exit_code) const
{
  dtctl_.write("recipe.yaml", recipe);
  const auto reply = json(sweep_words(more));
  INFO(reply.dump());
  REQUIRE(reply.at("exit_code") == exit_code);
  return reply;
}

CommandResult ClusterUser::try_sweep(const std::string& recipe, const Words& more) const
{
  dtctl_.write("recipe.yaml", recipe);
  return run(sweep_words(more));
}

pid_t ClusterUser::start(const Words& words) const { return dtctl_.start(words, cluster_.environment()); }

int ClusterUser::wait(int timeout_s) const
{
  for (;; timeout_s -= 60) {
    const int code = run({"status", "--follow", "all", "--timeout", std::to_string(std::min(timeout_s, 60)) + "s"}).exit_code;
    if (code != 124 || timeout_s <= 60) return code;
  }
}

bool ClusterUser::reach(const std::string& state, std::size_t count, int timeout_s) const
{
  return eventually([&] { return states().value(state, std::size_t{0}) == count; }, timeout_s);
}

std::vector<fs::path> ClusterUser::run_folders() const
{
  std::vector<fs::path> folders;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(dtctl_.home() / "runs", none)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool ClusterUser::train(std::size_t count) const
{
  return eventually([&] {
    const auto folders = run_folders();
    return std::count_if(folders.begin(), folders.end(), is_training) == static_cast<std::ptrdiff_t>(count);
  });
}

std::string cluster_recipe(std::int64_t steps, const std::string& more)
{
  return "version: 1\nname: cluster\nmodel: {name: lenet}\n"
         "data: {name: synthetic, train_samples: 256, test_samples: 64}\n"
         "train: {algorithms: rules, batch_per_rank: 8, steps: " +
         std::to_string(steps) + ", warmup_steps: 2, eval_every_epochs: 0}\n" + more;
}

AttemptFolder newest_attempt(const fs::path& run)
{
  const auto numbers = attempt_numbers(run);
  REQUIRE_FALSE(numbers.empty());
  return {run, numbers.back()};
}

std::vector<RunResult> results_of(const fs::path& run)
{
  std::vector<RunResult> results;
  for (const int number : attempt_numbers(run)) {
    const AttemptFolder attempt(run, number);
    if (fenced_by(attempt)) continue;
    if (auto result = read_result(attempt)) results.push_back(std::move(*result));
  }
  return results;
}

std::set<std::string> slurm_jobs(const ClusterUser& user)
{
  std::set<std::string> jobs;
  for (const auto& run : user.run_folders())
    if (const auto submission = read_submission(newest_attempt(run)))
      jobs.insert(submission->job_id.substr(0, submission->job_id.find('_')));
  return jobs;
}

bool is_training(const fs::path& run)
{
  const auto numbers = attempt_numbers(run);
  if (numbers.empty()) return false;
  const AttemptFolder attempt(run, numbers.back());
  const auto beat = read_heartbeat(attempt);
  return beat && beat->step > 0 && !read_result(attempt) && !read_end(attempt);
}

std::vector<pid_t> engines_in(const fs::path& folder)
{
  std::vector<pid_t> pids;
  const auto found = run_command({"pgrep", "-f", "^[^ ]*dtengine run --attempt " + folder.string()});
  for (const auto& line : split(trim(found.out), '\n'))
    if (!line.empty()) pids.push_back(std::stoi(line));
  return pids;
}

void check_nothing_ran_twice(const ClusterUser& user)
{
  for (const auto& run : user.run_folders()) {
    INFO("run " << run.filename().string());
    CHECK(results_of(run).size() <= 1);
    const auto numbers = attempt_numbers(run);
    for (const int number : numbers) {
      const AttemptFolder attempt(run, number);
      const bool was_open = read_begin(attempt) && !fenced_by(attempt) && !read_result(attempt);
      CHECK_FALSE((was_open && number != numbers.back()));
    }
  }
}

} // namespace dt::test
