// The size of messages that suits the machine.
#pragma once

#include <cstddef>

namespace dt::comm {

// The most numbers in one message of a long vector.
std::size_t usual_chunk_length();

} // namespace dt::comm
