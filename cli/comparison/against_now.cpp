#include "cli/comparison/against_now.hpp"

#include "cli/planning/planned_again.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/submission/submission.hpp"
#include "core/files/file.hpp"
#include "core/maths/random.hpp"
#include "recipes/expansion/expand.hpp"
#include "recipes/recipe.hpp"
#include "store/query/separation_query.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::size_t least_rounds = 3; // fewer have no interval

bool has_one_seed(const PlannedPoint& point)
{
  return std::all_of(point.begin(), point.end(),
                     [&](const PlannedRun& run) { return run.spec.train.seed == point.front().spec.train.seed; });
}

PlannedRun run_of_round(const PlannedPoint& point, std::size_t round, const char* side)
{
  const auto place = round % point.size();
  auto run = point[place];
  auto& spec = run.spec;
  if (round >= point.size() && !has_one_seed(point))
    spec.train.seed = point.front().spec.train.seed + static_cast<std::int64_t>(round);
  spec.label += (spec.label.empty() ? "side=" : " side=") + std::string(side);
  spec.control = false;
  spec.study.layout = StudyLayout::separate;
  return run;
}

std::size_t rounds_of(std::span<const PlannedPair> pairs)
{
  auto rounds = least_rounds;
  for (const auto& pair : pairs) rounds = std::max({rounds, pair.a.size(), pair.b.size()});
  return rounds;
}

// The succeeded runs of a point, by repeat.
PlannedPoint planned_point(const store::ComparedPoint& point, Identities& identities)
{
  std::vector<std::string> keys;
  for (const auto& run : point.runs)
    if (run.succeeded) keys.push_back(run.key);
  auto planned = planned_again(keys, identities);
  std::sort(planned.begin(), planned.end(), [](const auto& a, const auto& b) { return a.spec.repeat < b.spec.repeat; });
  return planned;
}

std::vector<PlannedPair> planned_pairs(const store::Matching& matching, Identities& identities)
{
  std::vector<PlannedPair> pairs;
  for (const auto& pair : matching.pairs) {
    pairs.push_back({planned_point(pair.a, identities), planned_point(pair.b, identities)});
    if (pairs.back().a.empty() || pairs.back().b.empty()) pairs.pop_back();
  }
  if (pairs.empty())
    throw Error(ErrorKind::usage, "no point has a succeeded run of A and of B, so there is nothing to run again");
  return pairs;
}

StudyRecord study_of(const std::vector<PlannedRun>& runs, const std::string& recipe_path)
{
  StudyRecord study;
  study.name = runs.front().spec.name;
  study.description = "runs of two studies again, interleaved (dtctl compare --against-now)";
  study.kind = name_of(recipes::PlanKind::sweep);
  study.recipe_path = recipe_path;
  for (const auto& run : runs) {
    study.run_keys.push_back(run.key);
    study.run_names.push_back(recipes::run_name(run.spec));
  }
  study.id = study_id(study.name, study.run_keys);
  return study;
}

void refuse_same_work(const std::vector<PlannedRun>& runs)
{
  std::set<std::string> keys;
  for (const auto& run : runs)
    if (!keys.insert(run.key).second)
      throw Error(ErrorKind::usage, "A and B ask for the same work, so that their runs now would be the same runs");
}

// Whether all runs of the study have ended.
bool has_ended(ResultsStore& results, const std::string& study)
{
  const auto views = results.up_to_date([&] { return store::runs_of_study(results.database(), study); });
  return std::all_of(views.begin(), views.end(), [](const RunView& view) { return is_final(view.row.state); });
}

std::int64_t repeat_after(std::span<const PlannedPair> pairs)
{
  std::int64_t repeat = 0;
  for (const auto& pair : pairs)
    for (const auto* point : {&pair.a, &pair.b})
      for (const auto& run : *point) repeat = std::max(repeat, run.spec.repeat + 1);
  return repeat;
}

