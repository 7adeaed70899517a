#include "jobs/slurm/batch.hpp"

#include "core/file.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

constexpr std::size_t batch_digits = 16;
constexpr std::string_view comment_prefix = "dtctl:";
constexpr std::size_t longest_comment = 1024; // of Slurm 22.05
constexpr std::size_t longest_name = 255;     // column job_name of slurmdbd's tables

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
  if (!comment.starts_with(comment_prefix)) return {};
  comment.remove_prefix(comment_prefix.size());
  return comment.substr(0, comment.find(' '));
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
  for (auto& [key, batch] : found) {
    std::vector<std::string> titles;
    for (const auto member : batch.members) titles.push_back(requests[member].title);
    batch.name = job_name_of(titles, requests[batch.members.front()].name);
    batches.push_back(std::move(batch));
  }
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

std::filesystem::path log_of(const Home& home, const BatchToken& token)
{
  const auto folder = batch_folder(home, token.batch);
  return token.kind == BatchKind::array ? folder / fmt::format("log-{}", token.index) : folder / "log";
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
