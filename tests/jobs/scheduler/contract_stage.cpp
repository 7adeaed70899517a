#include "tests/jobs/scheduler/contract_stage.hpp"

#include "core/files/paths.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "tests/support/eventually.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

namespace dt::jobs::testing {

using dt::test::eventually;

JobRequest ContractStage::request(const std::string& key, int code) const
{
  const auto folder = attempt(key);
  make_folders(folder.path());
  const auto trace = shell_quote((home_.root() / "trace").string()), go = shell_quote((folder.path() / "go").string());
  write_file_atomic(folder.path() / "body.sh", "echo \"begin " + key + " $DTCTL_JOB_TOKEN $DTCTL_JOB_ID\" >> " + trace +
                                                   "\nuntil [[ -e " + go + " ]]; do sleep 0.05; done\necho 'end " + key +
                                                   "' >> " + trace + "\nexit " + std::to_string(code) + "\n");
  write_file_atomic(folder.script(), "exec " + shell_quote(agent_program().string()) + " launch bash \"$1/body.sh\"\n");
  return {key, {}, folder, {}};
}

std::vector<JobHandle> ContractStage::submit(std::vector<JobRequest> requests, const SubmitRules& rules) const
{
  scheduler_->assign_tokens(requests, rules);
  const auto intent_of = [&](const JobRequest& request, const std::string& id) {
    write_file_atomic(request.attempt.submission(), to_json(Submission{1, request.token, kind_.name(), "", now_unix_s(), id}));
  };
  for (const auto& request : requests) intent_of(request, {});
  const auto outcomes = scheduler_->submit(requests, rules);
  REQUIRE(outcomes.size() == requests.size());
  std::vector<JobHandle> handles;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    INFO(outcomes[i].error);
    REQUIRE_FALSE(outcomes[i].job_id.empty());
    intent_of(requests[i], outcomes[i].job_id);
    handles.push_back({outcomes[i].job_id, requests[i].name, requests[i].token, requests[i].attempt});
  }
  return handles;
}

void ContractStage::cancel(const std::vector<JobHandle>& jobs) const
{
  for (const auto& job : jobs) write_file_atomic(job.attempt.cancel(), to_line(Cancellation{now_unix_s(), "the test"}));
  scheduler_->cancel(jobs);
}

bool ContractStage::reaches(const JobHandle& job, JobStatus::State state) const
{
  return eventually([&] { return look(job).state == state; }, patience_s());
}

bool ContractStage::begins(const std::string& key) const
{
  return eventually(
      [&] {
        const auto all = trace();
        return std::ranges::count(all, "begin " + key) > 0;
      },
      patience_s());
}

std::vector<std::string> ContractStage::trace_lines() const
{
  auto lines = split(read_file_if_exists(home_.root() / "trace").value_or(""), '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<std::string> ContractStage::trace() const
{
  scheduler_->poll(std::vector<JobHandle>{{"", "nobody", "nobody", attempt("nobody"), true}});
  auto lines = trace_lines();
  for (auto& line : lines) {
    const auto words = split(line, ' ');
    line = words.at(0) + " " + words.at(1);
  }
  return lines;
}

std::vector<std::string> ContractStage::told(const std::string& key) const
{
  for (const auto& line : trace_lines())
    if (const auto words = split(line, ' '); words.size() == 4 && words[1] == key) return {words[2], words[3]};
  return {};
}

} // namespace dt::jobs::testing
