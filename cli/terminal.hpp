// What the place our text goes to can show.
#pragma once

#include <cstddef>

namespace dt::cli {

struct Terminal {
  bool is_terminal = false; // somebody watches: redrawing is possible
  bool colour = false;      // a terminal that is not dumb, and NO_COLOR is not set
  std::size_t columns = 0;  // 0: no limit (a pipe or a file)
  std::size_t rows = 24;
};

// Of an open file: $COLUMNS first, then the terminal's own size.
Terminal describe_terminal(int descriptor);

} // namespace dt::cli
