// Progress as lines on standard output, which dtctl reads.
#pragma once

#include <cstdint>

namespace dt::train {

// Writes "images DONE ALL" to standard output. If nobody reads it any more, throws an environment error, so that the work ends in
// an orderly way.
void report_images(std::int64_t done, std::int64_t all);

// With progress, the reader decides: when it ends, also by Ctrl-C, the pipe closes, and report_images throws.
void follow_reader();

} // namespace dt::train
