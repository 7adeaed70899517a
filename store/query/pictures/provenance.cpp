#include "store/query/pictures/provenance.hpp"

#include "store/database/sqlite.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace dt::store {
namespace {

// Job ids and the like differ in each run.
constexpr std::string_view of_one_run[]{"slurm_job_id", "slurm_array_job_id", "slurm_array_task", "slurm_restart_count"};

// How many runs have each value of each fact, by name and value.
class Counts {
 public:
  void add(const std::string& name, std::string value)
  {
    if (value.empty() || std::find(std::begin(of_one_run), std::end(of_one_run), name) != std::end(of_one_run)) return;
    ++runs_[name][std::move(value)];
  }

  std::vector<Fact> facts() const
  {
    std::vector<Fact> facts;
    for (const auto& [name, values] : runs_) {
      const auto first = static_cast<std::ptrdiff_t>(facts.size());
      for (const auto& [value, runs] : values) facts.push_back({name, value, runs});
      std::sort(facts.begin() + first, facts.end(),
                [](const auto& a, const auto& b) { return std::tie(b.runs, a.value) < std::tie(a.runs, b.value); });
    }
    return facts;
  }

 private:
  std::map<std::string, std::unordered_map<std::string, std::int64_t>> runs_;
};

} // namespace

std::vector<Fact> provenance_of(Database& database, const std::string& study_id)
{
  auto& connection = database.impl().connection;
  Counts counts;
  auto runs =
      connection.statement("SELECT engine_build, data_id, attempts.scheduler, attempts.host FROM studies JOIN study_runs ON "
                           "study_runs.study_id = studies.id JOIN runs ON runs.id = study_runs.run_id LEFT JOIN attempts ON "
                           "attempts.run_id = runs.id AND attempts.attempt = runs.attempt "
                           "WHERE studies.key = ?");
  runs.bind(study_id);
  while (runs.next())
    for (int at = 0; const auto* name : {"engine_build", "data_id", "scheduler", "host of rank 0"})
      counts.add(name, runs.text(at++));
  auto facts = connection.statement(
      "SELECT environment.name, environment.value FROM studies JOIN study_runs ON study_runs.study_id = studies.id "
      "JOIN environment ON environment.run_id = study_runs.run_id WHERE studies.key = ?");
  facts.bind(study_id);
  while (facts.next()) counts.add(facts.text(0), facts.text(1));
  return counts.facts();
}

} // namespace dt::store
