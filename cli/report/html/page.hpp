// Page: an HTML page of sections with sentences, charts and tables, for a file or for `dtctl serve`.
#pragma once

#include "cli/output/cell.hpp"
#include "cli/report/chart/chart.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

// How a page gets its scripts and its style.
enum class Delivery {
  file,   // they stand in the page, which needs nothing else and opens anywhere
  server, // from the server's folder assets/
};

class Page {
 public:
  // `subtitle`: a line under the title.
  Page(std::string title, std::string subtitle);

  // On a page about several studies: begins the part about this one. The ids of its sections, tables and charts get a prefix.
  void begin_study(std::string_view name, std::string_view subtitle);
  // Begins a section with a heading. `id`: of its address in the page.
  void section(std::string_view id, std::string_view title);
  void heading(std::string_view title);
  // Text is escaped; an empty text adds nothing.
  void paragraph(std::string_view text, std::string_view css_class = "");
  void preformatted(std::string_view text);
  // As table_html (cli/report/html/markup.hpp), but of a longer table only the first `most_rows` rows, and a sentence that says
  // so.
  void table(Table table, const std::string& name, const std::vector<std::string>& links = {},
             std::size_t most_rows = most_table_rows);
  // Adds the charts, several side by side where there is room, or the sentence why there are none.
  void charts(const Charts& charts);
  // The same of several kinds.
  void charts_side_by_side(const std::vector<Charts>& all);
  // Adds markup that the caller has escaped.
  void markup(std::string_view html);
  // Markup above the navigation: links of the server's pages.
  void set_links(std::string html) { links_ = std::move(html); }
  // The way from the page's address to the folder of the server's pages: "../" for a page in a folder below it.
  void set_root(std::string root) { root_ = std::move(root); }
  // The page is an answer that does not change: live.js does not ask again.
  void set_still() { is_still_ = true; }

  // The complete page.
  std::string html(Delivery delivery) const;
  // A hash of what the page shows. It stands in the page as data-version.
  std::string version() const;

 private:
  std::string figures(const Charts& charts);
  void end_section();
  std::string head(Delivery delivery) const;
  std::string navigation() const;

  std::string title_, subtitle_, links_, body_, root_;
  struct Place {
    std::string id, title;
    bool is_study = false;
  };
  std::vector<Place> places_; // what the navigation leads to
  std::string prefix_;        // of ids: "s2-" in the second of several studies
  int studies_ = 0;
  bool in_section_ = false, is_still_ = false;
  std::string charts_; // the JSON of the charts, with commas between them
};

// The Content-Security-Policy of a page: nothing is loaded from anywhere. In a file, the scripts and the style that stand in the
// page are allowed by their hashes; from the server, only files of the server.
std::string content_security_policy(Delivery delivery);

} // namespace dt::cli
