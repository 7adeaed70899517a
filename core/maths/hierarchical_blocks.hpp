// The blocks in which the allreduce `hierarchical` sums a vector, and how a slice of one crosses to other nodes: for the sum
// itself, and for the estimate of what its simulation takes.
#pragma once

#include <algorithm>
#include <cstddef>

namespace dt {

// A simulation may use longer blocks than usual, but not so long that a vector has fewer than this: while the first and the last
// block are summed nothing else goes on, and with fewer blocks that would be a larger part of the time.
inline constexpr std::size_t least_hierarchical_blocks = 32;

// Blocks in progress at once, between nodes: while one crosses to other nodes, the next is summed inside the node.
inline constexpr int hierarchical_blocks_at_once = 3;

// Numbers in a usual block. On one node, a block should stay in its core's second-level cache and all blocks together in the
// third-level cache; shorter blocks cost more waits. Between nodes, messages must be long.
constexpr std::size_t usual_hierarchical_block(bool is_one_node, std::size_t ranks_a_node)
{
  const std::size_t block_bytes = is_one_node ? 1 << 20 : 2 << 20, all_blocks_bytes = is_one_node ? 8 << 20 : 32 << 20;
  return std::min(block_bytes, all_blocks_bytes / ranks_a_node) / sizeof(float);
}

// Number of blocks of a vector of `length` numbers, at least one, if a block may have up to `longest` numbers.
constexpr std::size_t hierarchical_blocks(std::size_t length, std::size_t usual, std::size_t longest)
{
  const auto block = std::clamp(length / least_hierarchical_blocks, usual, longest);
  return std::max<std::size_t>(1, (length + block - 1) / block);
}

// Whether a slice of a usual block is summed over the nodes in a ring. From this length of a part, a ring uses the links better
// than halving-doubling, because its parts follow one another without a pause.
constexpr bool crosses_in_ring(std::size_t slice_length, std::size_t nodes)
{
  constexpr std::size_t ring_part_bytes = 64 << 10;
  return slice_length * sizeof(float) / nodes >= ring_part_bytes;
}

} // namespace dt
