// last_words(): what recorded standard errors say about an end. The texts are those of Open MPI 4.1, Slurm 22.05, Python 3.11,
// PyTorch, glibc, gfortran, Java and Rust.
#include "jobs/launch/last_words.hpp"

#include <catch2/catch.hpp>

using namespace dt::jobs;

namespace {

const std::string rule(74, '-');
const std::string token = "3f2a91d0c4";

std::string framed(const std::string& text) { return rule + "\n" + text + rule + "\n"; }

const std::string job_is_aborted = framed("Primary job  terminated normally, but 1 process returned\n"
                                          "a non-zero exit code. Per user-direction, the job has been aborted.\n") +
                                   framed("mpirun detected that one or more processes exited with non-zero status, thus causing\n"
                                          "the job to be terminated. The first process to do so was:\n\n"
                                          "  Process name: [[13944,1],0]\n  Exit code:    1\n");

const std::string no_torch = "Traceback (most recent call last):\n  File \"/w/train.py\", line 1, in <module>\n    import torch\n"
                             "ModuleNotFoundError: No module named 'torch'\n";

struct Row {
  std::string what, text, expected;
};

void check_errors(const std::vector<Row>& rows, bool is_certain)
{
  for (const auto& row : rows) {
    INFO(row.what);
    // mpirun's messages come before or after what the ranks print.
    for (const auto& text : {row.text, row.text + job_is_aborted, job_is_aborted + row.text}) {
      const auto words = last_words(text, token);
      CHECK(words.error == row.expected);
      CHECK(words.is_certain == is_certain);
    }
  }
}

} // namespace

TEST_CASE("the last line of a Python traceback is the program's error")
{
  check_errors(
      {{"one", no_torch, "ModuleNotFoundError: No module named 'torch'"},
       {"of two ranks at once",
        "Traceback (most recent call last):\nTraceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n"
        "  File \"a.py\", line 1, in <module>\n    import x\n    import x\nImportError: no x\nImportError: no x\n",
        "ImportError: no x"},
       {"chained",
        "Traceback (most recent call last):\n  File \"a.py\", line 2, in <module>\nZeroDivisionError: division by zero\n\n"
        "The above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n"
        "  File \"a.py\", line 3, in <module>\nRuntimeError: outer\nsecond line\n",
        "RuntimeError: outer"},
       {"a syntax error has no heading",
        "  File \"train.py\", line 3\n    def f(\n         ^\nSyntaxError: '(' was never closed\n",
        "SyntaxError: '(' was never closed"},
       {"with a note of the exception", no_torch + "in environment /w/venv\n", "ModuleNotFoundError: No module named 'torch'"},
       {"an exception with a name of its own",
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nmine.Diverged: loss is 1e9\n",
        "mine.Diverged: loss is 1e9"},
       {"without a message", "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nAssertionError\n",
        "AssertionError"},
       {"a message that goes on",
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n"
        "RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: \"fc.weight\".\n",
        "RuntimeError: Error(s) in loading state_dict for Net: Missing key(s) in state_dict: \"fc.weight\"."},
       {"of a group",
        "  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 1, in <module>\n"
        "  | ExceptionGroup: many (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | ValueError: bad\n"
        "    +------------------------------------\n",
        "ValueError: bad"},
       {"in colours", "\033[1;35mValueError\033[0m: \033[35mno data\033[0m\n", "ValueError: no data"}},
      true);
}

