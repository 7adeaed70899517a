#include "cli/data/engine_call.hpp"

#include "cli/output/count_view.hpp"
#include "core/files/paths.hpp"
#include "core/machine/process.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <csignal>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// The engine's message without its name.
std::string without_name(std::string_view message)
{
  constexpr std::string_view name = "dtengine: ";
  message = trim(message);
  if (message.starts_with(name)) message.remove_prefix(name.size());
  return std::string(message);
}

// The numbers of "images DONE ALL"; nothing for other lines.
std::optional<std::pair<std::int64_t, std::int64_t>> counted_images(std::string_view line)
{
  const auto words = split(line, ' ');
  if (words.size() != 3 || words[0] != "images") return std::nullopt;
  const auto number = [](const std::string& word) { return leading_number<std::int64_t>(word).value_or(0); };
  return std::pair(number(words[1]), number(words[2]));
}

[[noreturn]] void fail(const CommandResult& result, const std::string& said, const std::vector<std::string>& words,
                       const std::string& work)
{
  const auto err = without_name(result.err);
  if (result.exit_code == static_cast<int>(ExitCode::usage)) throw Error(ErrorKind::usage, err);
  if (result.exit_code == static_cast<int>(ExitCode::environment)) throw Error(ErrorKind::environment, err);
  const auto how = result.signal != 0 ? "was ended by " + signal_name(result.signal)
                                      : fmt::format("failed with exit code {}", result.exit_code);
  // libhdf5 can crash on damaged files.
  const bool has_crashed = result.signal == SIGSEGV || result.signal == SIGABRT || result.signal == SIGBUS;
  const auto hint = has_crashed && words.at(2) == "pack" ? ". If the source is an HDF5 file, it may be damaged" : "";
  throw Error(ErrorKind::environment, fmt::format("{} {}{}: {}\n{}{}{}", work, how, hint, shell_join(words), said,
                                                  said.empty() ? "" : "\n", trim(result.err)));
}

} // namespace

std::string call_engine(Context& context, const std::vector<std::string>& words, const std::string& work)
{
  std::vector<std::string> command{engine_program().string(), "data"};
  command.insert(command.end(), words.begin(), words.end());
  const auto view = make_count_view(context.err_terminal, !context.messages.should_log(spdlog::level::info), "images");
  std::string said;
  const auto result = run_command(command, 0, {}, [&](std::string_view line) {
    if (const auto images = counted_images(line))
      view->show(static_cast<double>(images->first), static_cast<double>(images->second), now_unix_s());
    else
      said = line;
  });
  view->leave();
  if (!result.ok()) fail(result, said, command, work);
  return said;
}

Json ask_engine(Context& context, std::vector<std::string> words, const std::string& work)
{
  words.emplace_back("--json");
  const auto said = call_engine(context, words, work);
  auto json = Json::parse(said, nullptr, false);
  if (!json.is_object())
    throw Error(ErrorKind::environment, fmt::format("{} failed: dtengine printed no result, but: {}", work, printable(said)));
  return json;
}

} // namespace dt::cli
