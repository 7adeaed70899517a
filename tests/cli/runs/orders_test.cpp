// Two dtctl on one home: one is stopped before each of its calls that make, rename or remove a file, and the other runs until it
// has ended or waits for the first. Whatever the order, the outcome is that of one after the other.
#include "core/files/file.hpp"
#include "core/record/run_record.hpp"
#include "core/record/study_record.hpp"
#include "jobs/local/queue.hpp"
#include "store/query/queries.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/traced_pair.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using dt::test::Dtctl;
using dt::test::TracedPair;
using dt::test::Words;

namespace {

constexpr const char* program_recipe = "version: 1\nname: NAME\nprogram: {command: [/bin/false], identity: files}\n"
                                       "sweep: {matrix: {train.seed: [SEEDS]}}\n";

std::string recipe(const std::string& name, const std::string& seeds)
{
  std::string text = program_recipe;
  text.replace(text.find("NAME"), 4, name);
  return text.replace(text.find("SEEDS"), 5, seeds);
}

// A home with the study `work`: one run has succeeded and two have failed. No supervisor runs, so nothing that is submitted
// starts.
class Scene {
 public:
  Scene() : supervisor_((prepare(), dt::FileLock::acquire(queue_lock())))
  {
    fs::rename(dtctl.home(), saved());
    restore();
  }

