#include "core/machine/process.hpp"

#include "core/files/file.hpp"
#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dt;
namespace fs = std::filesystem;

namespace {

CommandResult shell(const std::string& line, double timeout_s = 60) { return run_command({"sh", "-c", line}, timeout_s); }

// A process of ours that does nothing, ended and reaped on destruction.
class Idle {
 public:
  explicit Idle(bool own_session = false) : pid_(::fork())
  {
    if (pid_ != 0) return;
    if (own_session) ::setsid();
    for (;;) ::pause();
  }
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;
  ~Idle() { reap(); }
  pid_t pid() const { return pid_; }
  void kill() const { ::kill(pid_, SIGKILL); }
  void reap()
  {
    if (pid_ <= 0) return;
    kill();
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

// Until `condition` holds; the test's own time limit ends a wait for something that never comes.
template<class Condition> void wait_until(Condition condition)
{
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

char state_of(pid_t pid)
{
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  return stat[stat.rfind(')') + 2];
}

} // namespace

TEST_CASE("run_command returns both streams byte by byte and the exit code or the signal, and only exit code 0 is ok")
{
  const auto result = shell(R"(printf 'out\0\377'; printf 'err\n' >&2)");
  CHECK(result.out == std::string("out\0\xFF", 5));
  CHECK(result.err == "err\n");
  CHECK(result.exit_code == 0);
  CHECK(result.signal == 0);
  CHECK(result.ok());
  const int code = GENERATE(0, 1, 2, 127, 255);
  const auto ended = shell("exit " + std::to_string(code));
  CHECK(ended.exit_code == code);
  CHECK(ended.signal == 0);
  CHECK(ended.ok() == (code == 0));
  const auto killed = shell("kill -TERM $$");
  CHECK(killed.signal == SIGTERM);
  CHECK(killed.exit_code == -1);
  CHECK_FALSE(killed.timed_out);
  CHECK_FALSE(killed.ok());
}

TEST_CASE("complete lines of a command's output are passed on while it runs")
{
  const test::TemporaryFolder folder;
  const auto go = (folder.path() / "go").string();
  std::vector<std::string> lines;
  const auto result =
      run_command({"sh", "-c", "echo one; while [ ! -e '" + go + "' ]; do sleep 0.01; done; printf 'two\n\nrest'"}, 60, {},
                  [&](std::string_view line) {
                    if (lines.empty()) std::ofstream(go) << "now"; // else the command waits forever
                    lines.emplace_back(line);
                  });
  CHECK(lines == std::vector<std::string>{"one", "two", ""});
  CHECK(result.out == "one\ntwo\n\nrest");
}

TEST_CASE("a command that takes too long, or closes its streams and stays, is killed, and what it said until then is kept")
{
  CommandResult result;
  for (double limit_s = 0.2; result.out.empty() && limit_s < 100;
       limit_s *= 4) // a busy machine may not even start the shell in time
    result = shell("echo early; exec sleep 1000", limit_s);
  CHECK(result.timed_out);
  CHECK(result.signal == SIGKILL);
  CHECK(result.out == "early\n");
  CHECK_FALSE(result.ok());
  const auto silent = shell("exec >/dev/null 2>&1; exec sleep 20", 0.2);
  CHECK(silent.timed_out);
  CHECK(silent.signal == SIGKILL);
  const auto in_time = shell("echo said; exec >/dev/null 2>&1; sleep 0.05; exit 3", 60);
  CHECK_FALSE(in_time.timed_out);
  CHECK(in_time.exit_code == 3);
  CHECK(in_time.out == "said\n");
}

TEST_CASE("300 KB on both streams at once do not block, and words reach the program as they are, without a shell")
{
  const auto result = shell("head -c 300000 /dev/zero & head -c 300000 /dev/zero >&2; wait");
  CHECK(result.ok());
  CHECK(result.out == std::string(300000, '\0'));
  CHECK(result.err == std::string(300000, '\0'));
  const auto words = run_command({"printf", "%s|", "a b", "", "$HOME", "*", "'"}, 60);
  CHECK(words.out == "a b||$HOME|*|'|");
}

TEST_CASE("a command reads the input that it is given, to its last byte, however much it is, and else nothing")
{
  const auto input = std::string(300000, 'x') + std::string("\0\n", 2);
  const auto result = run_command({"cat"}, 60, input);
  CHECK(result.ok());
  CHECK(result.out == input);
  CHECK(run_command({"true"}, 60, input).ok());
  const auto nothing = run_command({"cat"}, 60);
  CHECK(nothing.ok());
  CHECK(nothing.out.empty());
}

TEST_CASE("a program that is not there, or is none, cannot be started, and the error names it, and no words are our own mistake")
{
  const auto missing = test::error_of([] { run_command({"/none/such-program", "x"}); });
  CHECK(missing.kind() == ErrorKind::environment);
  CHECK(std::string(missing.what()) == "start /none/such-program: No such file or directory");
  CHECK(test::message_of([] { run_command({"/etc/passwd"}); }) == "start /etc/passwd: Permission denied");
  const auto error = test::error_of([] { run_command({}); });
  CHECK(error.kind() == ErrorKind::internal);
  CHECK(std::string(error.what()) == "run_command needs a program");
}

TEST_CASE("no descriptors are left open by commands, whether they run, time out or cannot start")
{
  const auto open_descriptors = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
  const auto before = open_descriptors();
  shell("true");
  shell("sleep 1000", 0.05);
  CHECK_THROWS_AS(run_command({"no-such-program-at-all"}), Error);
  CHECK(open_descriptors() == before);
}

TEST_CASE("a living process is identified by number, boot and start, field 22 of its stat file")
{
  const auto self = identify_process(::getpid());
  REQUIRE(self);
  CHECK(self->pid == ::getpid());
  CHECK(self->start_ticks > 0);
  CHECK(self->boot_id.size() == 36);
  CHECK(self->boot_id + "\n" == read_file("/proc/sys/kernel/random/boot_id"));
  CHECK(identify_process(::getpid()) == self);
  CHECK(is_alive(*self));
  // Without the name in it, awk counts right: the name of this program holds no blank.
  const auto ticks = run_command({"awk", "{print $22}", "/proc/" + std::to_string(::getpid()) + "/stat"}, 60);
  REQUIRE(ticks.ok());
  CHECK(std::to_string(identify_process(::getpid())->start_ticks) + "\n" == ticks.out);
}

TEST_CASE("a process of the same number but another start or boot is another process, and a number that is no process is not "
          "identified")
{
  auto other = *identify_process(::getpid());
  other.start_ticks += 1;
  CHECK_FALSE(is_alive(other));
  other = *identify_process(::getpid());
  other.boot_id.back() = other.boot_id.back() == '0' ? '1' : '0';
  CHECK_FALSE(is_alive(other));
  CHECK_FALSE(identify_process(0));
  CHECK_FALSE(identify_process(-1));
  CHECK_FALSE(identify_process(1 << 30));
}

TEST_CASE("a zombie counts as dead, and so does a process that was reaped")
{
  Idle idle;
  const auto identity = identify_process(idle.pid());
  REQUIRE(identity);
  CHECK(is_alive(*identity));
  idle.kill();
  wait_until([&] { return state_of(idle.pid()) == 'Z'; });
  CHECK_FALSE(identify_process(idle.pid()));
  CHECK_FALSE(is_alive(*identity));
  idle.reap();
  CHECK_FALSE(is_alive(*identity));
}

TEST_CASE("a program's name cannot forge its identity: brackets, blanks and state letters in it change nothing")
{
  const test::TemporaryFolder folder;
  const auto program = folder.path() / "a) Z 1 (b";
  fs::copy_file("/bin/sleep", program);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(program.c_str(), program.c_str(), "1000", nullptr);
    ::_exit(127);
  }
  wait_until([&] { return read_file("/proc/" + std::to_string(child) + "/comm") == "a) Z 1 (b\n"; });
  const auto identity = identify_process(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  REQUIRE(identity);
  CHECK(identity->start_ticks >= identify_process(::getpid())->start_ticks);
}

TEST_CASE("the processes of a session are its living members, not its zombies and not others")
{
  Idle leader(true);
  Idle outsider;
  wait_until([&] { return ::getsid(leader.pid()) == leader.pid(); });
  CHECK(processes_of_session(leader.pid()) == std::vector<pid_t>{leader.pid()});
  leader.kill();
  wait_until([&] { return state_of(leader.pid()) == 'Z'; });
  CHECK(processes_of_session(leader.pid()).empty());
}

TEST_CASE("a session's grandchildren are found although their parents are gone")
{
  const test::TemporaryFolder folder;
  const auto pids = (folder.path() / "pids").string();
  const auto result = shell("setsid sh -c 'echo $$ > " + pids + "; (sleep 1000 & echo $! >> " + pids + ")' >/dev/null 2>&1");
  REQUIRE(result.ok());
  pid_t session = 0, grandchild = 0;
  wait_until([&] { return static_cast<bool>(std::ifstream(pids) >> session >> grandchild); });
  wait_until([&] { return !identify_process(session); });
  CHECK(processes_of_session(session) == std::vector<pid_t>{grandchild});
  ::kill(grandchild, SIGKILL);
  wait_until([&] { return !identify_process(grandchild); });
  CHECK(processes_of_session(session).empty());
}

TEST_CASE("signals have their usual names, others a number, and the host's name is the system's")
{
  CHECK(signal_name(SIGKILL) == "SIGKILL");
  CHECK(signal_name(SIGTERM) == "SIGTERM");
  CHECK(signal_name(SIGSEGV) == "SIGSEGV");
  CHECK(signal_name(0) == "signal 0");
  CHECK(signal_name(-1) == "signal -1");
  CHECK(signal_name(999) == "signal 999");
  CHECK(host_name() + "\n" == run_command({"uname", "-n"}, 60).out);
}

TEST_CASE("the cores are those of this process's mask, ascending")
{
  const auto all = cores_in_mask();
  REQUIRE_FALSE(all.empty());
  CHECK(std::is_sorted(all.begin(), all.end()));
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(all.back()), &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const auto seen = cores_in_mask();
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(seen == std::vector<int>{all.back()});
}
