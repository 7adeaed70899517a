#include "jobs/slurm/batch.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

constexpr std::size_t batch_digits = 16;

std::optional<std::int64_t> number_of(std::string_view text)
{
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// The requirements of a request. Requests with equal shape can be tasks of one array.
auto shape_of(const JobRequest& request)
{
  const auto& r = request.resources;
  return std::tuple(r.nodes, r.ranks_per_node, request.cores_per_rank(), r.gpus_per_node, r.time_limit_s, r.oversubscribe,
                    r.partition, r.account, r.qos, r.constraint, r.scheduler_args, r.requeue, r.signal_ahead_s, request.after);
}

// The text with every character `c` twice.
std::string doubled(std::string_view text, char c)
{
  std::string twice;
  for (const char one : text) twice.append(one == c ? 2 : 1, one);
  return twice;
}

bool has_backslash(const std::filesystem::path& path) { return path.string().find('\\') != std::string::npos; }

std::string in_one_line(const std::string& path)
{
  auto line = doubled(path, '\\');
  for (auto feed = line.find('\n'); feed != std::string::npos; feed = line.find('\n', feed)) line.replace(feed, 1, "\\n");
  return line;
}

std::string from_one_line(std::string_view line)
{
  std::string path;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_escaped = line[i] == '\\' && i + 1 < line.size();
    if (is_escaped) ++i;
    path.push_back(is_escaped && line[i] == 'n' ? '\n' : line[i]);
  }
  return path;
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

std::string format_token(const BatchToken& token)
{
  return fmt::format("{}{}.{}", static_cast<char>(token.kind), token.batch, token.index);
}

std::optional<BatchToken> parse_token(std::string_view text)
{
  if (text.size() < batch_digits + 3 || text[batch_digits + 1] != '.') return std::nullopt;
  if (text[0] != 'j' && text[0] != 'a' && text[0] != 'l') return std::nullopt;
  const auto batch = text.substr(1, batch_digits);
  if (batch.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  const auto index = number_of(text.substr(batch_digits + 2));
  if (!index || *index > 0xffffffff) return std::nullopt;
  return BatchToken{static_cast<BatchKind>(text[0]), std::string(batch), static_cast<std::uint32_t>(*index)};
}

bool is_of_ladder(std::string_view token)
{
  const auto parsed = parse_token(token);
  return parsed && parsed->kind == BatchKind::ladder;
}

std::string comment_of(BatchKind kind, std::string_view batch)
{
  return fmt::format("dtctl:{}{}", static_cast<char>(kind), batch);
}

std::string job_name_of(BatchKind kind, std::string_view batch, std::string_view key)
{
  return kind == BatchKind::single ? std::string(key) : fmt::format("dtctl-{}", batch);
}

std::string format_job_id(BatchKind kind, std::uint32_t id, std::uint32_t index)
{
  return kind == BatchKind::array ? fmt::format("{}_{}", id, index) : std::to_string(id);
}

std::filesystem::path batch_folder(const Home& home, std::string_view batch)
{
  return std::filesystem::absolute(home.root()) / "slurm" / batch;
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
  for (auto& [key, batch] : found) batches.push_back(std::move(batch));
  sort_by_first_member(batches);
  return batches;
}

std::string format_tasks(std::span<const BatchTask> tasks)
{
  std::string text;
  for (const auto& task : tasks)
    text += fmt::format("{} {} {} {} {}\n", task.index, task.token, task.nodes, task.time_limit_s,
                        in_one_line(task.attempt.string()));
  return text;
}

std::vector<BatchTask> parse_tasks(std::string_view text)
{
  std::vector<BatchTask> tasks;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    auto rest = text.substr(begin, end - begin);
    std::vector<std::string_view> words;
    for (auto blank = rest.find(' '); words.size() < 4 && blank != std::string_view::npos; blank = rest.find(' ')) {
      words.push_back(rest.substr(0, blank));
      rest.remove_prefix(blank + 1);
    }
    if (words.size() < 4) continue;
    const auto index = number_of(words[0]), nodes = number_of(words[2]), limit = number_of(words[3]);
    if (index && nodes && limit && !rest.empty())
      tasks.push_back({static_cast<std::uint32_t>(*index), std::string(words[1]), *nodes, *limit, from_one_line(rest)});
  }
  return tasks;
}

std::string slurm_output(const std::filesystem::path& folder, BatchKind kind)
{
  if (has_backslash(folder)) return doubled((folder / "log").string(), '\\');
  return doubled((folder / "log").string(), '%') + (kind == BatchKind::array ? "-%a" : "");
}

std::string start_script(const StartInput& input)
{
  const auto own_log = has_backslash(input.batch_folder)
                           ? fmt::format("[[ -z $SLURM_ARRAY_TASK_ID ]] || exec >> {}-\"$SLURM_ARRAY_TASK_ID\" 2>&1\n",
                                         shell_quote((input.batch_folder / "log").string()))
                           : std::string();
  return fmt::format(
      "#!/bin/bash\n# Starts the run{} of a batch of dtctl.\n{}exec {} batch{} --requeue {} --signal-ahead {} {}\n",
      input.ladder ? "s" : "", own_log, shell_quote(input.agent), input.ladder ? " --ladder" : "", input.requeue,
      input.signal_ahead_s, shell_quote(input.batch_folder.string()));
}

} // namespace dt::jobs::slurm
