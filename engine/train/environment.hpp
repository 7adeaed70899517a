// What this program runs on and was made of, for the run's record.
#pragma once

#include <map>
#include <string>

namespace dt::engine {

// dtengine's version and the build id of the running program.
std::string engine_version();
std::string engine_build();

// cpu_model, architecture, cores, memory_bytes, kernel, mpi_version, dnnl_version, compiler, build_type, engine_version,
// engine_build; git_state (of $DTCTL_GIT_STATE) and modules (of $LOADEDMODULES) when there are any. As this rank sees them.
std::map<std::string, std::string> describe_environment();

} // namespace dt::engine
