// How the ranks of a job on one node send messages.
//
// Open MPI looks for network cards in MPI_Init even if all ranks are on one node: UCX and libfabric load their providers, which
// takes 0.2 s. The ranks of one node use shared memory in any case. `dtjob launch --no-network-cards` therefore names `ob1`
// (OMPI_MCA_pml), which sends through shared memory, or through TCP if there is none. Other MPI libraries ignore that variable.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace dt::jobs {

// Whether the user chooses Open MPI's transports: in the launcher's words (`--mca pml ucx`, a file of parameters) or in the
// environment. is_set: whether an environment variable is set. Pure.
bool user_chooses_transports(const std::vector<std::string>& words, const std::function<bool(const std::string&)>& is_set);

} // namespace dt::jobs
