// Validators for option values. The error is one line.
#pragma once

#include "cli/command/verb.hpp"

namespace dt::cli {

// Accept finite numbers: above 0, and at least 0.
Validator positive_number();
Validator non_negative_number();

} // namespace dt::cli
