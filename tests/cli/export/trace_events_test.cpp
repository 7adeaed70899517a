// Timelines as trace events: made up here, and of a real run.
#include "cli/export/trace_events.hpp"
#include "core/files/file.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace dt;
using dt::test::Dtctl;
using dt::test::Json;
using dt::test::tiny_recipe;

namespace {

constexpr std::int64_t us = 1000; // in nanoseconds

// Names: 0 training, 1 messages, 2 step, 3 forward, 4 send, 5 receive.
TraceRecord record_of(int rank, double ahead_s, std::vector<TraceSpan> spans)
{
  return {.rank = rank,
          .role = "worker",
          .host = "node" + std::to_string(rank),
          .begin = {1000 + ahead_s, ahead_s, 1e-6},
          .end = {1010 + ahead_s, ahead_s, 1e-6},
          .forgotten = 0,
          .names = {"training", "messages", "step", "forward", "send", "receive"},
          .spans = std::move(spans)};
}

Json events_of(const std::vector<TraceRecord>& ranks, const cli::StepRange& steps = {})
{
  std::string text;
  cli::write_trace_events(ranks, steps, [&](std::string_view piece) { text += piece; });
  return Json::parse(text).at("traceEvents");
}

std::vector<Json> of_kind(const Json& events, const std::string& kind)
{
  std::vector<Json> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [&](const Json& event) { return event.at("ph") == kind; });
  return found;
}

double begin_of(const Json& slice) { return slice.at("ts").get<double>(); }
double end_of(const Json& slice) { return begin_of(slice) + slice.at("dur").get<double>(); }

// In every row slices begin in order, and each lies within or behind the one before.
void check_rows(const Json& events)
{
  constexpr double rounding_us = 0.0015;
  std::map<std::pair<int, int>, std::vector<Json>> rows;
  for (const auto& slice : of_kind(events, "X")) rows[{slice.at("pid"), slice.at("tid")}].push_back(slice);
  for (const auto& [row, slices] : rows) {
    std::vector<double> open;
    double last = 0;
    for (const auto& slice : slices) {
      REQUIRE(begin_of(slice) >= last);
      last = begin_of(slice);
      while (!open.empty() && open.back() <= begin_of(slice) + rounding_us) open.pop_back();
      REQUIRE((open.empty() || end_of(slice) <= open.back() + rounding_us));
      open.push_back(end_of(slice));
    }
  }
}

} // namespace

TEST_CASE("a rank is a process under its host's name, a track a thread, a span a slice with its step")
{
  const auto events = events_of({record_of(1, 0,
                                           {{.name = 2, .track = 0, .begin_ns = 5 * us, .length_ns = 20 * us, .step = 9},
                                            {.name = 3, .track = 0, .begin_ns = 6 * us, .length_ns = 4 * us, .step = 9}})});
  const auto names = of_kind(events, "M");
  CHECK(names.at(0).at("args").at("name") == "rank 1 on node1");
  CHECK(std::any_of(names.begin(), names.end(), [](const Json& name) {
    return name.at("name") == "thread_name" && name.at("args").at("name") == "training";
  }));
  const auto slices = of_kind(events, "X");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0].at("name") == "step");
  CHECK(slices[0].at("pid") == 1);
  CHECK(slices[0].at("ts") == 0);
  CHECK(slices[0].at("dur") == 20);
  CHECK(slices[0].at("args").at("step") == 9);
  CHECK(slices[1].at("ts") == 1);
  CHECK(slices[1].at("tid") == slices[0].at("tid"));
  check_rows(events);
}

TEST_CASE("ranks whose clocks are hours apart are drawn on one axis")
{
  const std::vector<TraceSpan> spans{{.name = 2, .track = 0, .begin_ns = 5 * us, .length_ns = 20 * us, .step = 1}};
  const auto slices = of_kind(events_of({record_of(0, 0, spans), record_of(1, 7200, spans)}), "X");
  REQUIRE(slices.size() == 2);
  CHECK(begin_of(slices[1]) == Approx(begin_of(slices[0])).margin(0.01));
}

TEST_CASE("spans of one track that overlap are drawn in rows of their own")
{
  const auto events = events_of({record_of(0, 0,
                                           {{.name = 4, .track = 1, .begin_ns = 0, .length_ns = 10 * us},
                                            {.name = 5, .track = 1, .begin_ns = 5 * us, .length_ns = 10 * us},
                                            {.name = 4, .track = 1, .begin_ns = 12 * us, .length_ns = us}})});
  const auto slices = of_kind(events, "X");
  REQUIRE(slices.size() == 3);
  CHECK(slices[0].at("tid") != slices[1].at("tid"));
  CHECK(slices[2].at("tid") == slices[0].at("tid"));
  check_rows(events);
}

