// Shared windows of a simulated node: the ranks' parts begin at multiples of 128 bytes, and are zeros from the start.
#include "engine/comm/machine/ranks/shared_window.hpp"

#include <string>

namespace dt::comm {
namespace {

std::vector<std::size_t> begins_of(Communicator& node, std::size_t part_bytes)
{
  constexpr std::size_t alignment = 128;
  std::vector<std::size_t> begins{0};
  for (const auto& text : node.gather_texts(std::to_string(part_bytes)))
    begins.push_back(begins.back() + (std::stoull(text) + alignment - 1) / alignment * alignment);
  return begins;
}

} // namespace

SharedWindow::SharedWindow(Communicator& node, std::size_t part_bytes)
    : SharedWindow(node, part_bytes, begins_of(node, part_bytes))
{
}

SharedWindow::SharedWindow(Communicator& node, std::size_t, const std::vector<std::size_t>& begins) : memory_(node, begins.back())
{
  for (int rank = 0; rank < node.size(); ++rank) parts_.push_back(memory_.data() + begins[static_cast<std::size_t>(rank)]);
}

} // namespace dt::comm
