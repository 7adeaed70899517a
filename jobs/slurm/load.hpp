// Loading the module that speaks to Slurm, only when it is used: dtctl itself runs where Slurm is not installed.
#pragma once

#include "jobs/slurm/api.hpp"

#include <filesystem>
#include <memory>

namespace dt::jobs::slurm {

// libdtctl_slurm.so beside the running program's build tree or installation; empty when dtctl was built without it.
std::filesystem::path slurm_module();

// The configuration that libslurm is going to read: $SLURM_CONF, else the first of the usual places that exists; empty when there
// is none (a site may still give it by DNS).
std::filesystem::path slurm_configuration();

// Slurm, ready to be asked. A scheduler error, in one sentence, when the module, libslurm or a usable slurm.conf is missing; asks
// the controller nothing.
std::unique_ptr<SlurmApi> open_slurm();

} // namespace dt::jobs::slurm
