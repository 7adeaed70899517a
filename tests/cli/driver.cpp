#include "tests/cli/driver.hpp"

#include "tests/support/processes.hpp"

#include <array>
#include <csignal>
#include <fstream>

#include <catch2/catch.hpp>

#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dt::test {
namespace {

std::vector<char*> pointers(Words& words)
{
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return argv;
}

// Starts the program of these words in a terminal of that width.
pid_t start_in_terminal(Words line, unsigned short columns, int& terminal)
{
  const auto argv = pointers(line);
  winsize size{.ws_row = 40, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  REQUIRE(child > 0);
  return child;
}

} // namespace

Dtctl::Dtctl()
{
  for (const char* name : {"config", "locks"}) std::filesystem::create_directories(folder() / name);
}

std::string Dtctl::program() { return DTCTL_BINARY_DIR "/bin/dtctl"; }

Words Dtctl::command(const Words& words, const Words& environment) const
{
  const auto at = folder().string();
  Words line{"env", "-C", at};
  for (const auto* name : {"NO_COLOR", "COLUMNS", "DTCTL_ENGINE", "DTCTL_JOB_AGENT", "XDG_DATA_HOME"})
    line.insert(line.end(), {"-u", name});
  line.insert(line.end(), {"DTCTL_HOME=" + home().string(), "XDG_CONFIG_HOME=" + at + "/config",
                           "DTCTL_CORE_LOCKS=" + at + "/locks", "TERM=xterm"});
  line.insert(line.end(), environment.begin(), environment.end());
  line.push_back(program());
  line.insert(line.end(), words.begin(), words.end());
  return line;
}

CommandResult Dtctl::run(const Words& words, const Words& environment) const
{
  return run_command(command(words, environment), 100);
}

Json Dtctl::json(Words words, const Words& environment) const
{
  words.push_back("--json");
  const auto result = run(words, environment);
  INFO("standard output: " << result.out << "\nstandard error: " << result.err);
  const auto value = Json::parse(result.out, nullptr, false);
  REQUIRE(value.is_object());
  CHECK(value.value("schema", 0) == 1);
  CHECK(value.value("exit_code", -1) == result.exit_code);
  return value;
}

std::string Dtctl::in_terminal(const Words& words, unsigned short columns, const Words& environment) const
{
  int terminal = -1;
  const pid_t child = start_in_terminal(command(words, environment), columns, terminal);
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t got = 0; (got = ::read(terminal, block.data(), block.size())) > 0;)
    text.append(block.data(), static_cast<std::size_t>(got));
  ::close(terminal);
  ::waitpid(child, nullptr, 0);
  std::erase(text, '\r');
  return text;
}

TerminalSession::TerminalSession(const Dtctl& dtctl, const Words& words, unsigned short columns)
    : child_(start_in_terminal(dtctl.command(words), columns, terminal_))
{
}

TerminalSession::~TerminalSession()
{
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  ::close(terminal_);
}

void TerminalSession::resize(unsigned short columns) const
{
  const winsize size{.ws_row = 40, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  REQUIRE(::ioctl(terminal_, TIOCSWINSZ, &size) == 0);
}

void TerminalSession::type(const std::string& keys) const
{
  REQUIRE(::write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

bool TerminalSession::read_until(const std::string& what)
{
  std::array<char, 4096> block{};
  for (;;) {
    if (const auto found = text_.find(what, seen_); found != std::string::npos) {
      seen_ = found + what.size();
      return true;
    }
    const auto got = ::read(terminal_, block.data(), block.size());
    if (got <= 0) return false;
    text_.append(block.data(), static_cast<std::size_t>(got));
    std::erase(text_, '\r');
  }
}

pid_t Dtctl::start(const Words& words, const Words& environment) const
{
  const pid_t child = start_program(command(words, environment), [] {
    if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(126);
  });
  REQUIRE(child > 0);
  return child;
}

std::filesystem::path Dtctl::write(const std::string& name, const std::string& text) const
{
  const auto path = folder() / name;
  std::ofstream(path) << text;
  return path;
}

std::string tiny_recipe(const std::string& more)
{
  return "version: 1\n"
         "name: tiny\n"
         "model: {name: lenet}\n"
         "data: {name: synthetic, train_samples: 256, test_samples: 64}\n"
         "train: {global_batch: 32, epochs: 2, warmup_steps: 2}\n" +
         more;
}

} // namespace dt::test
