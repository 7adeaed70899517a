// Batches: which requests become one job of Slurm together, and how a job is known again.
//
// A token is "<kind><batch>.<index>": kind j (a job of its own), a (a task of an array) or l (a run of a ladder), batch 16
// hexadecimal digits, index the place in <home>/slurm/<batch>/tasks and, of an array, the task's index. The job's comment,
// "dtctl:<kind><batch>", and its name lead back to it; an id alone proves nothing, for ids are given out again.
#pragma once

#include "jobs/scheduler.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

enum class BatchKind : char { single = 'j', array = 'a', ladder = 'l' };

struct BatchToken {
  BatchKind kind = BatchKind::single;
  std::string batch;
  std::uint32_t index = 0;
};

std::string format_token(const BatchToken& token);
// Nothing when it is not one of this scheduler's.
std::optional<BatchToken> parse_token(std::string_view text);

std::string comment_of(BatchKind kind, std::string_view batch);
// The key of the run for a job of its own, "dtctl-<batch>" otherwise.
std::string job_name_of(BatchKind kind, std::string_view batch, std::string_view key);
// "123", or "123_4" for a task of an array.
std::string format_job_id(BatchKind kind, std::uint32_t id, std::uint32_t index);

// <home>/slurm/<batch>.
std::filesystem::path batch_folder(const Home& home, std::string_view batch);

// Requests that are one job of Slurm together.
struct Batch {
  BatchKind kind = BatchKind::single;
  std::string id;                     // 16 hexadecimal digits
  std::vector<std::size_t> members;   // places in the span of requests
  std::vector<std::uint32_t> indices; // of each member
};

// Groups requests that have no token yet: runs of one ladder; two or more of equal shape (what Slurm is asked for) as arrays of
// at most max_tasks, in the order of the requests; the rest as single jobs.
std::vector<Batch> plan_batches(std::span<const JobRequest> requests, std::int64_t max_tasks,
                                const std::function<std::string()>& new_id);

// The same groups found again from the tokens, in the order of their first members; requests of other tokens are left out.
std::vector<Batch> batches_of(std::span<const JobRequest> requests);

// A line of <batch>/tasks: "<index> <token> <nodes> <time_limit_s> <attempt folder>".
struct BatchTask {
  std::uint32_t index = 0;
  std::string token;
  std::int64_t nodes = 1;
  std::int64_t time_limit_s = 0;
  std::filesystem::path attempt;
};

std::string format_tasks(std::span<const BatchTask> tasks);
// Lines that are not whole are left out.
std::vector<BatchTask> parse_tasks(std::string_view text);

} // namespace dt::jobs::slurm