TEST_CASE("an arrow goes from each sending to its arrival, and none where some were not kept")
{
  const auto sends =
      record_of(0, 0,
                {{.name = 4, .track = 1, .begin_ns = 0, .length_ns = us, .step = 1, .bytes = 8, .peer = 1, .tag = 7},
                 {.name = 4, .track = 1, .begin_ns = 3 * us, .length_ns = us, .step = 1, .bytes = 8, .peer = 1, .tag = 7}});
  auto receives =
      record_of(1, 0,
                {{.name = 5, .track = 1, .begin_ns = us, .length_ns = us, .step = 1, .bytes = 8, .peer = 0, .tag = 7},
                 {.name = 5, .track = 1, .begin_ns = 4 * us, .length_ns = us, .step = 1, .bytes = 8, .peer = 0, .tag = 7}});
  const auto events = events_of({sends, receives});
  const auto begins = of_kind(events, "s"), ends = of_kind(events, "f");
  REQUIRE(begins.size() == 2);
  REQUIRE(ends.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(begins[i].at("id") == ends[i].at("id"));
    CHECK(begins[i].at("pid") == 0);
    CHECK(ends[i].at("pid") == 1);
  }
  CHECK(begins[1].at("ts") == 3);
  CHECK(ends[1].at("ts") == 5);
  CHECK(of_kind(events, "X").at(0).at("args").at("bytes") == 8);
  receives.spans.pop_back();
  CHECK(of_kind(events_of({sends, receives}), "s").empty());
}

TEST_CASE("only the steps asked for are drawn")
{
  std::vector<TraceSpan> spans;
  for (int step = 1; step <= 5; ++step)
    spans.push_back({.name = 2, .track = 0, .begin_ns = step * us, .length_ns = us, .step = step});
  const auto slices = of_kind(events_of({record_of(0, 0, spans)}, {2, 3}), "X");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0].at("args").at("step") == 2);
  CHECK(slices[1].at("args").at("step") == 3);
}

TEST_CASE("a traced run is drawn: spans nest, times go on, and two ranks are in one exchange at the same time")
{
  const Dtctl dtctl;
  dtctl.write("traced.yaml", tiny_recipe("resources: {ranks_per_node: 2, oversubscribe: true}\n"));
  REQUIRE(dtctl.run({"submit", "traced.yaml", "--wait"}).ok());
  const auto refused = dtctl.run({"export", "--format", "trace"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, Catch::Contains("was not traced"));

  REQUIRE(dtctl.run({"submit", "traced.yaml", "--set", "train.trace=true", "--force", "--wait"}).ok());
  const auto drawn = dtctl.run({"export", "--format", "trace"});
  REQUIRE(drawn.ok());
  const auto events = Json::parse(drawn.out).at("traceEvents");
  check_rows(events);
  std::map<std::int64_t, std::map<int, Json>> exchanges;
  std::map<std::string, int> names;
  for (const auto& slice : of_kind(events, "X")) {
    ++names[slice.at("name")];
    if (slice.at("name") == "communication") exchanges[slice.at("args").at("step")][slice.at("pid")] = slice;
  }
  for (const auto* name : {"step", "input", "forward", "backward", "optimizer"}) CHECK(names[name] == 2 * 16);
  CHECK(names["evaluation"] == 2 * 2);
  double error_us = 0;
  const auto key = dtctl.json({"export", "--format", "trace", "-o", "trace.json"}).at("key").get<std::string>();
  for (const int rank : {0, 1}) {
    const auto record = parse_trace(read_file(trace_path({dtctl.home() / "runs" / key, 2}, rank)));
    REQUIRE(record);
    CHECK(record->forgotten == 0);
    error_us += 1e6 * (record->begin.error_s + record->end.error_s);
  }
  REQUIRE(exchanges.size() == 16);
  for (const auto& [step, ranks] : exchanges) {
    REQUIRE(ranks.size() == 2);
    CHECK(begin_of(ranks.at(0)) <= end_of(ranks.at(1)) + error_us);
    CHECK(begin_of(ranks.at(1)) <= end_of(ranks.at(0)) + error_us);
  }
  CHECK(Json::parse(read_file(dtctl.folder() / "trace.json")).at("traceEvents") == events);
  CHECK(dtctl.run({"export", "--format", "trace", "--steps", "9-7"}).exit_code == 2);
  CHECK(dtctl.run({"export", "--format", "trace", "--steps", "90000-90001", "-o", "beyond.json"}).exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(dtctl.folder() / "beyond.json"));
  CHECK(dtctl.run({"export", "--format", "trace", "--attempt", "1"}).exit_code == 2);
}
