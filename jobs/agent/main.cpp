// dtjob: does on the node what a job does. The scheduler of this machine starts `dtjob run` (jobs/local/leader.cpp), a job of a
// cluster `dtjob batch`; the other verbs are parts of the commands that they start. For dtctl to call, not for users.
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/paths.hpp"
#include "core/machine/process.hpp"
#include "core/program/interpreter.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/agent/attempt_job.hpp"
#include "jobs/agent/batch_job.hpp"
#include "jobs/agent/rank_processes.hpp"
#include "jobs/agent/script_process.hpp"
#include "jobs/launch/last_words.hpp"
#include "jobs/launch/launcher.hpp"
#include "jobs/launch/transports.hpp"
#include "jobs/machine/cores.hpp"
#include "jobs/machine/inbox.hpp"
#include "jobs/program/asked_environment.hpp"
#include "jobs/program/energy_watch.hpp"
#include "jobs/program/rank_program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

namespace {

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::agent;
using Work = std::function<int()>;

// The two short lives of dtjob inside a job: it prepares a process and then becomes another program (exec). Both return only if
// the program cannot be started: the exit code, 127 if there is no such program, else 126 (another launch would fail the same
// way).

struct LaunchTerms {
  bool block_sigterm = false;    // mpirun and its daemons on other nodes do not get SIGTERM (jobs/launch/launcher.hpp)
  bool one_node = false;         // all ranks are on this node: mpirun starts without ssh and rsh
  bool no_network_cards = false; // Open MPI looks for none (jobs/launch/transports.hpp)
};

struct RankTerms {
  int cores = 1;
  bool may_share = false;
  int gpus = 0;        // the rank sees those of its position among the job's GPUs on the node; 0: all of them
  std::string attempt; // of the user's own program, which the process becomes in place of `words` (jobs/program); else empty
};

constexpr int cannot_start = 126, no_such_program = 127;

// mpirun does not pass the token on to ranks on other hosts: their line is then taken for one of the program.
void say(const std::string& what, std::optional<int> code = std::nullopt)
{
  const char* token = std::getenv(token_variable);
  fmt::print(stderr, "{}", own_line(token == nullptr ? "" : token, what, code));
}

// A file that is there may name an interpreter that is not.
std::string why_not_started(const std::string& program, int error)
{
  const char* path = std::getenv("PATH");
  const auto file = program.find('/') == std::string::npos ? find_installed(program) : std::filesystem::path(program);
  std::error_code none;
  if (std::filesystem::exists(file, none))
    if (const auto why = objection_to_start(file, path == nullptr ? "" : path); !why.empty()) return why;
  const std::string words = std::strerror(error);
  if (error != ENOENT) return words;
  const bool is_mpirun = std::filesystem::path(program).filename() == "mpirun";
  return words + "; load what provides it: resources.modules, resources.setup" +
         (is_mpirun ? "; or, for a program that needs no MPI, on one node: resources.launcher: dtjob" : "");
}

int become(std::vector<std::string>& words)
{
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  ::execvp(list[0], list.data());
  const int error = errno, code = error == ENOENT ? no_such_program : cannot_start;
  say(fmt::format("cannot start {}: {}", words[0], why_not_started(words[0], error)), code);
  return code;
}

void block_sigterm_here()
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

// mpirun splits the command for its daemons at blanks, so a path with a blank cannot be used; the daemons then get SIGTERM.
void start_daemons_without_sigterm()
{
  const auto agent = own_program().string();
  if (agent.find(' ') == std::string::npos) ::setenv("OMPI_MCA_orte_launch_agent", (agent + " block-sigterm orted").c_str(), 0);
}

// Keeps Open MPI from looking for network cards (jobs/launch/transports.hpp).
void choose_transports(const std::vector<std::string>& words)
{
  const auto is_set = [](const std::string& name) { return std::getenv(name.c_str()) != nullptr; };
  if (!user_chooses_transports(words, is_set)) ::setenv("OMPI_MCA_pml", "ob1", 1);
}

// Open MPI 4 does not start where neither ssh nor rsh is installed, as in containers, even if all ranks are on this node.
void do_without_remote_shell()
{
  if (find_installed("ssh").empty() && find_installed("rsh").empty()) ::setenv("OMPI_MCA_plm", "isolated", 0);
}

// False if the mask has too few cores.
bool bind_to_cores(const RankPosition& position, const RankTerms& terms)
{
  const auto mask = cores_in_mask();
  const auto count = static_cast<std::size_t>(terms.cores), begin = static_cast<std::size_t>(position.local_rank) * count;
  if (begin + count <= mask.size()) {
    bind_to(std::span(mask).subspan(begin, count));
  } else if (!terms.may_share) {
    say(fmt::format("rank {} needs {} of its own, but the mask on this node has {}, which is not enough for all ranks",
                    position.rank, counted(count, "core"), counted(mask.size(), "core")));
    return false;
  }
  return true;
}

// False if the job has too few GPUs on this node.
bool bind_to_gpus(const RankPosition& position, int count)
{
  if (count == 0) return true;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const auto gpus = visible == nullptr || *visible == '\0' ? std::vector<std::string>() : split(visible, ',');
  const auto begin = static_cast<std::size_t>(position.local_rank) * static_cast<std::size_t>(count);
  if (begin + static_cast<std::size_t>(count) > gpus.size()) {
    say(fmt::format("rank {} needs {}, but the job sees {} on this node (CUDA_VISIBLE_DEVICES), which is not enough for all "
                    "ranks",
                    position.rank, counted(count, "GPU"), gpus.size()));
    return false;
  }
  const auto own = std::span(gpus).subspan(begin, static_cast<std::size_t>(count));
  ::setenv("CUDA_VISIBLE_DEVICES", join(own, ",").c_str(), 1);
  return true;
}

// `dtjob launch`, the last line of job.sh: reports the launch to the dtjob that runs the job and becomes the launcher, `words`.
int launch(std::vector<std::string> words, const LaunchTerms& terms)
{
  restore_job_signals(); // a set-up line may have ignored signals
  if (terms.block_sigterm) {
    block_sigterm_here();
    start_daemons_without_sigterm();
  }
  if (terms.one_node) do_without_remote_shell();
  if (terms.no_network_cards) choose_transports(words);
  report_launch();
  // dtengine measures from here how long it takes to the first step.
  ::setenv("DTCTL_LAUNCH_UNIX_S", fmt::format("{:.6f}", now_unix_s()).c_str(), 1);
  return become(words);
}

// `dtjob block-sigterm`: becomes `words` with SIGTERM blocked; what mpirun starts its daemons with.
int become_without_sigterm(std::vector<std::string> words)
{
  block_sigterm_here();
  return become(words);
}

// The attempt of a rank of the user's own program, or the one in the words of dtengine; empty if there is none.
std::string attempt_of(const RankTerms& terms, const std::vector<std::string>& words)
{
  if (!terms.attempt.empty()) return terms.attempt;
  const auto option = std::find(words.begin(), words.end(), "--attempt");
  return option == words.end() || option + 1 == words.end() ? "" : *(option + 1);
}

// Energy is recorded where that is possible; nothing depends on it.
void watch_energy(const std::string& attempt, const RankPosition& position)
{
  if (attempt.empty() || position.local_rank != 0) return;
  try {
    jobs::start_energy_watch(AttemptFolder(attempt), position.rank);
  } catch (const Error&) { // dtjob says that this host is missing
  }
}

// `dtjob bind`, once a rank: restricts the process to `cores` cores of its mask, those of the rank's position on the node, and
// becomes `words` (jobs/launch/rank_start.hpp). If the mask has too few cores: exit code 126, or with may_share the whole mask.
int bind_rank(std::vector<std::string> words, const RankTerms& terms)
{
  const auto told = position_of_rank();
  if (!told) throw Error(ErrorKind::environment, "no launcher has set the position of this rank on its node");
  const auto& position = *told;
  if (!bind_to_cores(position, terms) || !bind_to_gpus(position, terms.gpus)) return cannot_start;
  watch_energy(attempt_of(terms, words), position);
  try {
    if (!terms.attempt.empty()) words = prepare_rank(AttemptFolder(terms.attempt), position);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::run) throw;
    fmt::print(stderr, "dtctl: {}\n",
               printable(error.what())); // this exit code says that another launch would fail in the same way
    return cannot_start;
  }
  return become(words);
}

