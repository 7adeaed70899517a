#include "jobs/agent/start_program.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/process.hpp"
#include "core/record/claim.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/agent/script_process.hpp"
#include "jobs/launch/last_words.hpp"
#include "jobs/launch/launcher.hpp"
#include "jobs/launch/transports.hpp"
#include "jobs/machine/cores.hpp"
#include "jobs/machine/inbox.hpp"
#include "jobs/program/energy_watch.hpp"
#include "jobs/program/rank_program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>

#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs::agent {
namespace {

constexpr int cannot_start = 126, no_such_program = 127;

// mpirun does not pass the token on to ranks on other hosts: their line is then taken for one of the program.
void say(const std::string& what, std::optional<int> code = std::nullopt)
{
  const char* token = std::getenv(token_variable);
  fmt::print(stderr, "{}", own_line(token == nullptr ? "" : token, what, code));
}

int become(std::vector<std::string>& words)
{
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  ::execvp(list[0], list.data());
  const int error = errno, code = error == ENOENT ? no_such_program : cannot_start;
  const auto advice = error == ENOENT ? "; load what provides it: resources.modules, resources.setup" : "";
  say(std::string(system_error("cannot start " + words[0], error).what()) + advice, code);
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
    start_energy_watch(AttemptFolder(attempt), position.rank);
  } catch (const Error&) { // dtjob says that this host is missing
  }
}

} // namespace

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

int become_without_sigterm(std::vector<std::string> words)
{
  block_sigterm_here();
  return become(words);
}

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

} // namespace dt::jobs::agent
