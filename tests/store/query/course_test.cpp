// Which steps of which attempts make up a run's course, and when they were done.
#include "store/query/course.hpp"
#include "tests/store/fixture.hpp"

#include <cmath>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

// "1: 1-5, 2: 6-9": attempts and their steps.
std::string shown(const std::vector<CoursePart>& parts)
{
  std::string text;
  for (const auto& part : parts)
    text += (text.empty() ? "" : ", ") + std::to_string(part.attempt) + ": " + std::to_string(part.first_step) + "-" +
            std::to_string(part.last_step);
  return text;
}

std::string course(const std::vector<CoursePart>& attempts) { return shown(parts_of_course(attempts)); }

} // namespace

TEST_CASE("a course is the steps of its attempts without those that a later one did again, from the first one that is left")
{
  CHECK(course({}).empty());
  CHECK(course({{1, 0, 1, 20}}) == "1: 1-20");
  CHECK(course({{1, 0, 1, 9}, {2, 0, 6, 20}}) == "1: 1-5, 2: 6-20");
  CHECK(course({{1, 0, 1, 9}, {2, 0, 6, 8}, {3, 0, 8, 20}}) == "1: 1-5, 2: 6-7, 3: 8-20");
  CHECK(course({{1, 0, 1, 9}, {2, 0, 6, 8}, {3, 0, 6, 20}}) == "1: 1-5, 3: 6-20");
  CHECK(course({{1, 0, 1, 20}, {2, 0, 1, 7}}) == "2: 1-7");
  CHECK(course({{1, 0, 1, 100}, {2, 0, 1, 50}, {3, 0, 81, 120}}) == "1: 1-80, 3: 81-120");
  CHECK(course({{1, 0, 1, 100}, {2, 0, 1, 90}, {3, 0, 81, 120}}) == "2: 1-80, 3: 81-120");
  CHECK(course({{1, 0, 1, 3}, {3, 0, 6, 20}}) == "3: 6-20");
}

TEST_CASE("a resumed run's course holds each step and evaluation once, with figures and times of its attempts")
{
  Site site;
  const auto planned = site.plan(sample_spec());
  site.fail(site.begin(planned, 1));
  put_file(AttemptFolder(site.home.run(planned.key), 1).events(), step_lines(1, 13));
  const auto second = site.begin(planned, 2);
  site.succeed(planned, second, 100);
  auto begin = read_begin(second).value();
  begin.unix_s = 1700001000;
  put_file(second.begin(), to_json(begin));
  put_file(second.events(), step_lines(11, 20));

  auto database = site.open();
  site.ingest(database, {planned});
  const auto found = course_of_run(database, planned.key);
  CHECK(found.begin_unix_s == 1700000001);
  REQUIRE(found.steps.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) CHECK(found.steps[i].event.step == static_cast<std::int64_t>(i) + 1);
  CHECK(found.steps[3].event.loss == 2.5 / 4);
  CHECK(found.steps[3].event.phase_s[2] == 0.003);
  CHECK(found.steps[9].unix_s == Approx(1700000001 + 0.10).epsilon(1e-12));
  CHECK(found.steps[10].unix_s == Approx(1700001000 + 0.01).epsilon(1e-12)); // elapsed_s counts over both attempts
  REQUIRE(found.evals.size() == 2);
  CHECK(found.evals[0].event.step == 10);
  CHECK(found.evals[1].event.accuracy == 1 - 1.0 / 20);
  CHECK(found.evals[1].unix_s == Approx(1700001000 + 0.10).epsilon(1e-12));
}

TEST_CASE("a run without a recorded step has an empty course, and a course knows a loss of NaN from one that was not reported")
{
  auto [site, database] = Opened{};
  const auto planned = site.plan(sample_spec());
  const auto attempt = site.begin(planned, 1);
  site.ingest(database, {planned});
  CHECK(course_of_run(database, planned.key).steps.empty());
  std::string lines;
  append_line(lines, StepEvent{.step = 1, .loss = std::nan(""), .learning_rate = {}});
  append_line(lines, StepEvent{.step = 2, .loss = {}, .learning_rate = std::nan("")});
  append_line(lines, StepEvent{.step = 3, .loss = HUGE_VAL, .learning_rate = {}});
  append_line(lines, EvalEvent{.step = 3, .loss = {}, .accuracy = std::nan("")});
  put_file(attempt.events(), lines);
  site.ingest(database, {planned});
  const auto found = course_of_run(database, planned.key);
  REQUIRE(found.steps.size() == 3);
  CHECK((found.steps[0].event.loss && std::isnan(*found.steps[0].event.loss)));
  CHECK_FALSE(found.steps[0].event.learning_rate);
  CHECK_FALSE(found.steps[1].event.loss);
  CHECK((found.steps[1].event.learning_rate && std::isnan(*found.steps[1].event.learning_rate)));
  CHECK(found.steps[2].event.loss == HUGE_VAL);
  REQUIRE(found.evals.size() == 1);
  CHECK_FALSE(found.evals[0].event.loss);
  CHECK((found.evals[0].event.accuracy && std::isnan(*found.evals[0].event.accuracy)));
}