// ---- the verbs ----

void add_run(CLI::App& app, Work& work)
{
  struct Options {
    std::string attempt;
    JobTerms terms;
  };
  auto* verb = app.add_subcommand("run", "Run an attempt that this process owns");
  auto options = std::make_shared<Options>();
  verb->add_option("attempt", options->attempt, "The attempt's folder")->required();
  verb->add_option("--time-limit", options->terms.time_limit_s, "Seconds until the run is ended; 0: no limit");
  verb->add_option("--signal-ahead", options->terms.signal_ahead_s, "Seconds before the limit at which the run is asked to stop");
  verb->add_flag("--may-requeue", options->terms.may_requeue, "A run that was stopped asks to be started again");
  verb->callback([&work, options] {
    work = [options] {
      jobs::Inbox inbox;
      return run_attempt(AttemptFolder(options->attempt), options->terms, inbox);
    };
  });
}

void add_batch(CLI::App& app, Work& work)
{
  auto* verb = app.add_subcommand("batch", "Run the run or runs of a batch in a job of a cluster");
  auto terms = std::make_shared<BatchTerms>();
  verb->add_option("folder", terms->folder, "The batch's folder")->required();
  verb->add_flag("--ladder", terms->is_ladder, "Run all runs of the batch, one after another");
  verb->add_option("--requeue", terms->requeue, "How often the job may ask its scheduler to start it again");
  verb->add_option("--signal-ahead", terms->signal_ahead_s, "Seconds before its limit at which a run is asked to stop");
  verb->callback([&work, terms] {
    work = [terms] {
      jobs::Inbox inbox;
      return run_batch(*terms, inbox);
    };
  });
}

