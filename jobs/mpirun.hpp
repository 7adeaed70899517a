// Open MPI's mpirun (4.1), without its binding (rank_start.hpp).
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
