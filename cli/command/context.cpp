#include "cli/command/context.hpp"

#include "core/text.hpp"

#include <algorithm>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace dt::cli {
namespace {

// Puts "dtctl: " before information and "dtctl: warning: " before everything else. Makes control characters visible.
class Prefix : public spdlog::custom_flag_formatter {
 public:
  explicit Prefix(bool colour) : colour_(colour) {}
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override
  {
    const std::string prefix =
        message.level >= spdlog::level::warn ? "dtctl: " + painted("warning:", Style::warning, colour_) + " " : "dtctl: ";
    const auto text = prefix + printable_lines(std::string_view(message.payload.data(), message.payload.size()));
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Prefix>(colour_); }

 private:
  bool colour_;
};

} // namespace

void Context::note(const std::vector<std::string>& found)
{
  for (const auto& trouble : found) {
    if (std::find(troubles.begin(), troubles.end(), trouble) != troubles.end()) continue;
    messages.warn("{} The states shown come only from the runs' files.", trouble);
    troubles.push_back(trouble);
  }
}

void Context::note_unreadable(const std::string& run, const std::string& why)
{
  const auto line = "the files of run " + run + " cannot be read, so its state is unknown: " + why;
  if (std::find(unreadable.begin(), unreadable.end(), line) != unreadable.end()) return;
  messages.warn("{}", line);
  unreadable.push_back(line);
}

LockedHome::Waiting Context::waiting() const
{
  return [this](const std::string& holder) {
    messages.info("another dtctl changes this home ({}); waiting until it has finished", holder);
  };
}

std::unique_ptr<spdlog::logger> make_messages(bool quiet, bool colour)
{
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<Prefix>('*', colour).set_pattern("%*");
  auto messages = std::make_unique<spdlog::logger>("dtctl", std::make_shared<spdlog::sinks::stderr_sink_st>());
  messages->set_formatter(std::move(formatter));
  messages->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  messages->flush_on(spdlog::level::trace);
  return messages;
}

} // namespace dt::cli
