#include "cli/follow/deferred_runs.hpp"

#include "core/counted.hpp"
#include "jobs/submit/deferred.hpp"

#include <algorithm>

namespace dt::cli {
namespace {

void count(DeferredSubmission& done, const jobs::SubmitReport& report)
{
  if (report.action == jobs::SubmitReport::Action::submitted) {
    ++done.submitted;
  } else if (report.action == jobs::SubmitReport::Action::refused) {
    if (std::find(done.refusals.begin(), done.refusals.end(), report.reason) == done.refusals.end())
      done.refusals.push_back(report.reason);
  } else {
    ++done.waiting;
    done.reason = report.reason;
  }
}

} // namespace

bool is_deferred(const RunView& run) { return run.row.state == RunState::planned && run.live && run.live->is_deferred; }

DeferredSubmission submit_deferred(const Home& home, const std::vector<RunView>& runs, std::vector<std::string>& troubles)
{
  std::vector<std::string> keys;
  for (const auto& run : runs)
    if (is_deferred(run)) keys.push_back(run.row.key);
  DeferredSubmission done;
  if (keys.empty()) return done;
  try {
    for (const auto& report : jobs::submit_deferred(home, keys)) count(done, report);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::scheduler) throw;
    troubles.emplace_back(error.what());
  }
  return done;
}

void tell(Context& context, const DeferredSubmission& done)
{
  for (const auto& refusal : done.refusals)
    context.messages.warn("a run that waited for room in the queue was refused: {}", refusal);
  if (done.submitted == 0) return;
  const auto more = counted(done.submitted, "more run was", "more runs were") + " submitted";
  if (done.waiting == 0)
    context.messages.info("{}", more);
  else
    context.messages.info("{}; {} on, {}", more, counted(done.waiting, "run waits", "runs wait"), done.reason);
}

} // namespace dt::cli
