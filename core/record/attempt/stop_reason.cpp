#include "core/record/attempt/stop_reason.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace dt {
namespace {

constexpr std::string_view time_limit = "time_limit";
constexpr std::array<std::pair<StopKind, std::string_view>, 3> kinds_with_text{
    {{StopKind::not_started, "not started"}, {StopKind::not_run, "not run"}, {StopKind::removed, "removed while it ran"}}};

} // namespace

std::string StopReason::line() const
{
  if (kind == StopKind::time_limit) return std::string(time_limit) + (new_limit_s ? fmt::format(" {}", *new_limit_s) : "");
  if (kind == StopKind::scheduler) return fmt::format("{}: {}", name_of(state), text);
  for (const auto& [of, name] : kinds_with_text)
    if (of == kind) return fmt::format("{}: {}", name, text);
  return text;
}

StopReason parse_stop_reason(std::string_view line)
{
  if (line == time_limit || line.starts_with("time_limit "))
    return {StopKind::time_limit, {}, RunState::failed, number_of<double>(trim(line.substr(time_limit.size())))};
  const auto colon = line.find(": ");
  const auto name = line.substr(0, colon);
  const std::string text(colon == std::string_view::npos ? "" : line.substr(colon + 2));
  for (const auto& [kind, of] : kinds_with_text)
    if (name == of) return {kind, text};
  const auto state = colon == std::string_view::npos ? std::nullopt : run_state_of(name);
  if (state && is_final(*state) && *state != RunState::succeeded) return {StopKind::scheduler, text, *state};
  return {StopKind::unknown, std::string(line)};
}

} // namespace dt
