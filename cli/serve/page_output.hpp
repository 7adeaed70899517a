// The output of a verb as sections of a page.
#pragma once

#include "cli/output/output.hpp"
#include "cli/report/html/page.hpp"

#include <string>

namespace dt::cli {

class PageOutput : public Output {
 public:
  // Adds to the page, which must outlive this object.
  explicit PageOutput(Page& page) : page_(page) {}
  void heading(std::string_view title) override { page_.section("part-" + std::to_string(++headings_), title); }
  void field(const std::string& name, const std::string& label, const Cell& cell) override;
  void table(const Table& table) override;
  void block(const std::string& name, std::string_view text) override;
  void drawing(std::string_view text) override { block("", text); }
  void data(const std::string&, Json) override {}
  void finish(ExitCode) override {}
  void fail(const Error& error, ExitCode) override { page_.paragraph(error.what(), "doubt"); }

 private:
  Page& page_;
  int tables_ = 0, headings_ = 0;
};

} // namespace dt::cli
