#include "cli/output/layout.hpp"
#include "cli/output/output.hpp"
#include "cli/output/standard_out.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace dt::cli {
namespace {

// The length of the terminal code at the beginning of `text` that sets colours ("ESC [ 38 ; 5 ; 32 m"); 0 if there is none.
std::size_t colour_code_length(std::string_view text)
{
  if (!text.starts_with("\033[")) return 0;
  const auto end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Like printable_lines, but keeps colours.
std::string printable_drawing(std::string_view text)
{
  std::string shown;
  while (!text.empty()) {
    if (const auto code = colour_code_length(text); code > 0) {
      shown += text.substr(0, code);
      text.remove_prefix(code);
    }
    const auto plain = text.substr(0, text.find('\033', 1));
    shown += printable_lines(plain);
    text.remove_prefix(plain.size());
  }
  return shown;
}

// Sentences are not wider than this on a wide terminal.
constexpr std::size_t widest_text = 110;

class TextOutput : public Output {
 public:
  TextOutput(const Terminal& out, const Terminal& err) : out_(out), err_(err) {}

  void be_quiet() override { is_quiet_ = true; }

  void heading(std::string_view title) override
  {
    if (is_quiet_) return;
    separate();
    write_out(paint(printable(title), Style::strong) + "\n");
  }

  void field(const std::string&, const std::string& label, const Cell& cell) override
  {
    if (!is_quiet_ && !label.empty() && !cell.text.empty()) fields_.emplace_back(label, cell);
  }

  void table(const Table& table) override
  {
    if (is_quiet_) return;
    separate();
    write_out(layout(table, out_.columns, [this](std::string_view text, Style style) { return paint(text, style); }));
    after_part_ = true;
  }

  void block(const std::string&, std::string_view text) override
  {
    flush_fields();
    out_.is_terminal ? write_out(printable_lines(text)) : write_out(text);
    if (!text.empty() && text.back() != '\n') write_out("\n");
    after_part_ = true;
  }

  void drawing(std::string_view text) override
  {
    if (is_quiet_) return;
    flush_fields();
    out_.is_terminal ? write_out(printable_drawing(text)) : write_out(text);
    after_part_ = true;
  }

  void data(const std::string&, Json) override {}

  void finish(ExitCode) override
  {
    flush_fields();
    flush_out();
  }

  void fail(const Error& error, ExitCode) override
  {
    const auto mark = painted(error.kind() == ErrorKind::internal ? "internal error:" : "error:", Style::bad, err_.colour);
    const std::string message = printable_lines(error.what());
    // Recipe errors begin with file:line:column, without a prefix, so that editors can find the place.
    if (error.kind() == ErrorKind::recipe)
      std::fprintf(stderr, "%s\n", message.c_str());
    else
      std::fprintf(stderr, "dtctl: %s %s\n", mark.c_str(), message.c_str());
  }

 private:
  std::string paint(std::string_view text, Style style) const { return painted(text, style, out_.colour); }

  // Separates parts by a blank line.
  void separate()
  {
    flush_fields();
    if (std::exchange(after_part_, false)) write_out("\n");
  }

  void flush_fields()
  {
    if (fields_.empty()) return;
    const auto fields = std::exchange(fields_, {});
    separate();
    std::size_t width = 0;
    for (const auto& [label, cell] : fields) width = std::max(width, display_width(label));
    const auto columns = std::min(out_.columns, widest_text); // 0: no limit
    for (const auto& [label, cell] : fields) {
      const std::string blanks(width - display_width(label) + 2, ' ');
      write_out(paint(label, Style::dim) + blanks + paint(wrap(printable(cell.text), columns, width + 2), cell.style) + "\n");
    }
    after_part_ = true;
  }

  Terminal out_, err_;
  std::vector<std::pair<std::string, Cell>> fields_; // collected, so that their values can be aligned
  bool after_part_ = false;
  bool is_quiet_ = false;
};

} // namespace

std::unique_ptr<Output> make_text_output(const Terminal& out, const Terminal& err)
{
  return std::make_unique<TextOutput>(out, err);
}

std::string painted(std::string_view text, Style style, bool colour)
{
  const auto code = [&] {
    switch (style) {
    case Style::plain:
      return "";
    case Style::strong:
      return "\033[1m";
    case Style::dim:
      return "\033[2m";
    case Style::good:
      return "\033[32m";
    case Style::warning:
      return "\033[33m";
    case Style::bad:
      return "\033[31m";
    }
    return "";
  }();
  if (!colour || style == Style::plain) return std::string(text);
  return std::string(code).append(text).append("\033[0m");
}

} // namespace dt::cli
