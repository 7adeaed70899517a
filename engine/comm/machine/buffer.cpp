#include "engine/comm/machine/buffer.hpp"

#include "core/error.hpp"
#include "core/units.hpp"

#include <cstring>
#include <new>

namespace dt::comm {
namespace {

constexpr std::align_val_t alignment{64};

} // namespace

std::byte* take_memory(std::size_t bytes)
{
  auto* memory = static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow));
  if (memory == nullptr)
    throw Error(ErrorKind::environment, "No memory for a vector of " + format_bytes(static_cast<double>(bytes)) + ".");
  std::memset(memory, 0, bytes);
  return memory;
}

void return_memory(std::byte* memory) noexcept { ::operator delete(memory, alignment); }

} // namespace dt::comm