TEST_CASE("what is printed after a traceback does not hide it")
{
  const auto expected = "ModuleNotFoundError: No module named 'torch'";
  check_errors(
      {{"while the interpreter ends",
        no_torch + "Exception ignored in: <function A.__del__ at 0x7fa6e58edbc0>\n"
                   "Traceback (most recent call last):\n  File \"a.py\", line 2, in __del__\n"
                   "ValueError: late\n",
        expected},
       {"a broken pipe",
        no_torch + "Exception ignored in: <_io.TextIOWrapper name='<stdout>'>\n"
                   "BrokenPipeError: [Errno 32] Broken pipe\n",
        expected},
       {"leaked semaphores",
        no_torch + "/usr/lib/python3.11/multiprocessing/resource_tracker.py:224: UserWarning: "
                   "resource_tracker: There appear to be 1 leaked semaphore objects\n"
                   "  warnings.warn('resource_tracker: There appear to be %d '\n",
        expected},
       {"NCCL",
        no_torch + "[rank0]:[W1010 12:00:00.1 ProcessGroupNCCL.cpp:1250] Warning: WARNING: destroy_process_group() was not "
                   "called before program exit, which can leak resources. (function operator())\n",
        expected},
       {"the death of a shell's child", no_torch + "train.sh: line 3: 28892 Aborted                 python3 train.py\n",
        expected},
       {"ranks that lost this one",
        no_torch + "Traceback (most recent call last):\n  File \"a.py\", line 9, in <module>\n"
                   "RuntimeError: [gloo/pair.cc:534] Connection closed by peer [127.0.0.1]:2\n",
        expected},
       {"a progress bar", no_torch + "  0%|          | 0/10 [00:00<?, ?it/s]\r 10%|#         | 1/10 [00:01<?, ?it/s]\n",
        expected},
       {"a launcher of its own",
        no_torch + "Traceback (most recent call last):\n  File \"launch.py\", line 9, in <module>\n"
                   "subprocess.CalledProcessError: Command '['python3']' returned non-zero exit status 1.\n",
        expected},
       {"torchrun",
        no_torch +
            "E0101 12:00:00.000000 1234 torch/distributed/elastic/multiprocessing/api.py:833] failed (exitcode: 1) "
            "local_rank: 0 (pid: 1234) of binary: /usr/bin/python3\n"
            "Traceback (most recent call last):\n  File \"/usr/bin/torchrun\", line 8, in <module>\n    sys.exit(main())\n"
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" +
            std::string(60, '=') + "\ntrain.py FAILED\n" + std::string(60, '-') + "\nFailures:\n  <NO_OTHER_FAILURES>\n" +
            std::string(60, '-') + "\nRoot Cause (first observed failure):\n[0]:\n  exitcode  : 1 (pid: 1234)\n" +
            std::string(60, '=') + "\n",
        expected},
       {"tags of ranks",
        "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"a.py\", line 1, in <module>\n"
        "[rank1]: ModuleNotFoundError: No module named 'torch'\n",
        expected},
       {"tags of mpirun",
        "[1,0]<stderr>:Traceback (most recent call last):\n[1,0]<stderr>:  File \"a.py\", line 1\n"
        "[1,0]<stderr>:ModuleNotFoundError: No module named 'torch'\n",
        expected},
       {"tags of srun",
        "0: Traceback (most recent call last):\n0:   File \"a.py\", line 1\n"
        "0: ModuleNotFoundError: No module named 'torch'\n1: bye\n",
        expected}},
      true);
}

TEST_CASE("crashes of other languages are the program's error")
{
  check_errors(
      {{"C++", "terminate called after throwing an instance of 'std::runtime_error'\n  what():  bad shape\n",
        "std::runtime_error: bad shape"},
       {"C++ without what()", "terminate called after throwing an instance of 'int'\n",
        "terminate called after throwing an instance of 'int'"},
       {"glibc", "free(): double free detected in tcache 2\nbash: line 1: 28892 Aborted                 ./d\n",
        "free(): double free detected in tcache 2"},
       {"an assertion", "train: train.c:12: main: Assertion `n > 0' failed.\n",
        "train: train.c:12: main: Assertion `n > 0' failed."},
       {"a missing library",
        "./a: error while loading shared libraries: libx.so.1: cannot open shared object file: No such file\n",
        "./a: error while loading shared libraries: libx.so.1: cannot open shared object file: No such file"},
       {"bash", "train.sh: line 2: nosuch: command not found\n", "train.sh: line 2: nosuch: command not found"},
       {"python3 without its file", "python3: can't open file '/w/nofile.py': [Errno 2] No such file or directory\n",
        "python3: can't open file '/w/nofile.py': [Errno 2] No such file or directory"},
       {"Fortran",
        "At line 2 of file f.f90 (unit = 10)\nFortran runtime error: Cannot open file 'nope': No such file or directory\n\n"
        "Error termination. Backtrace:\n#0  0x7ff97c8218c2 in ???\n",
        "Fortran runtime error: Cannot open file 'nope': No such file or directory"},
       {"ERROR STOP", "ERROR STOP bad input\n\nError termination. Backtrace:\n#0  0x7f6c70c218c2 in ???\n",
        "ERROR STOP bad input"},
       {"Java",
        "Exception in thread \"main\" java.lang.IllegalStateException: outer\n\tat M.main(M.java:1)\n"
        "Caused by: java.lang.RuntimeException: inner\n\tat M.main(M.java:1)\n",
        "Caused by: java.lang.RuntimeException: inner"},
       {"Rust", "\nthread 'main' (28878) panicked at r.rs:1:11:\nboom\nstack backtrace:\n   0: std::panicking::begin_panic\n",
        "thread 'main' (28878) panicked at r.rs:1:11: boom"}},
      true);
}

