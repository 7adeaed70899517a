// The size of messages that suits the machine.
#pragma once

#include <cstddef>

namespace dt::comm {

// How a sum's numbers travel: each rank sends a slice of the vector in a round, or ranks pass on the whole vector, of which a
// chunk can be passed on before the next one arrives.
enum class Travel { slices, whole_vector };

// The most numbers in one message of a sum over vectors of `length` numbers.
std::size_t usual_chunk_length(std::size_t length, Travel travel);

} // namespace dt::comm
