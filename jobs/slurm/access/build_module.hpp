// Builds libdtctl_slurm for the Slurm of a site, from the sources that come with dtctl.
#pragma once

#include "jobs/scheduler/kind.hpp"

#include <filesystem>

namespace dt::jobs::slurm {

// Where `dtctl slurm build` puts the module, and open_slurm looks first: <home>/modules/libdtctl_slurm.so.
std::filesystem::path built_module();

// Compiles the module with the headers of that installation and links it with its libslurm, wherever that lies. Throws an
// environment error, and leaves an earlier module as it is, if there are no headers, library or sources, if the compiler fails,
// or if the headers are of another release than the commands in PATH.
BuiltModule build_slurm_module(const ModuleBuild& build);

} // namespace dt::jobs::slurm
