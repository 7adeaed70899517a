#include "cli/serve/site.hpp"

#include "cli/follow/follow.hpp"
#include "cli/report/html/assets.hpp"
#include "cli/serve/pages.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::size_t most_kept = 64;

struct ServedAsset {
  const char* name;
  const char* type;
  Asset (*content)();
};
constexpr std::array assets{ServedAsset{"assets/chart.js", "text/javascript; charset=utf-8", chart_js},
                            ServedAsset{"assets/charts.js", "text/javascript; charset=utf-8", charts_js},
                            ServedAsset{"assets/page.js", "text/javascript; charset=utf-8", page_js},
                            ServedAsset{"assets/live.js", "text/javascript; charset=utf-8", live_js},
                            ServedAsset{"assets/page.css", "text/css; charset=utf-8", page_css}};

// The server's address has a new token at each start, so a browser never has an asset of an older dtctl.
HttpResponse asset_answer(const ServedAsset& asset)
{
  const auto content = asset.content();
  return {.type = asset.type,
          .body = std::string(content.text),
          .version = std::string(content.sha256),
          .cache = "private, max-age=86400"};
}

std::string place_of(const std::string& name, const HttpRequest& request)
{
  std::string place = name;
  for (const auto& [key, value] : request.parameters) place += '\n' + key + '=' + value;
  return place;
}

bool has_version(const HttpRequest& request, const std::string& version)
{
  return request.header("if-none-match").find('"' + version + '"') != std::string::npos;
}

} // namespace

double fresh_s_of(const std::vector<RunView>& runs)
{
  if (is_on_shared_scheduler(runs)) return 10;
  const bool is_live = std::any_of(runs.begin(), runs.end(), [](const RunView& run) {
    const bool is_about_to_end = run.row.state == RunState::succeeded && run.live && !run.live->verdict.exit_code;
    return !is_final(run.row.state) || is_about_to_end;
  });
  return is_live ? 1 : std::numeric_limits<double>::infinity();
}

Site::Site(Context& context) : context_(context), results_(context) {}

ServedPage Site::make_page(const std::string& name, const HttpRequest& request)
{
  context_.troubles.clear();
  context_.unreadable.clear();
  results_.try_writing_again();
  auto served = page_named(name, request);
  for (const auto& trouble : context_.troubles)
    served.page.paragraph(trouble + " The states shown come only from the files of the runs.", "doubt");
  return served;
}

ServedPage Site::page_named(const std::string& name, const HttpRequest& request)
{
  try {
    if (!is_there(results_.home().root()))
      return error_page(
          503, fmt::format(
                   "The home {} is not there: it was moved or removed, or nothing was submitted yet. If it was moved, end dtctl "
                   "serve and start it again with DTCTL_HOME set to its new place.",
                   printable(results_.home().root().string())));
    if (name.empty()) return studies_page(results_, !request.parameter("all").empty(), request.parameter("where"));
    if (name == "study") return served_study_page(results_, request.parameter("id"));
    if (name == "run") return run_page(results_, request.parameter("key"));
    if (name == "compare") return compare_page(context_, results_, request);
    return no_such_page(name);
  } catch (const Error& error) {
    return error_page(error.kind() == ErrorKind::usage ? 404 : 500, error.what());
  } catch (const std::exception& error) {
    return error_page(500, error.what());
  }
}

void Site::follow_home()
{
  const auto before = std::exchange(is_home_there_, is_there(results_.home().root()));
  if (results_.follow_home() || before != is_home_there_) kept_.clear();
}

bool Site::is_up_to_date(const Kept& kept)
{
  const std::chrono::duration<double> age = Clock::now() - kept.made;
  return age.count() < kept.least_s || (kept.changes == results_.database().changes() && age.count() < kept.fresh_s);
}

const Site::Kept& Site::up_to_date(const std::string& name, const HttpRequest& request)
{
  const auto place = place_of(name, request);
  const auto found = kept_.find(place);
  if (found != kept_.end() && is_up_to_date(found->second)) return found->second;
  if (kept_.size() >= most_kept) kept_.clear();
  const auto begin = Clock::now();
  const auto changes = results_.database().changes(); // before: what is written meanwhile makes the page old
  const auto made = make_page(name, request);
  auto& kept = kept_[place];
  const std::chrono::duration<double> cost = Clock::now() - begin;
  kept = {.html = made.page.html(Delivery::server),
          .version = made.page.version(),
          .status = made.status,
          .fresh_s = made.fresh_s,
          .least_s = std::max(std::isfinite(made.fresh_s) ? made.fresh_s : 0.0, 5 * cost.count()),
          .changes = changes,
          .made = Clock::now()};
  return kept;
}

HttpResponse Site::answer(const HttpRequest& request, const std::string& name)
{
  const auto* asset = std::find_if(assets.begin(), assets.end(), [&](const auto& one) { return one.name == name; });
  if (asset != assets.end()) return asset_answer(*asset);
  HttpResponse response{.body = {}, .cache = "no-cache, private", .security_policy = content_security_policy(Delivery::server)};
  if (name == "query") { // by a process of its own, so the other pages need not wait for it
    const auto made = query_page(request);
    response.status = made.status;
    response.body = made.page.html(Delivery::server);
    response.version = made.page.version();
  } else {
    const std::lock_guard lock(mutex_);
    follow_home();
    const auto& kept = up_to_date(name, request);
    response.status = kept.status;
    response.body = kept.html;
    response.version = kept.version;
  }
  if (response.status == 200 && has_version(request, response.version)) response.status = 304;
  return response;
}

} // namespace dt::cli
