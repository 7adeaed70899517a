#include "jobs/agent/start_program.hpp"

#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/process.hpp"
#include "core/text.hpp"
#include "jobs/agent/inbox.hpp"
#include "jobs/agent/script_process.hpp"
#include "jobs/local/cores.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <span>

#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs::agent {
namespace {

constexpr int cannot_start = 126, no_such_program = 127;

int become(std::vector<std::string>& words)
{
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  ::execvp(list[0], list.data());
  const int error = errno, code = error == ENOENT ? no_such_program : cannot_start;
  const auto advice = error == ENOENT ? "; load what provides it: resources.modules, resources.setup" : "";
  fmt::print(stderr, "dtctl: {} (exit code {})\n",
             printable(std::string(system_error("cannot start " + words[0], error).what()) + advice), code);
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

// The first of these variables that is set, as a number.
std::optional<int> number_in(std::initializer_list<const char*> variables)
{
  for (const char* name : variables)
    if (const char* text = std::getenv(name); text != nullptr && *text != '\0') return std::atoi(text);
  return std::nullopt;
}

std::string cores_of(std::size_t count) { return fmt::format("{} {}", count, count == 1 ? "core" : "cores"); }

} // namespace

int launch(std::vector<std::string> words, bool block_sigterm)
{
  restore_job_signals(); // a set-up line may have ignored signals
  if (block_sigterm) {
    block_sigterm_here();
    start_daemons_without_sigterm();
  }
  report_launch();
  return become(words);
}

int become_without_sigterm(std::vector<std::string> words)
{
  block_sigterm_here();
  return become(words);
}

int bind_rank(std::vector<std::string> words, int cores, bool may_share)
{
  const auto local_rank = number_in({"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"});
  if (!local_rank) throw Error(ErrorKind::environment, "no launcher has set the position of this rank on its node");
  const auto mask = cores_in_mask();
  const auto count = static_cast<std::size_t>(cores), begin = static_cast<std::size_t>(*local_rank) * count;
  if (begin + count <= mask.size()) {
    local::bind_to(std::span(mask).subspan(begin, count));
  } else if (!may_share) {
    fmt::print(stderr,
               "dtctl: rank {} needs {} of its own, but the mask on this node has {}, which is not enough for all ranks\n",
               number_in({"OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}).value_or(*local_rank), cores_of(count), cores_of(mask.size()));
    return cannot_start;
  }
  return become(words);
}

} // namespace dt::jobs::agent
