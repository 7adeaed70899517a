#include "cli/recipe_text/questions.hpp"

#include "cli/output/layout.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace dt::cli {
namespace {

// The next line without blanks around it; an empty one is the default.
std::string read_answer(const Question& question, std::istream& in, std::ostream& out)
{
  out << question.topic << " [" << question.default_answer << "]: " << std::flush;
  std::string line;
  if (!std::getline(in, line)) {
    out << "\n";
    throw Error(ErrorKind::usage, "the input ended before " + question.topic + " was answered; no recipe was written");
  }
  const auto answer = std::string(trim(line));
  return answer.empty() ? question.default_answer : answer;
}

} // namespace

void ask(const Question& question, std::istream& in, std::ostream& out, std::size_t columns)
{
  if (!question.choices.empty()) out << wrap(question.topic + ": " + join(question.choices, ", "), columns, 2) << "\n";
  while (true) {
    const auto answer = read_answer(question, in, out);
    try {
      question.take(answer);
      return;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      out << wrap(printable(error.what()), columns, 2) << "\n";
    }
  }
}

} // namespace dt::cli
