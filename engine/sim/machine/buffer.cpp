// comm::Buffer in a simulation: in a folded one, all vectors of all ranks are the same memory.
#include "engine/comm/machine/buffer.hpp"

#include "engine/sim/machine/simulated_machine.hpp"

#include <cstring>
#include <new>

namespace dt::comm {
namespace {

constexpr std::align_val_t alignment{64};

} // namespace

std::byte* take_memory(std::size_t bytes)
{
  if (sim::simulated_machine().folded) return sim::folded_memory(bytes);
  auto* memory = static_cast<std::byte*>(::operator new(bytes, alignment));
  std::memset(memory, 0, bytes);
  return memory;
}

void return_memory(std::byte* memory) noexcept
{
  if (!sim::is_folded(memory)) ::operator delete(memory, alignment);
}

} // namespace dt::comm
