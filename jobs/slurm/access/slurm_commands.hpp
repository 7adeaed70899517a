// SlurmApi over the site's own commands: sbatch, squeue, scancel, scontrol, sacct and sacctmgr; and over libslurm, where it fits
// the site, for what it does quicker.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs::slurm {

class SlurmCommands final : public SlurmApi {
 public:
  // `release`: of the commands, "22.05". Without a library everything goes by commands.
  explicit SlurmCommands(std::string release, std::unique_ptr<SlurmLibrary> library = {});

  std::string controller() const override;
  std::string cluster() override;
  bool has_accounting() override;
  const SlurmSite& site() override;
  std::vector<SlurmPartition> partitions() override;
  std::vector<SlurmNode> nodes(const std::string& list = {}) override;
  std::vector<SlurmReservation> reservations() override;
  std::vector<std::string> accounts() override;
  std::uint32_t submit(const SlurmJob& job) override;
  std::vector<SlurmRecord> load_jobs() override;
  std::vector<SlurmRecord> load_past(const PastQuery& query) override;
  void kill(const std::string& id) override;

 private:
  // Output of a read-only command. It is ended if no controller listens; the command itself would try for nine seconds.
  std::string read(const std::vector<std::string>& words) const;
  // Output of `scontrol ping`.
  std::string ping() const;

  std::string release_;
  std::unique_ptr<SlurmLibrary> library_;
  std::optional<SlurmSite> site_;  // once it is known
  mutable std::string controller_; // once it was asked for
};

// The programs that SlurmCommands cannot do without and that are not in PATH.
std::vector<std::string> missing_commands();
} // namespace dt::jobs::slurm
