// Questions to the user of a terminal, each with a default.
#pragma once

#include <functional>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

namespace dt::cli {

struct Question {
  std::string topic;                // "model"
  std::vector<std::string> choices; // are listed above the question; may be empty
  std::string default_answer;       // of an empty line
  // Takes the answer. Throws a usage error if it cannot be used; the question is then asked again.
  std::function<void(const std::string& answer)> take;
};

// Asks until an answer can be taken. Throws a usage error if the input ends before. Lines of choices have at most `columns`
// columns.
void ask(const Question& question, std::istream& in, std::ostream& out, std::size_t columns);

} // namespace dt::cli