// The runs of the next study: those of an unfinished one, or under the first repeat numbers that no run has yet.
std::vector<PlannedRun> next_runs(ResultsStore& results, std::span<const PlannedPair> pairs, const std::string& name)
{
  const auto rounds = static_cast<std::int64_t>(rounds_of(pairs));
  for (auto repeat = repeat_after(pairs);; repeat += rounds) {
    auto runs = in_rounds(pairs, repeat, name);
    refuse_same_work(runs);
    const auto study = study_of(runs, "").id;
    if (is_there(results.home().study(study)) && !has_ended(results, study)) return runs;
    const auto is_taken = [&](const PlannedRun& run) { return is_there(results.home().run(run.key)); };
    if (std::none_of(runs.begin(), runs.end(), is_taken)) return runs;
  }
}

// The side's runs in the study, with the labels and values of the runs that they repeat.
ComparedSide side_now(ResultsStore& results, const std::string& study, const std::string& by, const char* side,
                      const ComparedSide& before)
{
  auto now = side_of(results, {.what = study, .failed = false, .where = {}}, by);
  const auto mark = "side=" + std::string(side);
  std::erase_if(now.runs, [&](const store::Run& run) { return !run.series.ends_with(mark); });
  for (auto& run : now.runs) {
    run.series.resize(run.series.size() - mark.size());
    if (run.series.ends_with(' ')) run.series.pop_back();
  }
  read_surroundings(results.database(), now);
  now.title = before.title + ", run again";
  now.labels = before.labels;
  return now;
}

// The recipe of the study that asked for the side's runs; empty if it is not known.
std::string recipe_path_of(const Home& home, const ComparedSide& side)
{
  const auto record = side.measured.empty() ? std::nullopt : read_study(home.study(side.measured.front().study));
  return record ? record->recipe_path : "";
}

std::string name_of_study(const ComparedSide& a, const ComparedSide& b)
{
  const auto name = [](const ComparedSide& side) { return side.study.empty() ? std::string("runs") : side.study; };
  return name(a) + "-against-" + name(b);
}

} // namespace

std::vector<PlannedRun> in_rounds(std::span<const PlannedPair> pairs, std::int64_t first_repeat, const std::string& name)
{
  const auto rounds = rounds_of(pairs);
  Random random(1 + static_cast<std::uint64_t>(first_repeat));
  std::vector<PlannedRun> runs;
  for (std::size_t round = 0; round < rounds; ++round)
    for (const auto place : recipes::shuffled(2 * pairs.size(), random)) {
      const auto& pair = pairs[place / 2];
      const bool is_a = place % 2 == 0;
      auto run = run_of_round(is_a ? pair.a : pair.b, round, is_a ? "A" : "B");
      run.spec.name = name;
      run.spec.repeat = first_repeat + static_cast<std::int64_t>(round);
      run.spec.study.repeats = std::max<std::int64_t>(2, static_cast<std::int64_t>(rounds)); // so that names have their repeat
      runs.push_back(plan_run(run.spec, run.engine_build, run.data_id, run.start_id, run.environment_id));
    }
  return runs;
}

AgainstNow run_against_now(Context& context, ResultsStore& results, const ComparedSide& a, const ComparedSide& b,
                           const store::Matching& matching, const std::string& by)
{
  Identities identities(results.home());
  const auto pairs = planned_pairs(matching, identities);
  Resolved resolved{.kind = recipes::PlanKind::sweep,
                    .engine = identities.engine(),
                    .simulator = identities.simulator(),
                    .runs = next_runs(results, pairs, name_of_study(a, b)),
                    .study = {}};
  resolved.study = study_of(resolved.runs, recipe_path_of(results.home(), a));
  context.messages.info("{} runs of A and B again, interleaved: {} ({})", resolved.runs.size(), resolved.study.name,
                        short_key(resolved.study.id));
  SubmissionOptions options;
  options.wait = true;
  AgainstNow now;
  now.study = resolved.study.id;
  now.code = submit_and_wait(context, results, resolved, options);
  if (now.code != ExitCode::ok && now.code != ExitCode::runs_failed) return now;
  now.a = side_now(results, now.study, by, "A", a);
  now.b = side_now(results, now.study, by, "B", b);
  return now;
}

} // namespace dt::cli
