// dtctl serve: the real server, its pages in a real browser, and clients that mean harm.
#include "core/text.hpp"
#include "core/units.hpp"
#include "tests/cli/report/pictured_home.hpp"
#include "tests/cli/serve/served_home.hpp"
#include "tests/support/browser/browser.hpp"

#include <future>

using Catch::Contains;
using namespace dt;
using namespace dt::test;

namespace {

// A home with a study, served.
struct ServedStudy {
  explicit ServedStudy(const std::string& extra = "") : home("pictured", extra), served(home.dtctl, home.environment()) {}
  std::string study() const { return "study?id=" + home.record.id; }
  std::string run(std::size_t index) const { return "run?key=" + home.runs.at(index).key; }
  PicturedHome home;
  Served served;
};

} // namespace

TEST_CASE("nobody sees a page without the token, under another host's name or from another site")
{
  const ServedStudy study;
  const auto& served = study.served;
  const auto refused = [&](const HttpAnswer& answer) {
    CHECK(answer.status == 403);
    CHECK_THAT(answer.body, !Contains("pictured"));
  };
  CHECK(served.get().status == 200);
  CHECK_THAT(served.get().body, Contains("pictured"));
  const ServedStudy other;
  CHECK(served.path.size() == 34);
  CHECK(served.path != other.served.path);
  refused(served.ask("GET", other.served.path));
  refused(served.ask("GET", "/"));
  refused(served.ask("GET", "/" + std::string(32, '0') + "/"));
  refused(served.ask("GET", served.path.substr(0, 32) + "/"));
  refused(served.ask("GET", "//" + served.path));
  for (const Words& headers : {Words{"Host: evil.example"},
                               {"Host: evil.example:" + std::to_string(served.port)},
                               {"Host: 127.0.0.1.evil.example"},
                               {"Origin: http://evil.example"},
                               {"Origin: null"},
                               {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"},
                               {"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"}})
    refused(served.get("", headers));
  CHECK(served.get("", {"Host: localhost:8080"}).status == 200); // through ssh -L 8080
  CHECK(served.get("", {"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors"}).status == 200);
  CHECK(served.get("", {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}).status == 200); // a link in a mail
}

TEST_CASE("pages tell browsers to load nothing from elsewhere, to show them in no frame and to pass the address on to nobody")
{
  const ServedStudy study;
  const auto headers = study.served.get().headers;
  CHECK_THAT(headers.at("Content-Security-Policy"),
             Contains("default-src 'none'") && Contains("frame-ancestors 'none'") && Contains("script-src 'self'"));
  CHECK(headers.at("Referrer-Policy") == "no-referrer");
  CHECK(headers.at("Cross-Origin-Resource-Policy") == "same-origin");
  CHECK(headers.at("X-Content-Type-Options") == "nosniff");
  CHECK_FALSE(headers.contains("Access-Control-Allow-Origin"));
}

TEST_CASE("the pages can only be read")
{
  const ServedStudy study;
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    INFO(method);
    const auto status = study.served.get("", {"Content-Length: 0"}, method).status;
    CHECK((status == 405 || status == 501));
  }
  const auto head = study.served.get("", {}, "HEAD");
  CHECK(head.status == 200);
  CHECK(head.body.empty());
}

TEST_CASE("no path leads to a file of the machine, and one that leads nowhere has the style and the links of the other pages")
{
  const ServedStudy study;
  for (const char* page :
       {"../../../../etc/passwd", "..%2f..%2f..%2f..%2fetc%2fpasswd", "assets/../../../../etc/passwd",
        "assets/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "run?key=../../../etc/passwd", "study?id=..%2f..%2fetc%2fpasswd",
        "run?key=%00", "results.db", "../results.db", "study?id=", "run", "run?key=zz", "nothing"}) {
    INFO(page);
    const auto answer = study.served.get(page);
    CHECK((answer.status == 404 || answer.status == 403 || answer.status == 400));
    CHECK_THAT(answer.body, !Contains("root:"));
  }
  CHECK(study.served.get().status == 200);
  const auto answer = study.served.get("no/such/page"); // has the style and the links of the others
  CHECK(answer.status == 404);
  for (const char* link : {"href=\"../../assets/page.css\"", "src=\"../../assets/page.js\"", "href=\"../../compare\""})
    CHECK_THAT(answer.body, Contains(link));
  CHECK_THAT(study.served.get("nothing").body, Contains("href=\"assets/page.css\""));
}

