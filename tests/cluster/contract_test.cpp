// The contract of schedulers on a real Slurm.
#include "jobs/slurm/kind.hpp"
#include "tests/cluster/playground.hpp"
#include "tests/jobs/scheduler/contract_stage.hpp"

#include <cstdlib>
#include <tuple>

namespace dt::jobs::testing {
namespace {

// libslurm reads the cluster's configuration once in a process: each test is a process of its own.
struct SlurmPlace {
  test::Cluster cluster{{"--nodes", "2", "--cpus", "4"}};
  test::TemporaryFolder home;
  slurm::SlurmKind slurm;
  SlurmPlace()
  {
    ::setenv("SLURM_CONF", cluster.configuration().c_str(), 1);
    ::setenv("DTCTL_JOB_AGENT", DTCTL_BINARY_DIR "/bin/dtjob", 1);
  }
};

class SlurmStage final : private SlurmPlace, public ContractStage {
 public:
  SlurmStage() : ContractStage(slurm, Home(home.path())) {}
  int patience_s() const override { return 90; }
  void enter(const std::string& job_id) override
  {
    ::setenv("SLURM_JOB_ID", job_id.c_str(), 1);
    ::setenv("SLURM_JOB_NODELIST", "node0", 1);
  }
};

using ContractStages = std::tuple<SlurmStage>;

} // namespace
} // namespace dt::jobs::testing

#include "tests/jobs/scheduler/contract_cases.hpp"
