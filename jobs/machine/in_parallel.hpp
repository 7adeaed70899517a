// in_parallel: the same file operation for many runs, on a few threads.
#pragma once

#include <cstddef>
#include <functional>

namespace dt::jobs {

// Calls work(i) for i = 0 … count-1 on a few threads, each with consecutive indices; rethrows the first exception. Meant for file
// operations, during which a thread mostly waits.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

} // namespace dt::jobs
