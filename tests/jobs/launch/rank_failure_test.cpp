// rank_failure(): what launchers have printed about a rank that failed.
//
// Recorded for this test with silent programs: mpirun of Open MPI 4.1.4 and srun of Slurm 22.05.8 on a private cluster of two
// nodes, mpiexec.hydra of MPICH 4.0.2. Not installed here, and taken from reports of users: prterun of Open MPI 5 (the baobab
// forum's thread of Genevieve.Savard, 2025-04-17, for the signal; `Process name: [prterun-gpu013-1009179@1,0]` from a public log
// for the exit code), Intel MPI's hydra (github.com/bsc-performance-tools/extrae/issues/101 and the chapter "Error Message: Bad
// Termination" of Intel's developer guide, 2021.6).
#include "jobs/follow/hold_back.hpp"
#include "jobs/follow/reconcile.hpp"
#include "jobs/launch/last_words.hpp"
#include "jobs/launch/rank_failure.hpp"

#include <csignal>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;

namespace {

struct Row {
  std::string what, text, ranks, host;
  int code = 0, signal = 0;
  bool is_abort = false;
};

const std::string rule(74, '-');
const std::string wide_rule(83, '=');

std::string framed(const std::string& text) { return rule + "\n" + text + rule + "\n"; }

const std::string one_returned = framed("Primary job  terminated normally, but 1 process returned\n"
                                        "a non-zero exit code. Per user-direction, the job has been aborted.\n");

std::string bad_termination(const std::string& lines)
{
  return "\n" + wide_rule + "\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n" + lines + wide_rule + "\n";
}

const std::vector<Row> rows{
    {"mpirun 4, exit code",
     one_returned + framed("mpirun detected that one or more processes exited with non-zero status, thus causing\n"
                           "the job to be terminated. The first process to do so was:\n\n"
                           "  Process name: [[11332,1],3]\n  Exit code:    3\n"),
     "3", "", 3},
    {"mpirun 4, signal",
     one_returned +
         framed("mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 11 (Segmentation fault).\n"),
     "1", "vm", 0, SIGSEGV},
    {"mpirun 4, MPI_Abort",
     framed("MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 3.\n\n"
            "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n"
            "You may or may not see output from other processes, depending on\nexactly when Open MPI kills them.\n"),
     "1", "", 3, 0, true},
    {"dtjob, exit code", "dtjob: rank 12 on node-7.site ended with exit code 3\n", "12", "node-7.site", 3},
    {"dtjob, signal", "dtjob: rank 1 on vm ended with signal 11\n", "1", "vm", 0, SIGSEGV},
    {"mpirun 5, exit code",
     framed("prterun detected that one or more processes exited with non-zero status,\n"
            "thus causing the job to be terminated. The first process to do so was:\n\n"
            "   Process name: [prterun-gpu013-1009179@1,2]\n   Exit code:    127\n"),
     "2", "", 127},
    {"mpirun 5, signal",
     framed("prterun noticed that process rank 2 with PID 1617008 on node cpu155 exited on\nsignal 4 (Illegal instruction).\n"),
     "2", "cpu155", 0, SIGILL},
    {"mpirun 5, MPI_Abort",
     framed("MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\n  Proc: [[40132,1],0]\n  Errorcode: 1\n\n"
            "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n"),
     "0", "", 1, 0, true},
    {"srun, exit code",
     "srun: error: node0: task 1: Exited with exit code 3\n"
     "srun: launch/slurm: _step_signal: Terminating StepId=1.0\n"
     "slurmstepd-node0: error: *** STEP 1.0 ON node0 CANCELLED AT 2026-11-26T13:19:59 ***\n"
     "srun: error: node0: task 0: Terminated\n"
     "srun: error: node1: tasks 2-3: Terminated\n"
     "srun: Force Terminated StepId=1.0\n",
     "1", "node0", 3},
    {"srun, signal",
     "srun: error: node1: task 2: Segmentation fault\n"
     "srun: launch/slurm: _step_signal: Terminating StepId=1.1\n"
     "slurmstepd-node0: error: *** STEP 1.1 ON node0 CANCELLED AT 2026-11-26T13:20:00 ***\n"
     "srun: error: node1: task 3: Terminated\n"
     "srun: error: node0: tasks 0-1: Terminated\n"
     "srun: Force Terminated StepId=1.1\n",
     "2", "node1", 0, SIGSEGV},
    {"srun, a task that was killed before any other ended",
     "srun: error: node1: task 3: Killed\n"
     "srun: launch/slurm: _step_signal: Terminating StepId=1.3\n"
     "slurmstepd-node0: error: *** STEP 1.3 ON node0 CANCELLED AT 2026-11-26T13:20:01 ***\n"
     "srun: error: node1: task 2: Terminated\n"
     "srun: error: node0: tasks 0-1: Terminated\n"
     "srun: Force Terminated StepId=1.3\n",
     "3", "node1", 0, SIGKILL},
    {"srun, several tasks at once",
     "srun: error: node1: tasks 2-3: Exited with exit code 7\n"
     "srun: launch/slurm: _step_signal: Terminating StepId=1.4\n"
     "srun: error: node0: tasks 0-1: Terminated\n"
     "srun: Force Terminated StepId=1.4\n",
     "2-3", "node1", 7},
    {"srun, tasks that are killed while the step ends come first",
     "srun: Job step aborted: Waiting up to 7 seconds for job step to finish.\n"
     "slurmstepd-node0: error: *** STEP 1.5 ON node0 CANCELLED AT 2026-11-26T13:20:02 ***\n"
     "srun: error: node0: task 0: Killed\n"
     "srun: launch/slurm: _step_signal: Terminating StepId=1.5\n"
     "srun: error: node0: task 1: Exited with exit code 3\n"
     "srun: error: node1: tasks 2-3: Killed\n",
     "1", "node0", 3},
    {"Intel MPI, signal: hydra then kills the others",
     bad_termination("=   RANK 0 PID 2447371 RUNNING AT node0009\n=   KILLED BY SIGNAL: 9 (Killed)\n") +
         bad_termination("=   RANK 1 PID 2447372 RUNNING AT node0010\n=   KILLED BY SIGNAL: 11 (Segmentation fault)\n") +
         bad_termination("=   RANK 2 PID 2447373 RUNNING AT node0009\n=   KILLED BY SIGNAL: 9 (Killed)\n"),
     "1", "node0010", 0, SIGSEGV},
    {"Intel MPI, all killed", bad_termination("=   RANK 6 PID 2447372 RUNNING AT node0009\n=   KILLED BY SIGNAL: 9 (Killed)\n"),
     "6", "node0009", 0, SIGKILL},
    {"MPICH names no rank",
     bad_termination("=   PID 16569 RUNNING AT vm\n=   EXIT CODE: 139\n=   CLEANING UP REMAINING PROCESSES\n"
                     "=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n") +
         "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)\n",
     "", "vm", 0, SIGSEGV},
    {"hydra, MPI_Abort", "application called MPI_Abort(MPI_COMM_WORLD, 3) - process 1\n", "1", "", 3, 0, true},
};

Evidence ended_with(int code)
{
  Evidence e;
  e.submission = Submission{1, "token", "local", "study", 0, "local-1"};
  e.begin = BeginRecord{};
  e.begin->rank_hosts = {"node0", "node0", "node1", "node1"};
  e.end = JobEnd{code, 0};
  return e;
}

std::string cause(int code, const std::string& standard_error)
{
  auto e = ended_with(code);
  e.standard_error = standard_error;
  return judge(e, 0).cause;
}

const std::string& text_of(const std::string& what)
{
  for (const auto& row : rows)
    if (row.what == what) return row.text;
  throw std::runtime_error("no row " + what);
}

} // namespace

