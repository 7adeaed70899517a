// Looks in the source of a user's Python program for what exchanges anything between ranks.
#pragma once

#include <filesystem>
#include <string_view>

namespace dt::cli {

// Whether the text names a library or class by which ranks train together, outside of comments.
bool text_names_exchange(std::string_view text);

// The same of a program and of the modules that it imports from its own folder.
bool names_exchange(const std::filesystem::path& program);

} // namespace dt::cli
