// How the processes of a training find each other without MPI.
#pragma once

#include "engine/sockets/mesh.hpp"

namespace dt::sockets {

// The port at which this process waits for the others, until join().
int listen();
// Connects this process with all others; then MPI_Init_thread may be called. addresses: of all processes, in their order. Throws
// the errors of Mesh. Collective.
void join(int own, const std::vector<std::string>& addresses, const Token& token);

} // namespace dt::sockets
