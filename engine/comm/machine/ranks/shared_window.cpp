#include "engine/comm/machine/ranks/shared_window.hpp"

#include <cstring>

namespace dt::comm {
namespace {

constexpr std::size_t page = 4096;

// Each part begins on its own page, because pages can lie near different cores; large ones on their own huge page.
std::vector<std::size_t> begins_of(Communicator& node, std::size_t part_bytes)
{
  std::vector<std::size_t> begins{0};
  for (const auto& text : node.gather_texts(std::to_string(part_bytes))) {
    const std::size_t bytes = std::stoull(text), unit = bytes < huge_page_bytes ? page : huge_page_bytes;
    begins.push_back(begins.back() + (bytes + unit - 1) / unit * unit);
  }
  return begins;
}

} // namespace

SharedWindow::SharedWindow(Communicator& node, std::size_t part_bytes)
    : SharedWindow(node, part_bytes, begins_of(node, part_bytes))
{
}

SharedWindow::SharedWindow(Communicator& node, std::size_t part_bytes, const std::vector<std::size_t>& begins)
    : memory_(node, begins.back())
{
  for (int rank = 0; rank < node.size(); ++rank) parts_.push_back(memory_.data() + begins[static_cast<std::size_t>(rank)]);
  std::memset(parts_[static_cast<std::size_t>(node.rank())], 0, part_bytes);
  node.barrier();
}

} // namespace dt::comm
