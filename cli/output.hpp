// Where results go: text for people or one JSON value for programs, behind one interface. Results are written to standard
// output; messages go to standard error through spdlog (cli/context.hpp).
#pragma once

#include "cli/cell.hpp"
#include "cli/terminal.hpp"
#include "core/error.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace dt::cli {

// The format of every JSON value dtctl prints. A change that breaks readers raises it.
inline constexpr int json_schema_version = 1;

class Output {
public:
  virtual ~Output() = default;
  // A title between parts; people only.
  virtual void heading(std::string_view title) = 0;
  // "Label  text", or a member of that name. Without a name it is for people only, without a label for programs only.
  virtual void field(const std::string& name, const std::string& label, const Cell& cell) = 0;
  virtual void table(const Table& table) = 0;
  // Verbatim text: a script, a log, a page of help. Without a name it is for people only. A terminal gets control characters and
  // direction marks as \xNN, for the text may come from a file.
  virtual void block(const std::string& name, std::string_view text) = 0;
  // A member for programs only.
  virtual void data(const std::string& name, Json value) = 0;
  // The results are complete. An environment error when they could not be written (a closed pipe is none: the reader had
  // enough).
  virtual void finish(ExitCode code) = 0;
  // In place of results.
  virtual void fail(const Error& error, ExitCode code) = 0;
};

// `verb` is named in the JSON value; the terminals are those of standard output and standard error.
std::unique_ptr<Output> make_text_output(const Terminal& out, const Terminal& err);
std::unique_ptr<Output> make_json_output(const std::string& verb);

// A text in the style's terminal codes; untouched when `colour` is false.
std::string painted(std::string_view text, Style style, bool colour);

} // namespace dt::cli
