// Writes to standard output. Distinguishes a closed pipe from a full disk.
#pragma once

#include <string_view>

namespace dt::cli {

// Buffered. After the reader has closed the pipe, text is dropped silently.
void write_out(std::string_view text);

// Writes the buffer. Throws an environment error if that fails, for example on a full disk.
void flush_out();

// Whether an earlier write failed because the reader closed the pipe.
bool reader_left();

// After this call, writing to a closed pipe fails with an error instead of ending the process. Programs started later keep the
// default behaviour.
void survive_closed_pipes();

} // namespace dt::cli
