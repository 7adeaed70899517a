// Opens Slurm on first use: the site's commands, and libslurm through the module where both fit the site. dtctl must also run
// where Slurm is not installed.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <filesystem>
#include <memory>

namespace dt::jobs::slurm {

// Path of libdtctl_slurm.so in the build tree or installation of the running program. Empty if there is none.
std::filesystem::path slurm_module();

// The configuration file that Slurm will read: $SLURM_CONF, else the first of the usual places that exists. Empty if there is
// none; a site can still provide the configuration by DNS.
std::filesystem::path slurm_configuration();

struct OpenedSlurm {
  std::unique_ptr<SlurmApi> api;
  std::string way; // "libslurm.so.38 (22.05)", or "the commands of 23.11, because …"
};

// Opens Slurm. Sends nothing to the controller. The library is used if it is there and its release is that of the commands in
// PATH. $DTCTL_SLURM: "library" demands it, "commands" does without. Throws a scheduler error if the commands or slurm.conf
// cannot be used.
OpenedSlurm open_slurm_way();
inline std::unique_ptr<SlurmApi> open_slurm() { return open_slurm_way().api; }

} // namespace dt::jobs::slurm
