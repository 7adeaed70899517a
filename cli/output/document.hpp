// A text with headings, paragraphs, tables and pictures, as Markdown or LaTeX.
#pragma once

#include "cli/output/cell.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

enum class DocumentFormat { markdown, latex };

// Everything that comes from outside is escaped: no text can become markup. Control characters and direction marks become \xNN,
// as on a terminal.
class MarkupDocument {
 public:
  explicit MarkupDocument(DocumentFormat format) : format_(format) {}

  DocumentFormat format() const { return format_; }
  // level: 1 for the title, 2 for a section.
  void heading(int level, std::string_view text);
  void paragraph(std::string_view text);
  void list(const std::vector<std::string>& items);
  // The columns for people. A table without rows becomes its text `when_empty`.
  void table(const Table& table);
  // A picture in the file `name`, beside the document.
  void picture(std::string_view name, std::string_view caption);
  void code(std::string_view text);
  // Without a preamble: LaTeX reads it by \input.
  const std::string& text() const { return text_; }

 private:
  bool is_latex() const { return format_ == DocumentFormat::latex; }
  std::string escaped(std::string_view text) const;
  std::string row(const std::vector<std::string>& cells) const;

  DocumentFormat format_;
  std::string text_;
};

} // namespace dt::cli
