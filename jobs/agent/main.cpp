// dtjob: does on the node what a job does. The scheduler of this machine starts `dtjob run` (jobs/local/leader.cpp), a job of a
// cluster `dtjob batch`; the other verbs are parts of the commands that they start. For dtctl to call, not for users.
#include "core/error.hpp"
#include "core/process.hpp"
#include "jobs/agent/attempt_job.hpp"
#include "jobs/agent/batch_job.hpp"
#include "jobs/agent/start_program.hpp"
#include "jobs/machine/inbox.hpp"
#include "jobs/program/asked_environment.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace dt;
using namespace dt::jobs::agent;
using Work = std::function<int()>;

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
