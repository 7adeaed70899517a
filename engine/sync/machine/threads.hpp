// Whether a rank may have threads that compute at the same time.
#pragma once

#include <string>

namespace dt::sync {

// Throws a recipe error that names the user of the threads, if this machine has none: a simulated rank computes in one thread.
void require_threads(const std::string& user);

} // namespace dt::sync
