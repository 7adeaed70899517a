#include "jobs/slurm/batch.hpp"

#include "core/files/file.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

constexpr std::string_view comment_prefix = "dtctl:";
constexpr std::size_t longest_comment = 1024; // of Slurm 22.05
constexpr std::size_t longest_name = 255;     // column job_name of slurmdbd's tables

// The requirements of a request. Requests with equal shape can be tasks of one array.
auto shape_of(const JobRequest& request)
{
  const auto& r = request.resources;
  return std::tuple(r.nodes, r.ranks_per_node, request.cores_per_rank(), r.gpus_per_node, r.time_limit_s, r.oversubscribe,
                    r.partition, r.nodelist, r.exclude, r.account, r.qos, r.constraint, r.scheduler_args, r.requeue,
                    r.signal_ahead_s, request.after);
}

// The text with every character `c` twice.
std::string doubled(std::string_view text, char c)
{
  std::string twice;
  for (const char one : text) twice.append(one == c ? 2 : 1, one);
  return twice;
}

bool has_backslash(const std::filesystem::path& path) { return path.string().find('\\') != std::string::npos; }

// The beginning that the titles have in common, up to a slash.
std::string common_title(std::span<const std::string> titles)
{
  if (titles.empty()) return {};
  std::string common = titles.front();
  for (const auto& title : titles.subspan(1)) {
    const auto [end, other] = std::mismatch(common.begin(), common.end(), title.begin(), title.end());
    if (end == common.end() && (other == title.end() || *other == '/')) continue;
    common.erase(end, common.end());
    const auto slash = common.rfind('/');
    common.erase(slash == std::string::npos ? 0 : slash);
  }
  return common;
}

std::string plain_name(const std::string& name)
{
  auto plain = printable(name);
  for (auto& c : plain)
    if (static_cast<unsigned char>(c) <= ' ' || std::string_view("'\"\\`$;&|<>()%").find(c) != std::string_view::npos) c = '_';
  return plain;
}

// Leaves out the middle. Cuts no character of several bytes.
std::string cut_name(const std::string& name)
{
  if (name.size() <= longest_name) return name;
  const auto mark = name.rfind('#');
  const auto end = mark == std::string::npos || name.size() - mark > 20 ? std::string() : name.substr(mark);
  auto begin = name.substr(0, longest_name - 2 - end.size());
  while (!begin.empty() && !is_valid_utf8(begin)) begin.pop_back();
  return begin + ".." + end;
}

Batch batch_with(BatchKind kind, std::string id, std::span<const std::size_t> members)
{
  Batch batch{kind, std::move(id), {members.begin(), members.end()}, {}};
  for (std::uint32_t i = 0; i < members.size(); ++i) batch.indices.push_back(i);
  return batch;
}

void sort_by_first_member(std::vector<Batch>& batches)
{
  std::sort(batches.begin(), batches.end(), [](const Batch& a, const Batch& b) { return a.members.front() < b.members.front(); });
}

} // namespace

std::string comment_of(BatchKind kind, std::string_view batch, std::span<const std::string> keys)
{
  auto comment = fmt::format("{}{}{}", comment_prefix, static_cast<char>(kind), batch);
  if (keys.size() == 1) return comment + " " + keys.front();
  for (const auto& key : keys) {
    const auto more = " " + short_key(key);
    if (comment.size() + more.size() > longest_comment - 4) return comment + " ...";
    comment += more;
  }
  return comment;
}

std::string_view batch_of_comment(std::string_view comment)
{
  constexpr std::string_view option = "--comment=";
  if (const auto place = comment.find(option); comment.starts_with("sbatch ") && place != comment.npos) {
    comment.remove_prefix(place + option.size());
    if (comment.starts_with('"') || comment.starts_with('\'')) comment.remove_prefix(1);
  }
  if (!comment.starts_with(comment_prefix)) return {};
  comment.remove_prefix(comment_prefix.size());
  return comment.substr(0, comment.find_first_of(" \"'"));
}

std::string job_name_of(std::span<const std::string> titles, std::string_view key)
{
  auto title = common_title(titles);
  if (title.empty()) return plain_name(fmt::format("{}{}", comment_prefix, short_key(key)));
  if (const auto repeat = title.rfind("/#"); repeat != std::string::npos) title.erase(repeat, 1);
  return cut_name(plain_name(std::string(comment_prefix) + title));
}

std::string recorded_job_name(const std::filesystem::path& batch_folder, const BatchToken& token, std::string_view key)
{
  if (const auto name = read_file_if_exists(batch_folder / "name")) return std::string(trim(*name));
  return token.kind == BatchKind::single ? std::string(key) : "dtctl-" + token.batch;
}

std::string format_job_id(BatchKind kind, std::uint32_t id, std::uint32_t index)
{
  return kind == BatchKind::array ? fmt::format("{}_{}", id, index) : std::to_string(id);
}

std::vector<Batch> plan_batches(std::span<const JobRequest> requests, std::int64_t max_tasks,
                                const std::function<std::string()>& new_id)
{
  std::map<std::string, std::vector<std::size_t>> ladders;
  std::map<decltype(shape_of(requests.front())), std::vector<std::size_t>> shapes;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].token.empty()) continue;
    (requests[i].ladder.empty() ? shapes[shape_of(requests[i])] : ladders[requests[i].ladder]).push_back(i);
  }
  std::vector<Batch> batches;
  for (const auto& [name, members] : ladders) batches.push_back(batch_with(BatchKind::ladder, new_id(), members));
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(max_tasks, 1));
  for (const auto& [shape, members] : shapes)
    for (std::size_t begin = 0; begin < members.size(); begin += most) {
      const auto part = std::span(members).subspan(begin, std::min(most, members.size() - begin));
      batches.push_back(batch_with(part.size() > 1 ? BatchKind::array : BatchKind::single, new_id(), part));
    }
  sort_by_first_member(batches);
  return batches;
}

std::vector<Batch> batches_of(std::span<const JobRequest> requests)
{
  std::map<std::pair<BatchKind, std::string>, Batch> found;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto token = parse_token(requests[i].token);
    if (!token) continue;
    auto& batch = found[{token->kind, token->batch}];
    batch.kind = token->kind;
    batch.id = token->batch;
    batch.members.push_back(i);
    batch.indices.push_back(token->index);
  }
  std::vector<Batch> batches;
  for (auto& [key, batch] : found) {
    std::vector<std::string> titles;
    for (const auto member : batch.members) titles.push_back(requests[member].title);
    batch.name = job_name_of(titles, requests[batch.members.front()].name);
    batches.push_back(std::move(batch));
  }
  sort_by_first_member(batches);
  return batches;
}

std::string slurm_output(const std::filesystem::path& folder, BatchKind kind)
{
  if (has_backslash(folder)) return doubled((folder / "log").string(), '\\');
  return doubled((folder / "log").string(), '%') + (kind == BatchKind::array ? "-%a" : "");
}

std::string start_script(const BatchStart& start)
{
  const auto own_log = has_backslash(start.batch_folder)
                           ? fmt::format("[[ -z $SLURM_ARRAY_TASK_ID ]] || exec >> {}-\"$SLURM_ARRAY_TASK_ID\" 2>&1\n",
                                         shell_quote((start.batch_folder / "log").string()))
                           : std::string();
  return fmt::format("#!/bin/bash\n# Starts the run{} of a batch of dtctl.\n{}exec {}\n", start.ladder ? "s" : "", own_log,
                     batch_command(start));
}

} // namespace dt::jobs::slurm
