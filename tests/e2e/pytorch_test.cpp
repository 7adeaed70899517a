// The shipped networks beside PyTorch's, rebuilt from what `dtctl recipe models` prints; and dtctl_sync in PyTorch scripts.
#include "tests/e2e/python.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>

using dt::test::has_torch;
using dt::test::python;

TEST_CASE("every shipped network, rebuilt in PyTorch from its description, gives the same logits for the same weights")
{
  if (!has_torch("torch, numpy")) return;
  const auto result = dt::run_command(
      {python(), "-B", DTCTL_SOURCE_DIR "/scripts/peers/compare_logits.py", "--bin", DTCTL_BINARY_DIR "/bin"}, 500);
  INFO(result.out << result.err);
  CHECK(result.ok());
}

TEST_CASE("PyTorch scripts train under dtctl_sync on two ranks as their authors expect, and what cannot work is refused")
{
  if (!has_torch("torch, numpy")) return;
  const auto result =
      dt::run_command({"env", "DTCTL_SYNC_LIBRARY=" DTCTL_BINARY_DIR "/lib/libdtctl_sync.so", "OMPI_ALLOW_RUN_AS_ROOT=1",
                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun", "--oversubscribe", "-np", "2", python(), "-B",
                       DTCTL_SOURCE_DIR "/tests/engine/bindings/torch_test.py"},
                      400);
  INFO(result.out << result.err);
  CHECK(result.ok());
}
