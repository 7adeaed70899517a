// The text that `dtctl new --program` writes into the recipe, and the lines that it prints for the user's program to report its
// steps. Pure functions.
#pragma once

#include "cli/recipe_text/commented_text.hpp"
#include "cli/recipe_text/recipe_choices.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

// Writes the blocks `program` and `train` of the recipe.
void write_program(Text& text, const RecipeChoices& choices);

// Whether the program is Python, for which the reporting module is written.
bool is_python(std::string_view program);
// Whether the text of a Python program imports PyTorch, or a library over it that trains: programs that dtctl observes
// (program.observe).
bool imports_torch(std::string_view text);

// The words that start the program, by its extension: python3 for .py; only its path if it is executable. Empty if nothing is
// known that starts it.
std::vector<std::string> command_for(const std::string& program, bool is_executable);

// The words of a command as shell_join has quoted them: blanks, quotes and backslashes mean what they mean to a shell. Nothing if
// a quote has no end.
std::optional<std::vector<std::string>> shell_words(std::string_view line);

// The lines to paste into the program, with which it reports to dtctl: Python, or C for a program that is started as it is. Empty
// for other languages.
std::string report_lines(const RecipeChoices& choices);

} // namespace dt::cli
