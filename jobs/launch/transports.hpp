// How the ranks of a job on one node send messages.
//
// Open MPI looks for network cards in MPI_Init even if all ranks are on one node: libfabric and UCX load their providers, which
// takes 0.2 s. Ranks of one node use shared memory in any case, so such a job names it (`dtjob launch --one-node`).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dt::jobs {

// Variables that make Open MPI use shared memory without a look at network cards. Empty if the user chooses transports: in the
// launcher's words (`--mca pml ucx`, a file of parameters), or in the environment. is_set: whether a variable is set there. Other
// MPI libraries ignore these variables. Pure.
std::map<std::string, std::string> transports_on_one_node(const std::vector<std::string>& words,
                                                          const std::function<bool(const std::string&)>& is_set);

} // namespace dt::jobs
