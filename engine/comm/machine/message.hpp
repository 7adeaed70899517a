// The size of messages that suits the machine.
#pragma once

#include <cstddef>

namespace dt::comm {

// The most numbers in one message of a sum over vectors of `length` numbers.
std::size_t usual_chunk_length(std::size_t length);

} // namespace dt::comm
