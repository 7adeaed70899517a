// Shared memory of a simulated node: all ranks are in one process, so rank 0 only tells the others where it is.
#include "engine/comm/machine/ranks/shared_memory.hpp"

#include "engine/sim/machine/simulated_machine.hpp"

#include <exception>

namespace dt::comm {

SharedMemory::SharedMemory(Communicator& node, std::size_t bytes) : errors_before_(std::uncaught_exceptions()), size_(bytes)
{
  // An offset, because the length of a message must not depend on the addresses of this process.
  const auto offset = node.is_root() ? sim::take_window_memory(bytes) - sim::folded_memory() : 0;
  data_ = sim::folded_memory() + std::stoll(node.broadcast_text(std::to_string(offset)));
}

// The memory stays reserved until the simulation ends; other ranks may still use it.
SharedMemory::~SharedMemory() = default;

std::string huge_pages_of_shared_memory() { return {}; }

} // namespace dt::comm
