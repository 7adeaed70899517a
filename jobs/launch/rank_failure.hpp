// The first rank that failed and a node that was lost, as the launcher of the ranks reports them: Open MPI's mpirun (4 and 5),
// srun, the hydra of MPICH and Intel MPI, and dtjob.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dt::jobs {

// How a rank ended. Members that the launcher does not report keep their defaults.
struct RankFailure {
  std::string ranks;          // "1", or "0-1,4" if several ended together; empty if the launcher does not tell
  std::string host;           // empty if the launcher does not tell
  int code = 0;               // exit code, or the code of MPI_Abort; 0: not told
  int signal = 0;             // 0: none
  bool is_abort = false;      // it called MPI_Abort
  bool out_of_memory = false; // the kernel ended it because the job's memory ran out

  // The one rank, or the first of several; nothing if the launcher does not tell.
  std::optional<int> first_rank() const;
  bool are_several() const { return ranks.find_first_of(",-") != std::string::npos; }
};

// Reads what a launcher has printed, among the words of the program. Ranks that the launcher ended because of the first one are
// no failures. Returns nothing if no launcher names a rank or its end. Open MPI 4.1 loses this report in some of its runs.
std::optional<RankFailure> rank_failure(std::string_view text);

// The same from torchrun's report, which starts the ranks of its node where program.launch is per-node. What mpirun or srun
// reports is about torchrun then. Where torchrun saw several ranks end at once, a rank that did not end by an exception comes
// before one that did, which may only have lost the other. Its name of the host is left out, because it may be localhost.
std::optional<RankFailure> failure_by_torchrun(std::string_view text);

// Whether the line is srun's report of how tasks ended: "srun: error: node1: task 1: Exited with exit code 3".
bool is_task_report(std::string_view line);

// The node that mpirun or srun can no longer reach; nothing if they report none.
std::optional<std::string> lost_node(std::string_view text);

} // namespace dt::jobs
