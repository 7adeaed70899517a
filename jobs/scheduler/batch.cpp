#include "jobs/scheduler/batch.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

#include <optional>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr std::int64_t ladder_margin_a_run_s = 60;

std::optional<std::int64_t> count_in(std::string_view text)
{
  const auto value = number_of<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::string in_one_line(const std::string& path)
{
  std::string line;
  for (const char c : path) {
    if (c == '\n')
      line += "\\n";
    else
      line.append(c == '\\' ? 2 : 1, c);
  }
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

} // namespace

std::filesystem::path batch_folder(const Home& home, std::string_view scheduler, std::string_view batch)
{
  return std::filesystem::absolute(home.root()) / scheduler / batch;
}

std::string scheduler_of_batch(const std::filesystem::path& batch_folder) { return batch_folder.parent_path().filename(); }

std::filesystem::path log_of(const std::filesystem::path& batch_folder, const BatchToken& token)
{
  return batch_folder / (token.kind == BatchKind::array ? fmt::format("log-{}", token.index) : "log");
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
    const auto index = count_in(words[0]), nodes = count_in(words[2]), limit = count_in(words[3]);
    if (index && nodes && limit && !rest.empty())
      tasks.push_back({static_cast<std::uint32_t>(*index), std::string(words[1]), *nodes, *limit, from_one_line(rest)});
  }
  return tasks;
}

std::string batch_command(const BatchStart& start)
{
  return fmt::format("{} batch{} --requeue {} --signal-ahead {} {}", shell_quote(start.agent), start.ladder ? " --ladder" : "",
                     start.requeue, start.signal_ahead_s, shell_quote(start.batch_folder.string()));
}

std::int64_t ladder_margin_s(std::size_t runs) { return ladder_margin_a_run_s * static_cast<std::int64_t>(runs); }

} // namespace dt::jobs
