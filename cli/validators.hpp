// What values options take, refused in one line.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace dt::cli {

// Accept finite numbers greater than 0, or at least 0.
CLI::Validator positive_number();
CLI::Validator non_negative_number();

} // namespace dt::cli
