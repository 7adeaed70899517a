// Properties of the terminal or file that dtctl writes to.
#pragma once

#include <cstddef>

namespace dt::cli {

struct Terminal {
  bool is_terminal = false; // redrawing is possible
  bool colour = false;      // the terminal is not "dumb" and NO_COLOR is not set
  std::size_t columns = 0;  // 0: no limit (a pipe or a file)
  std::size_t rows = 24;
};

// Describes an open file. $COLUMNS overrides the terminal's own size.
Terminal describe_terminal(int descriptor);

} // namespace dt::cli
