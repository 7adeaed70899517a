// Opening Slurm where it cannot be used: a sentence, never the end of the process.
#include "tests/jobs/playground.hpp"

#include "core/error.hpp"
#include "core/paths.hpp"
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

TEST_CASE("a configuration that is not there is a sentence, at once")
{
  const auto words = trouble_with("/nowhere/slurm.conf");
  CHECK((words == "not installed" ||
         words == "Slurm cannot be used here: SLURM_CONF names /nowhere/slurm.conf, which is not there."));
}

TEST_CASE("a configuration that Slurm does not accept is a sentence with its words, and the process lives on")
{
  const Folder folder;
  const auto path = folder.path() / "slurm.conf";
  write_file_atomic(path, "ClusterName=x\nBogusKey=1\n");
  const auto words = trouble_with(path);
  if (words == "not installed") return;
  CHECK(words.starts_with("Slurm cannot be used here: its commands do not accept " + path.string() + " (\""));
  CHECK(words.find("BogusKey") != std::string::npos);
}
