// Which processes on this host belong to this process's job on this node. A host can carry several nodes of a cluster, and then
// processes of the same job that belong to another node.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace dt::jobs::agent {

// Living processes that have the job's token in their environment and belong to this node, except this process. The node
// of a process is known from the control group that the scheduler made for the job; without one, from a variable in the process's
// environment (NodeMarks).
std::vector<pid_t> own_processes(const std::string& token);

// Those that do not descend from this process, as the launcher and its ranks do: what ranks leave behind, and also ranks that a
// scheduler's own launcher started.
std::vector<pid_t> detached_processes(const std::string& token);

} // namespace dt::jobs::agent
