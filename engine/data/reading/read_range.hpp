// Reads consecutive samples with several threads, for evaluation.
#pragma once

#include "engine/data/source.hpp"

#include <cstdint>

namespace dt::data {

// Reads these samples, unvaried, one after another into `images`, and their labels. Up to `threads` threads take part if the
// source reads from a file; otherwise the caller reads alone, because starting threads would take longer. Returns how many
// samples were replaced. Throws the first error of a thread.
std::int64_t read_range(const Source& source, SampleRange samples, int threads, float* images, std::int32_t* labels);

} // namespace dt::data
