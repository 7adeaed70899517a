// A home is moved before a call by which its supervisor, or the job that it starts, uses a name in it.
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/run_record.hpp"
#include "jobs/local/queue.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/traced_pair.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using dt::test::Dtctl;
using dt::test::TracedPair;

namespace {

constexpr const char* recipe = "version: 1\nname: work\nprogram: {command: [/bin/echo, step 1 loss=0.5], identity: files,\n"
                               "  metrics: {step: 'step ([0-9]+)', loss: 'loss=([0-9.]+)'}}\n";

// A home whose queue holds one job, which no supervisor looks after.
class Scene {
 public:
  Scene()
  {
    dtctl_.write("work.yaml", recipe);
    dt::make_folders(supervisor_lock().parent_path());
    const auto supervisor = dt::FileLock::acquire(supervisor_lock());
    REQUIRE(dtctl_.run({"sweep", "work.yaml"}).ok());
    fs::rename(home(), saved());
  }

  void restore() const
  {
    for (const auto& folder : {home(), moved()}) fs::remove_all(folder); // home() may be a link
    fs::copy(saved(), home(), fs::copy_options::recursive);
    fs::remove(home() / "identity.json"); // else the moved home would be a copy
  }

  TracedPair::Counted counted() const { return {{home().string() + "/"}, {}, {home().string() + "/"}}; }
  TracedPair::Options options() const { return {dt::test::tracing::Followed::processes, {output(), "/dev/null"}}; }
  dt::test::Words supervise() const { return dtctl_.command({"supervise", "--home", home().string()}); }
  dt::test::Words move() const { return {"mv", home().string(), moved().string()}; }

  // "succeeded", or what the job has said. A job that waits is started as the next call of dtctl would do it: the supervisor has
  // found no home, or an empty one.
  std::string end_of_job() const
  {
    const auto later = dtctl_.run({"supervise", "--home", moved().string()});
    if (!later.ok()) return "the next supervisor does not end: " + later.err + dt::text_if_readable(output());
    const auto runs = moved() / "runs";
    const dt::AttemptFolder attempt(runs / dt::names_in(runs).at(0), 1);
    if (!dt::jobs::local::Queue(dt::Home(moved())).list().empty()) return "the job is still in the queue";
    if (dt::read_result(attempt)) return "succeeded";
    return "no result\n" + dt::text_if_readable(attempt.err()) + dt::text_if_readable(output());
  }

 private:
  fs::path home() const { return dtctl_.home(); }
  fs::path saved() const { return dtctl_.folder() / "saved"; }
  fs::path moved() const { return dtctl_.folder() / "moved"; }
  std::string output() const { return dtctl_.folder() / "said"; }
  fs::path supervisor_lock() const { return dt::jobs::local::Queue(dt::Home(home())).supervisor_lock(); }

  Dtctl dtctl_;
};

} // namespace

TEST_CASE("a job succeeds, whatever call that names a file of the home comes between the move of the home and the link to it")
{
  const Scene scene;
  int calls = 0;
  {
    scene.restore();
    TracedPair pair(scene.supervise(), scene.move(), scene.counted(), scene.options());
    pair.run(0, 0);
    calls = pair.calls_of(0);
    pair.run(1, 0);
    REQUIRE(pair.end_of(1) == "exit 0");
    REQUIRE(scene.end_of_job() == "succeeded");
  }
  const int stride = std::getenv("DTCTL_TEST_ALL_ORDERS") != nullptr ? 1 : std::max(1, calls / 12);
  int orders = 0, failed = 0;
  for (int call = 1; call <= calls; call += stride) {
    scene.restore();
    TracedPair pair(scene.supervise(), scene.move(), scene.counted(), scene.options());
    if (pair.run(0, call) == TracedPair::At::end) break;
    pair.run(1, 0);
    const auto& before = pair.last_call();
    pair.run(0, 0);
    INFO("the home was moved before call " << call << " of about " << calls << ", " << before);
    const auto end = scene.end_of_job();
    CHECK(end == "succeeded");
    ++orders;
    failed += end == "succeeded" ? 0 : 1;
  }
  std::printf("%d moves of a home, %d failed\n", orders, failed);
}
