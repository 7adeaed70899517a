// Loads the module that talks to Slurm on first use, because dtctl must also run where Slurm is not installed.
#pragma once

#include "jobs/slurm/api.hpp"

#include <filesystem>
#include <memory>

namespace dt::jobs::slurm {

// Path of libdtctl_slurm.so in the build tree or installation of the running program. Empty if dtctl was built without it.
std::filesystem::path slurm_module();

// The configuration file that libslurm will read: $SLURM_CONF, else the first of the usual places that exists. Empty if there is
// none; a site can still provide the configuration by DNS.
std::filesystem::path slurm_configuration();

// Opens Slurm. Sends nothing to the controller. Throws a scheduler error if the module, libslurm or a usable slurm.conf is
// missing.
std::unique_ptr<SlurmApi> open_slurm();

} // namespace dt::jobs::slurm
