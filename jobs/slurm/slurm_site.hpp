// The site's Slurm for dtctl doctor: what speaks for and against running jobs there, and trial jobs. The judge functions are pure
// functions of Slurm's answers.
#pragma once

#include "jobs/scheduler/site.hpp"
#include "jobs/slurm/access/api.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dt::jobs::slurm {

// Checks version, limits, accounting and MPI plugins. `controller`: its machines. `accounting_trouble`: why slurmdbd does not
// answer; empty: it does, or the site has none.
std::vector<SiteFinding> judge_site(const SlurmSite& site, const std::string& controller,
                                    const std::string& accounting_trouble = {});
SiteFinding judge_partitions(const std::vector<SlurmPartition>& partitions);
SiteFinding judge_nodes(const std::vector<SlurmNode>& nodes);

// What a trial job's record shows, against how it was submitted at `submitted_unix_s` by this machine's clock: whether the site
// keeps what dtctl knows a job by, and whether the controller's clock agrees with this machine's.
SiteFinding judge_identity(const SlurmJob& job, const SlurmRecord& record);
SiteFinding judge_clock(double submitted_unix_s, const SlurmRecord& record);

// Asks Slurm and makes all checks. Returns a single finding if there is no Slurm or no controller answers.
SiteReport examine_site();

class SlurmSiteJobs final : public Site {
 public:
  explicit SlurmSiteJobs(std::shared_ptr<SlurmApi> api) : api_(std::move(api)) {}
  std::string title() const override { return "Slurm"; }
  std::vector<std::string> mpi_plugins() override;
  std::string submit(const TrialJob& job) override;
  TrialState look(const std::string& id, const TrialJob& job) override;
  void end(const std::string& id) override;

 private:
  std::shared_ptr<SlurmApi> api_;
};

} // namespace dt::jobs::slurm
