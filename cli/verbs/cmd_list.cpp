// dtctl list: lists the studies.
#include "cli/runs/results_store.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/study_table.hpp"
#include "cli/verbs/verbs.hpp"

#include <memory>

namespace dt::cli {
namespace {

// Updates only the listed studies, so that a long history costs nothing.
void refresh(ResultsStore& results, const std::vector<store::StudyRow>& studies)
{
  for (const auto& study : studies)
    if (study.succeeded + study.failed < study.runs)
      results.up_to_date([&] { return store::runs_of_study(results.database(), study.id); });
}

ExitCode list(Context& context, std::int64_t limit)
{
  ResultsStore results(context);
  refresh(results, store::list_studies(results.database(), limit));
  context.out.table(study_table(store::list_studies(results.database(), limit)));
  return ExitCode::ok;
}

} // namespace

void add_list(Commands& commands)
{
  auto limit = std::make_shared<std::int64_t>(50);
  auto& verb = commands.add({"list", result_verbs, "List studies, newest first.", ""},
                            [limit](Context& context) { return list(context, *limit); });
  verb.add_option("-n,--limit", *limit, "print at most N studies (50)")->type_name("N")->check(positive_number());
}

} // namespace dt::cli
