// SlurmApi over the site's own commands: sbatch, squeue, scancel, scontrol, sacct and sacctmgr. For sites whose Slurm is of
// another release than the module, and for programs that were built without Slurm's headers.
#pragma once

#include "jobs/slurm/access/api.hpp"
#include "jobs/slurm/access/site_output.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs::slurm {

class SlurmCommands final : public SlurmApi {
 public:
  // `configuration`: the site's slurm.conf, or an empty path if the commands get it elsewhere. `release`: of the commands,
  // "22.05".
  SlurmCommands(const std::filesystem::path& configuration, std::string release);

  std::string controller() const override;
  std::string cluster() override;
  bool has_accounting() const override;
  SlurmSite site() override;
  std::vector<SlurmPartition> partitions() override;
  std::vector<SlurmNode> nodes() override;
  std::vector<SlurmReservation> reservations() override;
  std::vector<std::string> accounts() override;
  std::uint32_t submit(const SlurmJob& job) override;
  std::vector<SlurmRecord> load_jobs() override;
  std::vector<SlurmRecord> load_past(const PastQuery& query) override;
  void kill(const std::string& id) override;
  bool ping() override;

 private:
  // Output of a read-only command. It is abandoned if no controller listens; the command itself would try for nine seconds.
  std::string read(const std::vector<std::string>& words) const;
  void look_for_controller() const;

  std::map<std::string, std::string> settings_; // of slurm.conf; empty if there is none to read
  std::string release_;
  std::string cluster_; // once it is known
};

// The programs that SlurmCommands cannot do without and that are not in PATH.
std::vector<std::string> missing_commands();
// The release of the commands in PATH: "22.05". Empty if there are none, or if they do not say.
std::string release_of_commands();

} // namespace dt::jobs::slurm
