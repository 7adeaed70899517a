#include "engine/comm/machine/wait.hpp"

namespace dt::comm {

std::size_t wait_beside(Transfer& awaited, std::span<Transfer>)
{
  awaited.wait();
  return 0;
}

} // namespace dt::comm
