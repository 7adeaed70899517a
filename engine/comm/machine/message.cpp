#include "engine/comm/machine/message.hpp"

namespace dt::comm {

// 60 KiB: over TCP, Open MPI sends up to 64 KiB including its header at once; for longer messages it first asks the receiver.
MessageLimits usual_limits(std::size_t, std::size_t, Travel) { return {.chunk_length = 15 * 1024}; }

std::size_t longest_message() { return std::size_t{1} << 30; }

int machine_tag(int tag, std::size_t) { return tag; }

std::size_t longest_block_growth() { return 1; }

} // namespace dt::comm
