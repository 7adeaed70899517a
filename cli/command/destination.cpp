#include "cli/command/destination.hpp"

#include "cli/output/standard_out.hpp"
#include "core/files/file.hpp"

#include <unistd.h>

namespace dt::cli {

void write_text(Context& context, const std::string& file, const std::string& name, std::string_view text)
{
  if (file.empty() || is_standard_output(file)) return context.out.block(name, text);
  write_file_atomic(file, text, Readers::everybody);
  context.out.field("file", "written to", text_cell(file));
}

Destination::Destination(Context& context, const std::string& file, std::string_view ending) : path_(file)
{
  if (!is_standard_output(file)) return;
  if (context.json) throw Error(ErrorKind::usage, "-o - and --json both write to standard output; leave out one of them");
  if (::isatty(STDOUT_FILENO) == 1)
    throw Error(ErrorKind::usage, "-o - would write a file that is no text to the terminal; name a file, or a program behind |");
  context.out.be_quiet(); // only the file's bytes
  path_ = scratch_.emplace() / ("output" + std::string(ending));
}

void Destination::done() const
{
  if (!scratch_) return;
  write_out(read_file(path_));
  flush_out();
}

} // namespace dt::cli
