// dtengine under mpirun in the background, and its processes, to be killed and signalled.
#pragma once

#include "core/text.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/processes.hpp"

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dt::test {

inline std::vector<pid_t> children_of(pid_t parent)
{
  const auto text = read_file_if_exists("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  std::vector<pid_t> children;
  for (const auto& word : split(text.value_or(""), ' '))
    if (!trim(word).empty()) children.push_back(std::stoi(word));
  return children;
}

// A run in the background, in the middle of its training; its mpirun and its ranks. Without processes when it ended before.
struct RunningJob {
  RunningJob(const EngineRun& run, int count, int number = 1, const EngineRun::Environment& environment = {})
      : end(std::async(std::launch::async, [&run, count, number, environment] { return run.run(count, number, environment); }))
  {
    const auto attempt = run.attempt(number);
    const auto trains = [&] {
      const auto beat = read_heartbeat(attempt);
      return beat && beat->step > 0;
    };
    const auto has_ended = [&] { return end.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
    if (!eventually([&] { return trains() || has_ended(); }) || has_ended()) return;
    root = read_begin(attempt)->pid;
    mpirun = parent_of(root);
    ranks = children_of(mpirun);
  }
  std::future<CommandResult> end;
  pid_t root = 0, mpirun = 0;
  std::vector<pid_t> ranks;
};

// A rank of several that is not rank 0.
inline pid_t other_than_root(const RunningJob& job) { return job.ranks[job.ranks[0] == job.root ? 1 : 0]; }

// How it ended; within a minute.
inline CommandResult end_of(RunningJob& job)
{
  REQUIRE(job.end.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
  return job.end.get();
}

inline bool is_running(pid_t pid) { return identify_process(pid).has_value(); }

} // namespace dt::test
