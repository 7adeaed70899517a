#include "engine/sim/machine/simulated_machine.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "engine/sim/machine/rank_time.hpp"

#include <cerrno>
#include <cstdint>

#include <fmt/format.h>
#include <sys/mman.h>

namespace dt::sim {
namespace {

// Only addresses: a page takes memory once it is written, for example by a short message or a counter.
constexpr std::size_t windows_begin = std::size_t{32} << 30, folded_bytes = windows_begin + (std::size_t{512} << 30);
constexpr std::size_t window_alignment = 128;

} // namespace

SimulatedMachine& simulated_machine()
{
  static SimulatedMachine machine;
  return machine;
}

std::byte* folded_memory(std::size_t bytes)
{
  if (bytes > windows_begin)
    throw Error(ErrorKind::usage,
                fmt::format("A simulated vector has at most {}, not {}.", format_bytes(static_cast<double>(windows_begin)),
                            format_bytes(static_cast<double>(bytes))));
  static auto* const memory = [] {
    void* const address =
        ::mmap(nullptr, folded_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) throw system_error("reserve addresses for the simulated ranks' vectors", errno);
    return static_cast<std::byte*>(address);
  }();
  return memory;
}

std::byte* take_window_memory(std::size_t bytes)
{
  static std::size_t used = windows_begin;
  const std::size_t begin = used;
  used += (bytes + window_alignment - 1) / window_alignment * window_alignment;
  if (used > folded_bytes)
    throw Error(ErrorKind::run,
                "The windows that simulated ranks share need more than 512 GiB of addresses. Simulate fewer ranks.");
  return folded_memory() + begin;
}

bool is_folded(const void* address)
{
  if (!simulated_machine().folded) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(address), begin = reinterpret_cast<std::uintptr_t>(folded_memory());
  return at >= begin && at < begin + folded_bytes;
}

void spend_memory_traffic(std::size_t bytes)
{
  spend_s(static_cast<double>(bytes) / simulated_machine().platform.memory_bandwidth);
}

} // namespace dt::sim
