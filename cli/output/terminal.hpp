// Properties of the terminal or file that dtctl writes to.
#pragma once

#include <cstddef>

namespace dt::cli {

struct Terminal {
  bool is_terminal = false; // redrawing is possible
  bool colour = false; // a terminal that is not "dumb", unless NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE or CLICOLOR say otherwise
  std::size_t columns = 0; // 0: no limit (a pipe or a file)
  std::size_t rows = 24;
};

// Describes an open file. $COLUMNS overrides the terminal's own size.
Terminal describe_terminal(int descriptor);

} // namespace dt::cli
