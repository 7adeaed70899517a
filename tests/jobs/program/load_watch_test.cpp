// Who else uses a node while the user's own program runs there, with real processes.
#include "jobs/program/load_watch.hpp"

#include "core/machine/process.hpp"
#include "tests/support/eventually.hpp"

#include <catch2/catch.hpp>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

using namespace dt;
using namespace dt::jobs;
using dt::test::eventually;

namespace {

// A process that does nothing itself; its child computes.
class Parent {
 public:
  Parent()
  {
    pid_ = ::fork();
    ::setpgid(pid_, pid_); // in both, so that it holds before either goes on
    if (pid_ != 0) return;
    ::execlp("sh", "sh", "-c", "(while :; do :; done) & wait", nullptr);
    ::_exit(1);
  }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;
  ~Parent() { end(); }
  void end()
  {
    if (pid_ == 0) return;
    ::kill(-pid_, SIGKILL); // the shell may fork its child only now
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  RankLine line() const { return {.rank = 0, .pid = pid_, .host = host_name(), .cores = "0", .gpus = "-"}; }

 private:
  pid_t pid_ = 0;
};

} // namespace

TEST_CASE("a rank's own time is that of all its processes, from the first to the last look at which it lived")
{
  Parent rank;
  LoadWatch watch({rank.line()}, 1);
  REQUIRE(eventually([&] {
    watch.look();
    const auto loads = watch.loads();
    return !loads.empty() && loads[0].own_s > 0.1;
  }));
  const auto before = watch.loads().at(0);
  CHECK(before.mask == std::vector<int>{0});
  CHECK(before.seconds > 0);
  CHECK_FALSE(before.cores.empty());
  rank.end();
  watch.finish();
  REQUIRE(watch.loads().size() == 1);
  CHECK(watch.loads()[0].own_s == before.own_s);
}

TEST_CASE("what was before the warm-up's end does not count, unless nothing came after it")
{
  Parent rank;
  LoadWatch watch({rank.line()}, 1);
  REQUIRE(eventually([&] {
    watch.look();
    return !watch.loads().empty() && watch.loads()[0].seconds > 0.3;
  }));
  const double whole_s = watch.loads()[0].seconds;
  watch.begin_again();
  CHECK(watch.loads().at(0).seconds == whole_s);
  watch.finish();
  CHECK(watch.loads().at(0).seconds < whole_s);
}

TEST_CASE("ranks that have ended before the first look have no load")
{
  Parent rank;
  const auto line = rank.line();
  rank.end();
  LoadWatch watch({line}, 1);
  watch.look();
  watch.finish();
  CHECK(watch.loads().empty());
}

TEST_CASE("of ranks that one launcher starts, the launcher is watched for all")
{
  RunSpec spec;
  spec.resources.ranks_per_node = 4;
  spec.resources.threads_per_rank = 2;
  CHECK(is_watched(spec, 1));
  CHECK(watched_threads(spec) == 2);
  spec.program.command = {"torchrun", "train.py"};
  spec.program.launch = ProgramLaunch::per_node;
  CHECK(is_watched(spec, 0));
  CHECK_FALSE(is_watched(spec, 3));
  CHECK(is_watched(spec, 4));
  CHECK(watched_threads(spec) == 8);
}
