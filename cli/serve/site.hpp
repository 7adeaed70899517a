// Site: the pages of `dtctl serve`, made when they are asked for and kept while nothing has changed.
#pragma once

#include "cli/report/html/page.hpp"
#include "cli/runs/results_store.hpp"
#include "cli/serve/http_server.hpp"

#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace dt::cli {

struct ServedPage {
  Page page;
  // Seconds for which the server keeps this page before it makes it again. Infinite if all runs on the page have ended: then the
  // server makes it again only when the database changes.
  double fresh_s = std::numeric_limits<double>::infinity();
  int status = 200;
};

// fresh_s of a page about these runs: a scheduler that serves other users is asked less often.
double fresh_s_of(const std::vector<RunView>& runs);

class Site {
 public:
  // Opens the results database. The context must outlive the site.
  explicit Site(Context& context);
  // The answer to a request for the page of this name (cli/serve/access.hpp: page_name). Can be called by several threads. An
  // error while the page is made becomes a page that says what happened; throws if the database cannot be asked at all.
  HttpResponse answer(const HttpRequest& request, const std::string& name);

 private:
  using Clock = std::chrono::steady_clock;
  struct Kept {
    std::string html, version;
    int status = 200;
    double fresh_s = 0;
    // So long it is kept even if the database changes: many readers cost no more than one, and a scheduler is not asked again.
    double least_s = 0;
    std::int64_t changes = 0; // of the database when the page was made
    Clock::time_point made;
  };
  // Forgets all pages if the home was made, moved or removed since the last request.
  void follow_home();
  const Kept& up_to_date(const std::string& name, const HttpRequest& request);
  bool is_up_to_date(const Kept& kept);
  // The page, with the schedulers that could not be reached while it was made.
  ServedPage make_page(const std::string& name, const HttpRequest& request);
  ServedPage page_named(const std::string& name, const HttpRequest& request);

  Context& context_;
  std::mutex mutex_; // of all below: SQLite's connection is used by one thread at a time
  ResultsStore results_;
  bool is_home_there_ = true;
  std::map<std::string, Kept> kept_; // by name and parameters
};

} // namespace dt::cli
