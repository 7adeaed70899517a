// Writes a text as a YAML scalar.
#pragma once

#include <string>
#include <string_view>

namespace dt::cli {

// Whether a text can stand in a recipe and on a terminal: valid UTF-8 without control characters, line feeds and marks that
// change the direction of the text.
bool is_plain_line(std::string_view text);

// The text as it is, if YAML then reads it as this text in every place; else in double quotes. The text must be a plain line.
std::string yaml_scalar(std::string_view text);

} // namespace dt::cli
