// Opening Slurm where it cannot be used: a sentence, never the end of the process.
#include "tests/jobs/playground.hpp"

#include "core/error.hpp"
#include "core/files/paths.hpp"
#include "jobs/slurm/access/load.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs::slurm;
using dt::jobs::testing::Folder;
using dt::jobs::testing::Variable;

namespace {

// The words of the scheduler error; "not installed" where Slurm's commands are missing.
std::string trouble_with(const std::filesystem::path& configuration)
{
  if (find_installed("scontrol").empty()) return "not installed";
  const Variable variable("SLURM_CONF", configuration.string());
  try {
    open_slurm();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::scheduler);
    return error.what();
  }
  return "no error";
}

} // namespace

TEST_CASE("a configuration that is not there or that Slurm does not accept is a sentence, and the process lives on")
{
  const Folder folder;
  const auto path = folder.path() / "slurm.conf";
  const auto missing = trouble_with(path);
  if (missing == "not installed") return;
  CHECK(missing == "Slurm cannot be used here: SLURM_CONF names " + path.string() + ", which is not there.");
  write_file_atomic(path, "ClusterName=x\nBogusKey=1\n");
  CHECK_THAT(trouble_with(path), Catch::Contains("do not accept " + path.string()) && Catch::Contains("BogusKey"));
}
