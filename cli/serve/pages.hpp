// The pages of `dtctl serve`.
#pragma once

#include "cli/serve/site.hpp"

namespace dt::cli {

// The newest 50 studies, or all.
ServedPage studies_page(ResultsStore& results, bool all, const std::string& where);

// One study, as in a report, with the progress of its runs.
ServedPage served_study_page(ResultsStore& results, const std::string& id);

// One run: progress, loss, phases of the ranks, what the ranks were doing when they were asked, the end of its output, all
// figures.
ServedPage run_page(ResultsStore& results, const std::string& key);

// A comparison of the request's parameters `a` and `b` (selectors), `by` and `metric`; without them only the form.
ServedPage compare_page(Context& context, ResultsStore& results, const HttpRequest& request);

// The answer to the SQL statement in the parameter `sql`, by `dtctl query` in a process of its own, with its limits.
ServedPage query_page(const HttpRequest& request);

// A page with a sentence.
ServedPage error_page(int status, const std::string& text);

// For a name that no page has. A name with slashes is the address of a page in a folder, from which its links lead back.
ServedPage no_such_page(const std::string& name);

// The links above every page. `root`: as in Page::set_root.
std::string links_html(const std::string& root = "");

} // namespace dt::cli