TEST_CASE("requests that are too large, broken or half sent, and clients that die or do not read, leave the server as it was")
{
  const ServedStudy study;
  const auto& served = study.served;
  const auto raw = [&](const std::string& text) {
    const Client client(served.port);
    client.send(text);
    return parse_answer(client.read_all()).status;
  };
  CHECK(raw("GET " + served.path + std::string(20'000, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n") != 200);
  CHECK(raw("GET " + served.path + " HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n") != 200);
  CHECK(raw("\x16\x03\x01 this is no HTTP\r\n\r\n") != 200);
  CHECK(raw("GET\r\n\r\n") != 200);
  std::vector<std::unique_ptr<Client>> slow; // more than a minute's patience would need, held while others are answered
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<Client>(served.port));
    slow.back()->send(i % 2 == 0 ? "GET " + served.path
                                 : "GET " + served.path + "assets/chart.js HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  for (int i = 0; i < 20; ++i) {
    Client dying(served.port);
    dying.send("GET " + served.path + study.study() + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    dying.reset();
  }
  CHECK(served.get().status == 200);
  CHECK(served.get(study.study()).status == 200);
  CHECK(served.is_running());
}

TEST_CASE("hundreds of clients without a request are disconnected, and a page does not wait for their time")
{
  const ServedStudy study;
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 300; ++i) {
    idle.push_back(std::make_unique<Client>(study.served.port));
    if (i % 2 == 0) idle.back()->send("GET /");
  }
  CHECK(study.served.get().status == 200);
  // The server has closed the first ones, long before the 5 s that a request may take: the others still wait.
  CHECK(idle.front()->read_all().empty());
}

TEST_CASE("a page that has not changed is not sent again, and one whose study has is")
{
  const ServedStudy study;
  REQUIRE(study.home.run({"db", "rebuild"}).ok());
  const auto first = study.served.get(study.study());
  REQUIRE(first.status == 200);
  const auto etag = first.headers.at("ETag");
  const auto again = study.served.get(study.study(), {"If-None-Match: " + etag});
  CHECK(again.status == 304);
  CHECK(again.body.empty());
  CHECK_THAT(first.body, Contains("data-version=" + etag));

  auto changed = study.home.record; // the study is submitted again, under another description
  changed.description = "submitted once more";
  changed.submitted_unix_s += 1;
  store::test::put_file(study.home.site.home.study(changed.id) / "study.json", to_json(changed));
  make_folders(study.home.site.home.root() / "pending");
  store::test::put_file(study.home.site.home.root() / "pending" / changed.id, "");
  REQUIRE(study.home.run({"status", "--all"}).ok()); // another dtctl takes it in
  HttpAnswer later;                                  // a page is kept for some times as long as it takes to make
  CHECK(eventually([&] {
    later = study.served.get(study.study(), {"If-None-Match: " + etag});
    return later.status == 200;
  }));
  CHECK_THAT(later.body, Contains("submitted once more"));
}

TEST_CASE("headless Chromium shows every page without a message, another host or texts that cover each other")
{
  const ServedStudy study;
  const std::string page = GENERATE("", "study", "run", "compare?a=last", "query?sql=select+label,size,efficiency+from+scaling");
  const auto url = study.served.url + (page == "study" ? study.study() : page == "run" ? study.run(8) : page);
  for (const Words& options :
       {Words{"--width", "400"}, Words{"--width", "1280"}, Words{"--width", "400", "--dark"}, Words{"--print"}}) {
    INFO(page << " " << join(options, " "));
    const auto seen = look_at(url, options);
    CHECK(seen.at("console").empty());
    CHECK(seen.at("overlaps").empty());
    CHECK(seen.at("wide") == false);
    for (const auto& request : seen.at("requests")) CHECK(request.get<std::string>().starts_with(study.served.url));
  }
}

TEST_CASE("a page in the browser shows the progress and the end of a run without being loaded again")
{
  const PicturedHome home;
  auto spec = store::test::sample_spec(2, 7);
  spec.name = "pictured";
  const auto planned = home.site.plan(spec);
  const auto attempt = home.site.begin(planned, 1);
  const auto beat = [&](int step) {
    store::test::put_file(attempt.heartbeat(), "beat " + std::to_string(now_unix_s()) + " " + std::to_string(step) + " 40\n");
  };
  beat(3);
  store::test::put_file(attempt.events(), store::test::step_lines(1, 3));
  auto record = home.site.study({planned}, "single", 1700000500, "going");
  const Served served(home.dtctl, home.environment());
  const auto url = served.url + "run?key=" + planned.key;
  // The page is open when this returns; the future has what it shows once the text has appeared.
  const auto opened = [&](const std::string& text) {
    const auto loaded = home.file("loaded-" + encoded(text));
    auto seen = std::async(std::launch::async, [=] {
      return look_at(url, {"--loaded", loaded.string(), "--wait", "document.body.innerText.includes('" + text + "')", "--run",
                           "document.body.innerText"});
    });
    REQUIRE(eventually([&] { return std::filesystem::exists(loaded); }));
    return seen;
  };
  CHECK(opened("3/40").get().at("console").empty());
  auto progress = opened("17/40");
  beat(17);
  CHECK(progress.get().at("console").empty());
  auto end = opened("succeeded");
  home.site.succeed(planned, attempt, 500);
  const auto seen = end.get();
  CHECK(seen.at("console").empty());
  CHECK_THAT(seen.at("values")[0].get<std::string>(), !Contains("17/40"));
}

TEST_CASE("names that hold markup do nothing in the pages, and an address cannot put markup into one")
{
  const ServedStudy study(breaking_text);
  const std::string broken = "window.broken === undefined";
  for (const auto& page :
       {std::string(), study.study(), study.run(0), "compare?a=" + encoded("last") + "&by=" + encoded(breaking_text),
        "compare?a=" + encoded(breaking_text),
        "query?sql=" + encoded("select '" + std::string("<script>window.broken=1</script>") + "'"),
        "query?sql=" + encoded(breaking_text)}) {
    INFO(page);
    const auto answer = study.served.get(page);
    CHECK_THAT(answer.body, !Contains("<script>window.broken") && !Contains("<img") && !Contains("\x1b"));
    CHECK(look_at(study.served.url + page, {"--run", broken}).at("values")[0] == true);
  }
}

TEST_CASE("the page for queries answers like dtctl query, reads only, and a long query does not hold up other pages")
{
  const ServedStudy study;
  const auto& served = study.served;
  const auto ask = [&](const std::string& sql) { return served.get("query?sql=" + encoded(sql)); };
  CHECK_THAT(ask("select 6 * 7 as answer").body, Contains("answer") && Contains(">42<"));
  CHECK_THAT(served.get("compare").body, Contains("<datalist id=\"studies\"><option value=\"pictured\">")); // to choose from
  CHECK_THAT(ask("delete from runs").body, Contains("read"));
  CHECK_THAT(ask("--format csv").body, Contains("class=\"doubt\""));
  auto long_query = std::async(std::launch::async, [&] {
    return ask("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n").body;
  });
  const auto page = served.get(study.study()).status; // while the query runs
  CHECK(page == 200);
  CHECK(long_query.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  CHECK_THAT(long_query.get(), Contains("class=\"doubt\""));
}

TEST_CASE("the pages can be used by keyboard and by screen reader: names, headings, labels and the order of focus")
{
  const ServedStudy study;
  const std::string audit = R"js((() => {
    const wrong = [], all = (what) => Array.from(document.querySelectorAll(what));
    if (document.documentElement.lang !== 'en') wrong.push('lang');
    if (all('h1').length !== 1 || all('main').length === 0) wrong.push('h1 or main');
    for (const one of all('button, a')) if (one.textContent.trim() === '') wrong.push('no name: ' + one.outerHTML.slice(0, 80));
    for (const one of all('input, textarea, select')) if (one.labels.length === 0) wrong.push('no label: ' + one.name);
    for (const one of all('canvas')) if (one.getAttribute('role') !== 'img' || !one.getAttribute('aria-label')) wrong.push('canvas');
    for (const one of all('thead th')) if (one.scope !== 'col') wrong.push('th');
    for (const one of all('.scroll, pre')) if (one.tabIndex !== 0) wrong.push('cannot be scrolled by keyboard');
    let level = 1;
    for (const one of all('h1, h2, h3')) {
      if (Number(one.tagName[1]) > level + 1) wrong.push('heading ' + one.textContent);
      level = Number(one.tagName[1]);
    }
    const ids = all('[id]').map((one) => one.id);
    if (new Set(ids).size !== ids.length) wrong.push('ids');
    return wrong;
  })())js";
  for (const auto& page :
       {std::string(), study.study(), study.run(8), std::string("compare?a=last"), std::string("query?sql=select+1")}) {
    INFO(page);
    CHECK(look_at(study.served.url + page, {"--run", audit}).at("values")[0] == nlohmann::json::array());
  }
}

TEST_CASE("the server ends by itself on SIGTERM and SIGINT")
{
  for (const int signal : {SIGTERM, SIGINT}) {
    const PicturedHome home;
    Served served(home.dtctl, home.environment());
    REQUIRE(served.get().status == 200);
    const int status = served.end(signal);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("a port that is taken or cannot be is told")
{
  const ServedStudy study;
  const auto taken = study.home.run({"serve", "--port", std::to_string(study.served.port)});
  CHECK(taken.exit_code == static_cast<int>(ExitCode::environment));
  CHECK_THAT(taken.err, Contains("127.0.0.1:" + std::to_string(study.served.port)));
  CHECK(study.home.run({"serve", "--port", "65536"}).exit_code == 2);
  CHECK(study.home.run({"serve", "--json"}).exit_code == 2);
}
