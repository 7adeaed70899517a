#include "jobs/program/rank_channels.hpp"

#include <string>
#include <vector>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace dt::jobs;

namespace {

// A Python program in a process of its own, which has printed a line.
class Rank {
 public:
  explicit Rank(const std::string& source)
  {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      const auto text = source + "\nprint('ready', flush=True)\nimport time\ntime.sleep(600)\n";
      ::execl("/usr/bin/python3", "python3", "-c", text.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    out_ = ends[0];
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank()
  {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(out_);
  }
  pid_t process() const { return process_; }
  // Leaves a process that nobody has waited for.
  void end() const
  {
    ::kill(process_, SIGKILL);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOWAIT);
  }
  // Waits for the line.
  pid_t ready() const
  {
    char letter = 0;
    while (::read(out_, &letter, 1) == 1 && letter != '\n') {
    }
    REQUIRE(letter == '\n');
    return process_;
  }

 private:
  pid_t process_ = 0;
  int out_ = 0;
};

std::optional<Exchange> between(const Rank& a, const Rank& b)
{
  const std::vector<pid_t> ranks{a.ready(), b.ready()};
  return channels_between(ranks);
}

const std::string port = "/tmp/dtctl-test-port-" + std::to_string(::getpid());
const std::string listens = "import os, socket, time\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\n"
                            "open('" +
                            port + ".new', 'w').write(str(s.getsockname()[1]))\nos.rename('" + port + ".new', '" + port + "')\n";
const std::string connects = "import os, socket, time\nwhile not os.path.exists('" + port +
                             "'): time.sleep(0.01)\n"
                             "c = socket.create_connection(('127.0.0.1', int(open('" +
                             port + "').read())))\nos.remove('" + port + "')\n";

} // namespace

TEST_CASE("a connection between two ranks is an exchange, one within a rank or nothing open is none, and one to a third process "
          "is unknown")
{
  CHECK(between(Rank(listens + "c = s.accept()\n"), Rank(connects)) == Exchange::some);
  CHECK(between(Rank(listens + "d = socket.create_connection(s.getsockname())\nc = s.accept()\nos.remove('" + port + "')\n"),
                Rank("")) == Exchange::none);
  const Rank third(listens + "c = s.accept()\n");
  CHECK(between(Rank(connects), Rank("")) == Exchange::unknown);
  CHECK(between(Rank(""), Rank("import multiprocessing as m\nm.Queue().put(1)")) == Exchange::none);
}

TEST_CASE("memory that two ranks share is an exchange")
{
  const auto file = "/dev/shm/dtctl-test-" + std::to_string(::getpid());
  const auto maps = "import mmap, os\nf = open('" + file + "', 'a+b')\nf.truncate(4096)\nm = mmap.mmap(f.fileno(), 4096)\n";
  CHECK(between(Rank(maps), Rank(maps)) == Exchange::some);
  ::unlink(file.c_str());
}

TEST_CASE("a look at a rank that is gone tells nothing, and two looks at the training must have seen nothing")
{
  const std::vector<pid_t> gone{0x3fffff, 0x3ffffe};
  CHECK_FALSE(channels_between(gone));
  const Rank a(""), b("");
  RankChannels channels({a.ready(), b.ready()});
  channels.look(false);
  channels.look(true);
  CHECK(channels.seen() == Exchange::unknown);
  channels.look(true);
  CHECK(channels.seen() == Exchange::none);
  b.end();
  channels.look(true);
  CHECK_FALSE(channels_between(std::vector<pid_t>{a.process(), b.process()}));
  CHECK(channels.seen() == Exchange::none);
}