// A verb that becomes another program: the rest of the command line is the program's.
CLI::App* add_prefix(CLI::App& app, const std::string& name, const std::string& help)
{
  auto* verb = app.add_subcommand(name, help);
  verb->prefix_command();
  return verb;
}

std::vector<std::string> program_of(const CLI::App* verb)
{
  auto words = verb->remaining();
  if (words.empty()) throw dt::Error(ErrorKind::usage, verb->get_name() + " needs a program to start");
  return words;
}

void add_starters(CLI::App& app, Work& work)
{
  struct Options {
    LaunchTerms launch;
    RankTerms rank;
  };
  const auto options = std::make_shared<Options>();
  auto* launch_verb = add_prefix(app, "launch", "Become the launcher of the ranks; the last line of job.sh");
  launch_verb->add_flag("--block-sigterm", options->launch.block_sigterm,
                        "Keep SIGTERM from the launcher, because the scheduler sends it to every process");
  launch_verb->add_flag("--one-node", options->launch.one_node, "All ranks are on this node: neither ssh nor rsh is needed");
  launch_verb->add_flag("--no-network-cards", options->launch.no_network_cards, "Open MPI does not look for network cards");
  launch_verb->callback([&work, launch_verb, options] {
    work = [launch_verb, options] { return launch(program_of(launch_verb), options->launch); };
  });
  auto* bind_verb = add_prefix(app, "bind", "Bind this rank to its cores and become its program");
  bind_verb->add_option("--cores", options->rank.cores, "Cores of each rank")->check(CLI::PositiveNumber)->required();
  bind_verb->add_flag("--share", options->rank.may_share, "Use the whole mask if it has too few cores");
  bind_verb->add_option("--gpus", options->rank.gpus, "GPUs of each rank; 0: each rank sees all of its node")
      ->check(CLI::NonNegativeNumber);
  bind_verb->add_option("--attempt", options->rank.attempt, "The attempt whose spec names the program, the user's own");
  bind_verb->callback([&work, bind_verb, options] {
    work = [bind_verb, options] {
      return bind_rank(options->rank.attempt.empty() ? program_of(bind_verb) : std::vector<std::string>(), options->rank);
    };
  });
  auto* block_verb = add_prefix(app, "block-sigterm", "Become a program with SIGTERM blocked");
  block_verb->callback([&work, block_verb] { work = [block_verb] { return become_without_sigterm(program_of(block_verb)); }; });
}

void add_ranks(CLI::App& app, Work& work)
{
  const auto count = std::make_shared<int>(1);
  auto* verb = add_prefix(app, "ranks", "Start the ranks of a program on this node, without MPI");
  verb->add_option("--count", *count, "Number of ranks")->check(CLI::PositiveNumber)->required();
  verb->callback([&work, verb, count] { work = [verb, count] { return run_ranks(*count, program_of(verb)); }; });
}

void add_environment(CLI::App& app, Work& work)
{
  struct Options {
    std::string folder, environments;
  };
  const auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("environment", "Say which Python environment a command would have here");
  verb->prefix_command();
  verb->add_option("--folder", options->folder, "The folder in which the command would run")->required();
  verb->add_option("--environments", options->environments, "The folder that keeps environments")->required();
  verb->callback([&work, verb, options] {
    work = [verb, options] {
      const auto command = program_of(verb);
      std::filesystem::current_path(options->folder);
      fmt::print("{}", dt::jobs::answer_line(command, options->environments));
      return 0;
    };
  });
}

int run_verb(int argc, char** argv)
{
  CLI::App app("dtjob: runs a job of dtctl on its node. dtctl calls it; users do not need to.", "dtjob");
  app.require_subcommand(1);
  Work work;
  add_run(app, work);
  add_batch(app, work);
  add_starters(app, work);
  add_ranks(app, work);
  add_environment(app, work);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return work();
}

} // namespace

int main(int argc, char** argv)
{
  return dt::run_program("dtjob", [&] { return run_verb(argc, argv); });
}
