// Shared memory of a simulated node: all ranks are in one process, so they only tell each other where their parts are.
#include "engine/comm/machine/shared_window.hpp"

#include "engine/sim/machine/simulated_machine.hpp"

#include <exception>
#include <string>

namespace dt::comm {

SharedWindow::SharedWindow(Communicator& node, std::size_t part_bytes) : errors_before_(std::uncaught_exceptions())
{
  // Offsets, because the length of a message must not depend on the addresses of this process.
  const auto mine = sim::take_window_memory(part_bytes) - sim::folded_memory();
  for (const auto& text : node.gather_texts(std::to_string(mine))) parts_.push_back(sim::folded_memory() + std::stoll(text));
}

// The memory stays reserved until the simulation ends; other ranks may still use it.
SharedWindow::~SharedWindow() = default;

} // namespace dt::comm
