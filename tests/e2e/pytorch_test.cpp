// The shipped networks beside PyTorch's, rebuilt from what `dtctl recipe models` prints; and dtctl_sync in PyTorch scripts.
#include "core/text.hpp"
#include "tests/e2e/python.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

using dt::test::has_torch;
using dt::test::python;

TEST_CASE("every shipped network, rebuilt in PyTorch from its description, gives the same logits for the same weights")
{
  if (!has_torch()) return;
  const auto result =
      dt::run_command({python(), DTCTL_SOURCE_DIR "/scripts/measure", "logits", "--build", DTCTL_BINARY_DIR}, 500);
  INFO(result.out << result.err);
  CHECK(result.ok());
}

namespace {

// `command`: what starts the ranks. `interpreter`: what they run; nothing where `command` starts it.
dt::CommandResult run_torch_test(std::vector<std::string> command, const std::string& file,
                                 const std::vector<std::string>& tests = {},
                                 const std::vector<std::string>& interpreter = {python(), "-B"})
{
  command.insert(command.begin(), {"env", "DTCTL_SYNC_LIBRARY=" DTCTL_BINARY_DIR "/lib/libdtctl_sync.so",
                                   "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMP_NUM_THREADS=1"});
  command.insert(command.end(), interpreter.begin(), interpreter.end());
  command.push_back(DTCTL_SOURCE_DIR "/tests/engine/bindings/" + file);
  command.insert(command.end(), tests.begin(), tests.end());
  return dt::run_command(command, 1100);
}

void require_loops(const std::vector<std::string>& tests)
{
  if (!has_torch()) return;
  const auto result = run_torch_test({}, "torch_loop_test.py", tests);
  INFO(result.out << result.err);
  CHECK(result.ok());
}

} // namespace

TEST_CASE("PyTorch scripts train under dtctl_sync on two ranks as their authors expect, and what cannot work is refused")
{
  if (!has_torch()) return;
  const auto result = run_torch_test({"mpirun", "--oversubscribe", "-np", "2"}, "torch_test.py");
  INFO(result.out << result.err);
  CHECK(result.ok());
}

TEST_CASE("every strategy reaches over TCP without MPI what it reaches over MPI, and by sums on devices, on one host and on two")
{
  if (!has_torch()) return;
  const auto linked = dt::run_command({"ldd", DTCTL_BINARY_DIR "/lib/libdtctl_sync_torch.so"}, 60);
  CHECK(linked.ok());
  CHECK(linked.out.find("libmpi") == std::string::npos);
  const std::vector<std::string> measure{python(), DTCTL_SOURCE_DIR "/scripts/measure", "transports", "--build",
                                         DTCTL_BINARY_DIR};
  for (std::vector<std::string> more : {std::vector<std::string>{"--ranks", "3"}, {"--ranks", "4", "--hosts", "2"}}) {
    if (more.size() > 2 && ::geteuid() != 0) continue; // names of hosts need root
    more.insert(more.begin(), measure.begin(), measure.end());
    const auto result = dt::run_command(more, 300);
    INFO(result.out << result.err);
    CHECK(result.ok());
  }
}

TEST_CASE("an ordinary loop trains under every strategy, and ends with a cause when one rank leaves")
{
  require_loops({"EveryStrategy"});
}

TEST_CASE("a rank of a PyTorch script that makes fewer steps than the others is told, and a server makes as many as its workers")
{
  require_loops({"Leaving", "Server"});
}

TEST_CASE("no data of a PyTorch script is lost or doubled without a word") { require_loops({"Data"}); }

TEST_CASE("parameters of a PyTorch script move as on one process, and a step is reported with all its batches")
{
  require_loops({"Parameters", "Reports"});
}
