// LoadWatch: who else uses a node while the user's own program runs there (core/record/measuring/node_load.hpp). dtengine
// measures it itself; here dtjob does: for the ranks on its own host, and by a process of its own on every other host.
#pragma once

#include "core/record/measuring/node_load.hpp"
#include "core/record/run_record.hpp"
#include "jobs/program/reports/report_lines.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

namespace dt::jobs {

class LoadWatch {
 public:
  // `ranks`: all of this host. `threads`: that each of them keeps busy. Takes the first look.
  LoadWatch(std::vector<RankLine> ranks, std::int64_t threads);
  // Takes a look if the last one is older than a tenth of the time watched, at most five seconds. Looks at which a rank has ended
  // do not count.
  void look();
  // Takes the last look now.
  void finish();
  // From here on the time counts: what was before is warm-up. Counts only if there is another look.
  void begin_again();
  // For a program that reports steps, and has reported this many: begins again when the warm-up ends.
  void count_steps(std::int64_t steps, std::int64_t warmup_steps);
  // The load of each rank from the beginning to the last look; empty if there was no time between.
  std::vector<RankLoad> loads() const;
  // Seconds until look() takes the next one.
  double due_in_s() const;

 private:
  using Looks = std::vector<LoadLook>; // of each rank
  std::optional<Looks> looks_now() const;
  void take_look();

  std::vector<RankLine> ranks_;
  std::int64_t threads_;
  std::optional<Looks> start_, measured_, last_;
  bool is_finished_ = false, has_warmed_up_ = false;
};

// The ranks whose processes are watched: all, or the first of each node where one launcher starts those of its node
// (program.launch). The launcher's processor time contains that of its ranks. None in a container of podman, whose processes are
// no children of the process that starts it.
bool is_watched(const RunSpec& spec, std::size_t rank);
// The threads that each of them keeps busy.
std::int64_t watched_threads(const RunSpec& spec);

// The file in which a rank's load is kept on a host where dtjob does not run.
std::filesystem::path load_file(const AttemptFolder& attempt, std::size_t rank);

// Called by the first rank of a host before it becomes the program: if dtjob runs on another host, starts a process that watches
// the ranks of this host, keeps their loads in load_file() and ends with the calling process.
void start_load_watch(const AttemptFolder& attempt, const RunSpec& spec, int rank);

} // namespace dt::jobs
