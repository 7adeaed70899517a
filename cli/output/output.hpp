// Output of results: text for people or one JSON value for programs, behind one interface. Results go to standard output;
// messages go to standard error through spdlog (cli/command/context.hpp).
#pragma once

#include "cli/output/cell.hpp"
#include "cli/output/terminal.hpp"
#include "core/error.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace dt::cli {

// Version of all JSON values that dtctl prints. Raise it with every change that breaks readers.
inline constexpr int json_schema_version = 1;

class Output {
 public:
  virtual ~Output() = default;
  // From now on writes no titles, fields, tables and drawings for people (--quiet). What was asked for verbatim (block) and what
  // programs read is still written.
  virtual void be_quiet() {}
  // Writes a title; only for people.
  virtual void heading(std::string_view title) = 0;
  // Writes "Label  text", or a JSON member. Without a name it is only for people, without a label only for programs.
  virtual void field(const std::string& name, const std::string& label, const Cell& cell) = 0;
  virtual void table(const Table& table) = 0;
  // Writes a text verbatim: a script, a help page. Without a name it is only for people. On a terminal, control characters
  // and direction marks become \xNN, because the text may come from a file.
  virtual void block(const std::string& name, std::string_view text) = 0;
  // Writes a drawing of characters; only for people. On a terminal, of all control characters only colours pass.
  virtual void drawing(std::string_view text) = 0;
  // Writes a JSON member; only for programs.
  virtual void data(const std::string& name, Json value) = 0;
  // Completes the results. Throws an environment error if they could not be written. A closed pipe is not an error: the reader
  // stopped reading.
  virtual void finish(ExitCode code) = 0;
  // Prints an error instead of results.
  virtual void fail(const Error& error, ExitCode code) = 0;
};

// `verb` becomes a member of the JSON value. The terminals are those of standard output and standard error.
std::unique_ptr<Output> make_text_output(const Terminal& out, const Terminal& err);
std::unique_ptr<Output> make_json_output(const std::string& verb);

// Wraps a text in the terminal codes of the style. Returns it unchanged if `colour` is false.
std::string painted(std::string_view text, Style style, bool colour);

} // namespace dt::cli