TEST_CASE("without a traceback, the last line about an error is the program's, and figures and warnings are no errors")
{
  check_errors({{"argparse", "usage: train.py [-h]\ntrain.py: error: unrecognized arguments: --foo\n",
                 "train.py: error: unrecognized arguments: --foo"},
                {"between other lines", "loading\ncannot read train-images\nbye\n", "cannot read train-images"},
                {"before a warning", "python3: No module named nomod\nUserWarning: it failed to matter\n",
                 "python3: No module named nomod"},
                {"figures", "step 10 error 0.25 failed: 0\nno such file: a.npz\nstep 11 error=0.20\n", "no such file: a.npz"}},
               false);
  const auto words = last_words("loading\nno data today\nUserWarning: late\n" + job_is_aborted, token);
  CHECK(words.error.empty());
  CHECK(words.launcher.empty());
  CHECK(words.rest == "no data today");
}

TEST_CASE("the launcher's own sentence is told apart from its report about the end of the program")
{
  const std::vector<Row> rows{
      {"an unknown option", "mpirun: Error: unknown option \"--bogus\"\nType 'mpirun --help' for usage.\n",
       "mpirun: Error: unknown option \"--bogus\""},
      {"no such component",
       framed("A requested component was not found, or was unable to be opened.  This\n"
              "means that this component is either not installed or is unable to be\nused on your system.\n\n"
              "Host:      vm\nFramework: pml\nComponent: nosuch\n") +
           framed("It looks like MPI_INIT failed for some reason; your parallel process is\nlikely to abort.\n") +
           "[vm:28540] *** An error occurred in MPI_Init\n[vm:28540] *** on a NULL communicator\n"
           "[vm:28540] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n",
       "A requested component was not found, or was unable to be opened (Host: vm, Framework: pml, Component: nosuch)"},
      {"an unknown host",
       "ssh: Could not resolve hostname nohost: Name or service not known\r\n" +
           framed(
               "ORTE was unable to reliably start one or more daemons.\nThis usually is caused by:\n\n* not finding libraries\n"),
       "ssh: Could not resolve hostname nohost: Name or service not known"},
      {"too few slots",
       framed(
           "There are not enough slots available in the system to satisfy the 64\n"
           "slots that were requested by the application:\n\n  /bin/true\n\nEither request fewer slots for your application.\n"),
       "There are not enough slots available in the system to satisfy the 64 slots that were requested by the application: "
       "/bin/true"},
      {"no folder for temporary files",
       framed("A call to mkdir was unable to create the desired directory:\n\n  Directory: /proc/nope\n"
              "  Error:     No such file or directory\n\nPlease check to ensure you have adequate permissions.\n") +
           "[vm:23161] [[13959,0],0] ORTE_ERROR_LOG: Error in file ../../../orte/util/session_dir.c at line 107\n",
       "A call to mkdir was unable to create the desired directory (Directory: /proc/nope, Error: No such file or directory)"},
      {"an MPI call",
       "[vm:28590] *** An error occurred in MPI_Send\n[vm:28590] *** on communicator MPI_COMM_WORLD\n"
       "[vm:28590] *** MPI_ERR_RANK: invalid rank\n"
       "[vm:28590] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n",
       "An error occurred in MPI_Send: MPI_ERR_RANK: invalid rank"},
      {"srun", "srun: error: Unable to create step for job 5: More processors requested than permitted\n",
       "srun: error: Unable to create step for job 5: More processors requested than permitted"},
      {"an option of srun", "srun: unrecognized option '--bogus'\nTry \"srun --help\" for more information\n",
       "srun: unrecognized option '--bogus'"},
      {"a program that slurmstepd cannot start",
       "slurmstepd: error: execve(): /w/train: No such file or directory\nsrun: error: n1: task 0: Exited with exit code 2\n"
       "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n",
       "slurmstepd: error: execve(): /w/train: No such file or directory"},
      {"memory", "slurmstepd: error: Detected 1 oom_kill event in StepId=5.0. Some of the step tasks have been OOM Killed.\n",
       "slurmstepd: error: Detected 1 oom_kill event in StepId=5.0. Some of the step tasks have been OOM Killed."}};
  for (const auto& row : rows) {
    INFO(row.what);
    const auto words = last_words(row.text + job_is_aborted, token);
    CHECK(words.launcher == row.expected);
    CHECK(words.error.empty());
  }
  CHECK(last_words(job_is_aborted, token).launcher.empty());
  CHECK(last_words("srun: error: n1: task 0: Exited with exit code 1\n", token).launcher.empty());
  CHECK(last_words("dtjob: rank 0 on n1 ended with exit code 1\n", token).launcher.empty());
  CHECK(last_words(framed("WARNING: There was an error initializing an OpenFabrics device.\n"), token).launcher.empty());
}

