// The course of a run's training: the steps and evaluations that led to its current state, from all of its attempts.
#pragma once

#include "core/record/event_record.hpp"
#include "store/database/database.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::store {

struct CourseStep {
  double unix_s = 0; // when the step ended: the begin of its attempt and the time since then, without evaluations and checkpoints
  StepEvent event;
};

struct CourseEval {
  double unix_s = 0;
  EvalEvent event;
};

// Both lists are sorted by step, and each step is in the list at most once.
struct Course {
  double begin_unix_s = 0;
  std::vector<CourseStep> steps;
  std::vector<CourseEval> evals;
};

// The steps of one attempt that are part of the course.
struct CoursePart {
  int attempt = 0;
  double begin_unix_s = 0;
  std::int64_t first_step = 0, last_step = 0; // inclusive
};

// `attempts`: those that did a step, with the steps that they did, sorted by number. An attempt that went on from a checkpoint
// begins after the checkpoint's step. The steps that the earlier attempt did after it are not part of the course. The course
// goes back through the newest earlier attempt that did the checkpoint's step. The result is in the order of the steps.
std::vector<CoursePart> parts_of_course(const std::vector<CoursePart>& attempts);

// The same of a stored run.
std::vector<CoursePart> parts_of_run(Database& database, const std::string& key);

// Empty if the database has no step of the run.
Course course_of_run(Database& database, const std::string& key);

} // namespace dt::store
