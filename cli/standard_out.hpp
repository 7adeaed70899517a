// Standard output that knows a closed pipe from a full disk.
#pragma once

#include <string_view>

namespace dt::cli {

// Buffered. After the reader closed the pipe, further text is dropped in silence.
void write_out(std::string_view text);

// An environment error when what was written cannot be kept, for example on a full disk.
void flush_out();

// Whether an earlier write failed: nobody reads any more.
bool reader_left();

// Makes a closed pipe an error of the write instead of the end of the process. Programs started later get the usual
// behaviour back.
void survive_closed_pipes();

} // namespace dt::cli
