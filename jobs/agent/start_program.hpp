// The two short lives of dtjob inside a job: it prepares a process and then becomes another program (exec). Both return only if
// the program cannot be started: the exit code, 127 if there is no such program, else 126 (another launch would fail the same
// way).
#pragma once

#include <string>
#include <vector>

namespace dt::jobs::agent {

// `dtjob launch`, the last line of job.sh: reports the launch to the dtjob that runs the job and becomes the launcher, `words`.
struct LaunchTerms {
  bool block_sigterm = false;    // mpirun and its daemons on other nodes do not get SIGTERM (jobs/launch/mpirun.hpp)
  bool one_node = false;         // all ranks are on this node: mpirun starts without ssh and rsh
  bool no_network_cards = false; // Open MPI looks for none (jobs/launch/transports.hpp)
};
int launch(std::vector<std::string> words, const LaunchTerms& terms);

// `dtjob block-sigterm`: becomes `words` with SIGTERM blocked; what mpirun starts its daemons with.
int become_without_sigterm(std::vector<std::string> words);

// `dtjob bind`, once a rank: restricts the process to `cores` cores of its mask, those of the rank's position on the node, and
// becomes `words` (jobs/launch/rank_start.hpp). If the mask has too few cores: exit code 126, or with may_share the whole mask.
struct RankTerms {
  int cores = 1;
  bool may_share = false;
  int gpus = 0;        // the rank sees those of its position among the job's GPUs on the node; 0: all of them
  std::string attempt; // of the user's own program, which the process becomes in place of `words` (jobs/program); else empty
};
int bind_rank(std::vector<std::string> words, const RankTerms& terms);

} // namespace dt::jobs::agent
