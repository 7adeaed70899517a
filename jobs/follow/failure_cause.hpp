// Why an attempt failed, from what its ranks, their launcher and dtjob have left in its folder.
#pragma once

#include "jobs/follow/reconcile.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace dt::jobs {

// A row of the table by which cause_of_failure() goes: a kind of evidence, the most telling first.
struct CauseRule {
  std::string_view evidence;
  // Nothing if there is no such evidence. `code` is that of the job, as shells make it.
  std::optional<FailureCause> (*cause)(const Evidence& e, std::optional<int> code);
};
std::span<const CauseRule> cause_rules();

// Why an attempt without a result failed: what the first row says that says anything. Without `code` no end is known.
FailureCause cause_of_failure(const Evidence& e, std::optional<int> code);

// The last line that tells of a full disk or a quota, with the sentence for it. Nothing if no line does.
std::optional<FailureCause> full_disk(const Evidence& e);

} // namespace dt::jobs
