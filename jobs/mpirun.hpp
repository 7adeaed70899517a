// Open MPI's mpirun (4.1).
//
// Binding is ours, not mpirun's: with any --bind-to, Open MPI 4.1 counts cores from 0 and ignores the mask it was started
// in, so two jobs of one rank side by side would both run on core 0; its default even pins a rank of T threads to one core.
// Therefore --bind-to none, and each rank is started through a few lines of shell that take the rank's own T cores out of
// the mask the job was given: local rank r gets the cores r T … r T + T - 1 of the mask.
#pragma once

#include "jobs/launcher.hpp"

namespace dt::jobs {

class MpirunLauncher final : public Launcher {
 public:
  std::string name() const override { return "mpirun"; }
  std::vector<std::string> command(const RunSpec& spec, const std::vector<std::string>& program) const override;
  std::map<std::string, std::string> environment(const RunSpec& spec) const override;
};

} // namespace dt::jobs
