// The folder of a batch: what the scheduler of a cluster leaves for `dtjob batch` (jobs/agent/batch_job.hpp), which runs in its
// job.
//
//   <home>/<scheduler>/<batch>/
//     script                    what the scheduler executes: it becomes `dtjob batch`
//     tasks                     one line per run: "<index> <token> <nodes> <time_limit_s> <attempt folder>"
//     log, log-<array task>     what `dtjob batch` says
#pragma once

#include "core/home/home.hpp"
#include "core/record/attempt/batch_token.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs {

// <home>/<scheduler>/<batch>, absolute.
std::filesystem::path batch_folder(const Home& home, std::string_view scheduler, std::string_view batch);
// The name of the scheduler to which the folder of a batch belongs.
std::string scheduler_of_batch(const std::filesystem::path& batch_folder);

// The file to which `dtjob batch` writes its messages: <batch>/log, or <batch>/log-<array index>.
std::filesystem::path log_of(const std::filesystem::path& batch_folder, const BatchToken& token);

// One line of <batch>/tasks. In the folder, \\ is a backslash and \n a line feed.
struct BatchTask {
  std::uint32_t index = 0;
  std::string token;
  std::int64_t nodes = 1;
  std::int64_t time_limit_s = 0;
  std::filesystem::path attempt;
};

std::string format_tasks(std::span<const BatchTask> tasks);
// Ignores incomplete lines.
std::vector<BatchTask> parse_tasks(std::string_view text);

// How a job starts `dtjob batch`.
struct BatchStart {
  std::string agent;                  // path of dtjob
  std::filesystem::path batch_folder; // absolute
  bool ladder = false;                // run all runs of `tasks` in order
  std::int64_t requeue = 0;           // how often the job may ask its scheduler to start it again
  std::int64_t signal_ahead_s = 0;    // how long before its own time limit a run of a ladder is asked to stop; 0: it is not
};
// The shell command, without a line feed.
std::string batch_command(const BatchStart& start);

// Extra time that the job of a ladder gets for the pauses between its runs.
std::int64_t ladder_margin_s(std::size_t runs);

} // namespace dt::jobs