TEST_CASE("each launcher's report names the rank that failed first, its node, and its exit code or signal")
{
  for (const auto& row : rows) {
    INFO(row.what);
    // What programs print stands before, after and between.
    for (const auto& text : {row.text, "epoch 1\n" + row.text + "bye\n"}) {
      const auto failure = rank_failure(text);
      REQUIRE(failure);
      CHECK(failure->ranks == row.ranks);
      CHECK(failure->host == row.host);
      CHECK(failure->code == row.code);
      CHECK(failure->signal == row.signal);
      CHECK(failure->is_abort == row.is_abort);
    }
    // No line of the launcher is taken for one of the program.
    const auto words =
        last_words("nothing special\n" + (row.text.find("BAD TERM") == std::string::npos ? row.text : ""), "token");
    if (!row.is_abort) CHECK((words.error + words.launcher).empty());
  }
}

TEST_CASE("the end of a step that was ended from outside is no failure of a rank")
{
  for (const std::string text :
       {"", "srun: error: lines of a program: task 1\n",
        "srun: error: node0: tasks 0-3: Terminated\nsrun: Force Terminated StepId=1.0\n",
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\nsrun: error: node0: tasks 0-1: Killed\n"})
    CHECK_FALSE(rank_failure(text));
  CHECK_FALSE(rank_failure(one_returned));
}

TEST_CASE("the cause of a failed run is its first failed rank with node, end and last line, whichever launcher reports it")
{
  CHECK(cause(143, "shape mismatch in layer 3\n" + text_of("srun, exit code")) ==
        "rank 1 on node0 ended with exit code 3: shape mismatch in layer 3");
  CHECK(cause(143, text_of("srun, several tasks at once")) == "ranks 2-3 on node1 ended with exit code 7");
  CHECK(cause(3, text_of("mpirun 4, exit code")) == "rank 3 on node1 ended with exit code 3");
  CHECK(cause(3, text_of("mpirun 4, MPI_Abort")) == "rank 1 on node0 called MPI_Abort with the code 3");
  CHECK(cause(1, "srun: error: node1: task 0: Out Of Memory\n") == "rank 0 on node1 ran out of the memory that the job has");
  CHECK(cause(3, one_returned) == "exit code 3, and nothing was printed on standard error"); // mpirun 4 has lost its report
  auto e = ended_with(139);                                                                  // hydra reports on standard output
  e.standard_output = text_of("MPICH names no rank");
  CHECK(judge(e, 0).cause == "a rank on vm was killed by SIGSEGV");
  e.standard_output = text_of("Intel MPI, all killed");
  CHECK(judge(e, 0).cause == "rank 6 on node0009 was killed by SIGKILL (by hand, or by the kernel when memory ran out)");
}

TEST_CASE("runs whose ranks end in the same way are of one kind, whichever rank is the first and whether the launcher tells it")
{
  CHECK(kind_of_cause("rank 2 on node1 ended with exit code 1: no data") == kind_of_cause("exit code 1: no data"));
  CHECK(kind_of_cause("ranks 0-1 on node0 ended with exit code 1: no data") == kind_of_cause("exit code 1: no data"));
  CHECK(kind_of_cause("rank 2 on node1 ended with exit code 1: no data") != kind_of_cause("exit code 2: no data"));
  auto e = ended_with(3); // of one rank, the exit code says all
  e.begin->rank_hosts = {"node0"};
  e.standard_error = "no data\nsrun: error: node0: task 0: Exited with exit code 3\n";
  CHECK(judge(e, 0).cause == "exit code 3: no data");
}

TEST_CASE("a report of any length is read in time that grows with its length")
{
  const std::string blanks(1 << 20, ' ');
  CHECK_FALSE(rank_failure("process" + blanks + "rank" + blanks));
  CHECK_FALSE(lost_node("Remote" + blanks + "daemon" + blanks));
}

TEST_CASE("torchrun's report names the rank that failed first, with its exit code or its signal")
{
  const auto report = [](const std::string& code) { // of torch 1.13
    return "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + std::string(60, '=') +
           "\ntrain.py FAILED\n" + std::string(60, '-') +
           "\nFailures:\n[1]:\n  time      : 2026-11-27_20:00:01\n  host      : vm\n" +
           "  rank      : 0 (local_rank: 0)\n  exitcode  : -15 (pid: 41)\n  error_file: <N/A>\n  traceback : Signal 15\n" +
           std::string(60, '-') +
           "\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-11-27_20:00:00\n  host      : vm\n" +
           "  rank      : 3 (local_rank: 1)\n  exitcode  : " + code + " (pid: 42)\n  error_file: <N/A>\n" + std::string(60, '=') +
           "\n";
  };
  const auto failure = failure_by_torchrun(report("3"));
  REQUIRE(failure);
  CHECK(failure->ranks == "3");
  CHECK(failure->host.empty());
  CHECK(failure->code == 3);
  CHECK(failure->signal == 0);
  const auto killed = failure_by_torchrun(report("-9"));
  REQUIRE(killed);
  CHECK(killed->signal == SIGKILL);
  CHECK(killed->code == 0);
  CHECK_FALSE(failure_by_torchrun("train.py FAILED\n"));
  // Two ranks that ended at once: one by an exception because it had lost the other.
  auto both = report("1");
  both.replace(both.find("-15"), 3, "3");
  const auto other = failure_by_torchrun(both);
  REQUIRE(other);
  CHECK(other->ranks == "0");
  CHECK(other->code == 3);
}