TEST_CASE("an error of Open MPI's runtime is quoted only if nobody says anything else")
{
  const std::string lost =
      "[vm:26489] [[2951,0],0] ORTE_ERROR_LOG: Out of resource in file ../../../orte/util/show_help.c at line 501\n";
  const auto note = own_note(token, "launch 1 ended with exit code 1 before the first step and is tried again");
  const auto said = "mpirun printed only ORTE_ERROR_LOG: Out of resource in file ../../../orte/util/show_help.c at line 501";
  CHECK(last_words(lost + note + lost, token).launcher == said);
  CHECK(last_words(lost + job_is_aborted, token).launcher == said);
  CHECK(last_words(lost + "srun: unrecognized option '--bogus'\n", token).launcher == "srun: unrecognized option '--bogus'");
  for (const auto& other : {no_torch, own_line(token, "no such data set"), std::string("loaded 60000 images\n")})
    CHECK(last_words(lost + other, token).launcher.empty());
}

TEST_CASE("lines of dtctl are known by their mark and not by their first word")
{
  const auto note = own_note(token, "launch 1 ended with exit code 1 before the first step and is tried again");
  CHECK(note == "dtctl: note: launch 1 ended with exit code 1 before the first step and is tried again [job 3f2a91]\n");
  const auto words =
      last_words(note + own_line(token, "rank 1 needs 1 core") + own_line(token, "module load x failed", 3), token);
  CHECK(words.own == "module load x failed (exit code 3)");
  CHECK(words.error.empty());
  CHECK(words.rest.empty());
  CHECK(last_words(note, token).own.empty());
  CHECK(last_words(own_line(token, "it was removed"), token).own == "it was removed");
  const auto of_program = last_words("dtctl: error: there is no study x\n", token);
  CHECK(of_program.own.empty());
  CHECK(of_program.error == "dtctl: error: there is no study x");
  CHECK(last_words(own_line("", "of another job"), "").rest == "dtctl: of another job");
}

TEST_CASE("a quotation holds the lines of the program, and those of its launcher if there are no others")
{
  using Lines = std::vector<std::string>;
  CHECK(program_lines("\033[31mbad\033[0m\n" + job_is_aborted + "worse\n", token) == Lines{"bad", "worse"});
  const auto lines = program_lines("mpirun: Error: unknown option \"--x\"\n" + own_note(token, "again"), token);
  CHECK(lines.front() == "mpirun: Error: unknown option \"--x\"");
}

TEST_CASE("any bytes are read, and a long line is cut between two characters")
{
  std::string umlauts = "error: ";
  for (int i = 0; i < 400; ++i) umlauts += "ä";
  const auto words = last_words(umlauts, token);
  CHECK(words.error.ends_with("ä…"));
  CHECK(last_words(std::string("\0\xff\x1b[", 4) + rule + "\n\n" + rule, token).launcher.empty());
  CHECK(last_words("", token).rest.empty());
}