  // The home as it was prepared.
  void restore()
  {
    fs::remove_all(dtctl.home());
    fs::copy(saved(), dtctl.home(), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    supervisor_ = dt::FileLock::acquire(queue_lock());
  }

  // What the folders and the database hold.
  std::string content() const
  {
    const dt::Home home(dtctl.home());
    std::string text;
    dt::store::Database database(home.database(), dt::store::Access::read_only);
    std::map<std::string, int> stored; // attempts of runs in the database
    for (const auto& row : dt::store::runs_where(database, "repeat>=0", 1000)) stored[row.key] = row.attempt;
    std::set<std::string> known;
    for (const auto& row : dt::store::list_studies(database, 1000)) known.insert(row.id);
    std::set<std::string> studies;
    for (const auto& id : dt::names_in(home.studies()))
      if (dt::read_study(home.study(id))) studies.insert(id);
    text += "studies " + std::to_string(studies.size()) + (studies == known ? "" : ", but others in the database");
    std::multiset<std::string> runs;
    for (const auto& key : dt::names_in(home.runs())) {
      const auto numbers = dt::attempt_numbers(home.run(key));
      std::string run = "\nrun of " + std::to_string(numbers.size()) + " attempts";
      for (const int number : numbers) {
        const dt::AttemptFolder attempt(home.run(key), number);
        if (!dt::read_submission(attempt)) run += ", one without a submission";
        if (fs::exists(attempt.cancel())) run += ", one cancelled";
        if (dt::read_result(attempt)) run += ", one with a result";
      }
      if (!fs::exists(dt::spec_path(home.run(key)))) run += ", without a spec";
      if (!stored.contains(key)) run += ", not in the database";
      stored.erase(key);
      runs.insert(run);
    }
    for (const auto& run : runs) text += run;
    for (std::size_t i = 0; i < stored.size(); ++i) text += "\nonly in the database: a run";
    for (const auto& id : studies) {
      const auto study = dt::read_study(home.study(id));
      for (const auto& key : study->run_keys)
        if (!fs::exists(home.run(key))) text += "\nwithout a folder: a run of a study";
    }
    if (!dt::names_in(home.root() / "removed").empty()) text += "\nnot removed completely";
    if (!dt::names_in(home.root() / "pending").empty()) text += "\npending";
    return text;
  }

  Dtctl dtctl;

 private:
  fs::path saved() const { return dtctl.folder() / "saved"; }
  fs::path queue_lock() const { return dt::jobs::local::Queue(dt::Home(dtctl.home())).supervisor_lock(); }

  void prepare()
  {
    dtctl.write("work.yaml", recipe("work", "1, 2, 3"));
    dtctl.write("other.yaml", recipe("other", "3, 4"));
    const auto report = dtctl.json({"sweep", "work.yaml", "--wait", "--keep-going"});
    const auto key = report.at("submissions")[0].at("key").get<std::string>();
    dt::commit_result(dt::AttemptFolder(dtctl.home() / "runs" / key, 1), dt::RunResult{});
    const auto states = dtctl.json({"status"}).at("states");
    REQUIRE(states.value("succeeded", 0) == 1);
    REQUIRE(states.value("failed", 0) == 2);
  }

  dt::FileLock supervisor_;
};

const std::map<std::string, Words>& verbs()
{
  static const std::map<std::string, Words> all{{"sweep", {"sweep", "work.yaml"}},
                                                {"sweep --force", {"sweep", "work.yaml", "--force"}},
                                                {"sweep other", {"sweep", "other.yaml"}},
                                                {"remove", {"remove", "work", "--yes"}},
                                                {"retry", {"retry", "work"}},
                                                {"remove --runs", {"remove", "work", "--runs", "--yes"}},
                                                {"cancel", {"cancel", "work"}},
                                                {"db rebuild", {"db", "rebuild"}}};
  return all;
}

// All that a verb makes, renames or removes in the home, but for SQLite's own files.
TracedPair::Counted critical(const Scene& scene) { return {{scene.dtctl.home().string() + "/"}, {"results.db"}}; }

std::string outcome(const TracedPair& pair, const Scene& scene)
{
  return "first " + pair.end_of(0) + ", second " + pair.end_of(1) + "\n" + scene.content();
}

// One after the other; `first` is the one that begins. Sets the number of calls of program 0.
std::string one_after_the_other(Scene& scene, const Words& zero, const Words& one, std::size_t first, int& calls)
{
  scene.restore();
  TracedPair pair(scene.dtctl.command(zero), scene.dtctl.command(one), critical(scene));
  pair.run(first, 0);
  pair.run(1 - first, 0);
  calls = pair.calls_of(0);
  return outcome(pair, scene);
}

// Runs the verb `name` beside each verb, or half of them. Without $DTCTL_TEST_ALL_ORDERS it is stopped at about every fifth of
// its calls, at other ones beside each verb.
void drive(const std::string& name)
{
  const bool does_all = std::getenv("DTCTL_TEST_ALL_ORDERS") != nullptr;
  int shift = 0;
  Scene scene;
  const auto& zero = verbs().at(name);
  int orders = 0, waited = 0;
  const auto drawn = dt::test::drawn_half(verbs());
  for (const auto& [other, one] : verbs()) {
    if (!drawn.contains(other)) continue;
    int calls = 0, ignored = 0;
    const std::set<std::string> expected{one_after_the_other(scene, zero, one, 1, ignored),
                                         one_after_the_other(scene, zero, one, 0, calls)};
    const int stride = does_all ? 1 : std::max(1, calls / 5);
    for (int call = 1 + shift++ % stride; call <= calls; call += stride) {
      scene.restore();
      TracedPair pair(scene.dtctl.command(zero), scene.dtctl.command(one), critical(scene));
      if (pair.run(0, call) == TracedPair::At::end) break;
      const bool waits = pair.run(1, 0) == TracedPair::At::lock;
      pair.run(0, 0);
      if (waits) pair.run(1, 0);
      INFO("dtctl " << name << " stopped before call " << call << " of " << calls << " that change names of files, beside dtctl "
                    << other << (waits ? ", which waited" : ""));
      const auto found = outcome(pair, scene);
      INFO("outcome: " << found << "\nexpected: " << *expected.begin() << "\nor: " << *expected.rbegin());
      REQUIRE(expected.contains(found));
      ++orders;
      waited += waits ? 1 : 0;
    }
  }
  std::printf("%s: %d orders, in %d of them the other waited\n", name.c_str(), orders, waited);
  CHECK(waited > 0);
}

} // namespace

TEST_CASE("orders of sweep and each verb that changes a home") { drive("sweep"); }
TEST_CASE("orders of sweep --force and each verb that changes a home") { drive("sweep --force"); }
TEST_CASE("orders of the sweep of another study and each verb that changes a home") { drive("sweep other"); }
TEST_CASE("orders of remove and each verb that changes a home") { drive("remove"); }
TEST_CASE("orders of remove --runs and each verb that changes a home") { drive("remove --runs"); }
TEST_CASE("orders of retry and each verb that changes a home") { drive("retry"); }
TEST_CASE("orders of cancel and each verb that changes a home") { drive("cancel"); }
TEST_CASE("orders of db rebuild and each verb that changes a home") { drive("db rebuild"); }
