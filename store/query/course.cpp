#include "store/query/course.hpp"

#include "store/database/sqlite.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace dt::store {
namespace {

// The first and the last step of an attempt are found in the primary key, without reading the steps between them.
std::vector<CoursePart> attempts_of(Connection& connection, const std::string& key)
{
  auto s = connection.statement(
      "SELECT attempt, coalesce(begin_unix_s, submitted_unix_s, 0) AS begin_unix_s, "
      "(SELECT min(step) FROM steps WHERE steps.run_id = tries.run_id AND steps.attempt = tries.attempt) AS first_step, "
      "(SELECT max(step) FROM steps WHERE steps.run_id = tries.run_id AND steps.attempt = tries.attempt) AS last_step "
      "FROM attempts AS tries WHERE run_id = (SELECT id FROM runs WHERE key = ?) ORDER BY attempt");
  s.bind(key);
  std::vector<CoursePart> attempts;
  while (s.next())
    if (!s.is_null("first_step"))
      attempts.push_back(
          {static_cast<int>(s.integer("attempt")), s.real("begin_unix_s"), s.integer("first_step"), s.integer("last_step")});
  return attempts;
}

// A figure of a row that has the column `not_finite`, too.
Reported reported(const Statement& s, const std::string& column)
{
  if (!s.is_null(column)) return s.real(column);
  const auto words = s.text("not_finite");
  return words.find('"' + column + "\":\"NaN\"") == std::string::npos ? Reported() : not_measured;
}

StepEvent step_of(const Statement& s)
{
  return {.step = s.integer("step"),
          .epoch = s.real("epoch"),
          .elapsed_s = s.real("elapsed_s"),
          .loss = reported(s, "loss"),
          .learning_rate = reported(s, "learning_rate"),
          .step_s = s.real("step_s"),
          .phase_s = {s.real("input_s"), s.real("forward_s"), s.real("backward_s"), s.real("communication_s"),
                      s.real("optimizer_s"), 0}};
}

EvalEvent eval_of(const Statement& s)
{
  return {s.integer("step"),       s.real("epoch"),      s.real("elapsed_s"), reported(s, "loss"),
          reported(s, "accuracy"), s.integer("samples"), s.real("eval_s"),    s.real("noise_scale")};
}

constexpr const char* of_part =
    " JOIN runs ON runs.id = run_id WHERE runs.key = ? AND events.attempt = ? AND step BETWEEN ? AND ? ORDER BY step";

// elapsed_s counts over all attempts. Its value when this attempt began is that of its first step less the step's time.
double elapsed_at_begin(const StepEvent& first) { return first.step > 1 ? first.elapsed_s - first.step_s : 0; }

void add_steps(Connection& connection, const std::string& key, const CoursePart& part, Course& course)
{
  auto s = connection.statement("SELECT step, epoch, elapsed_s, loss, learning_rate, step_s, input_s, forward_s, backward_s, "
                                "communication_s, optimizer_s, not_finite FROM steps AS events" +
                                std::string(of_part));
  s.bind(key, part.attempt, part.first_step, part.last_step);
  while (s.next()) course.steps.push_back({part.begin_unix_s, step_of(s)});
}

void add_evals(Connection& connection, const std::string& key, const CoursePart& part, Course& course)
{
  auto s = connection.statement(
      "SELECT step, epoch, elapsed_s, loss, accuracy, samples, eval_s, noise_scale, not_finite FROM evals AS events" +
      std::string(of_part));
  s.bind(key, part.attempt, part.first_step, part.last_step);
  while (s.next()) course.evals.push_back({part.begin_unix_s, eval_of(s)});
}

void add_part(Connection& connection, const std::string& key, const CoursePart& part, Course& course)
{
  const auto steps = course.steps.size(), evals = course.evals.size();
  add_steps(connection, key, part, course);
  if (course.steps.size() == steps) return;
  add_evals(connection, key, part, course);
  const double before_s = elapsed_at_begin(course.steps[steps].event);
  for (auto i = steps; i < course.steps.size(); ++i) course.steps[i].unix_s += course.steps[i].event.elapsed_s - before_s;
  for (auto i = evals; i < course.evals.size(); ++i) course.evals[i].unix_s += course.evals[i].event.elapsed_s - before_s;
}

} // namespace

std::vector<CoursePart> parts_of_course(const std::vector<CoursePart>& attempts)
{
  std::vector<CoursePart> parts;
  auto until = std::numeric_limits<std::int64_t>::max(); // the last step that is still missing
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
    const bool did_it = attempt->first_step <= until && until <= attempt->last_step;
    if (!parts.empty() && !did_it) continue;
    parts.push_back(*attempt);
    parts.back().last_step = std::min(until, attempt->last_step);
    until = attempt->first_step - 1;
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<CoursePart> parts_of_run(Database& database, const std::string& key)
{
  return parts_of_course(attempts_of(database.impl().connection, key));
}

Course course_of_run(Database& database, const std::string& key)
{
  auto& connection = database.impl().connection;
  Course course;
  const auto parts = parts_of_run(database, key);
  if (parts.empty()) return course;
  course.begin_unix_s = parts.front().begin_unix_s;
  for (const auto& part : parts) add_part(connection, key, part, course);
  return course;
}

} // namespace dt::store
