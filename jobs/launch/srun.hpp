// Slurm's srun, with PMIx unless launcher_args select another plugin (--mpi=pmi2). `dtctl doctor --launchers` shows which work.
#pragma once

#include "jobs/launch/launcher.hpp"

namespace dt::jobs {

class SrunLauncher final : public Launcher {
 public:
  // Set by it for each rank.
  static constexpr const char *rank_variable = "SLURM_PROCID", *local_rank_variable = "SLURM_LOCALID";
  std::string name() const override { return "srun"; }
  std::vector<std::string> command(const RunSpec& spec, const std::string& agent,
                                   const std::vector<std::string>& program) const override;
  std::map<std::string, std::string> environment(const RunSpec& spec) const override;
};

} // namespace dt::jobs
