// Two dtctl on the data sets of one home, of which one is stopped before each of its calls that use a name in the home's folder
// of data sets. Whatever the order, the outcome is that of one after the other, or one of the two is refused and says why.
#include "core/data/packed_file.hpp"
#include "core/files/file.hpp"
#include "core/record/run_record.hpp"
#include "core/record/study_record.hpp"
#include "core/spec/run_key.hpp"
#include "jobs/local/queue.hpp"
#include "store/query/queries.hpp"
#include "tests/cli/driver.hpp"
#include "tests/engine/data/bytes.hpp"
#include "tests/engine/data/write_packed.hpp"
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

std::string recipe_of(const std::string& data)
{
  return "version: 1\nname: study\nprogram: {command: [/bin/false], identity: files}\ndata: {" + data + "}\n";
}

// The files of MNIST with a few images.
void write_source(const fs::path& folder)
{
  for (const auto& [name, count] : {std::pair("train", 20u), std::pair("t10k", 10u)}) {
    dt::test::write(folder / (name + std::string("-images-idx3-ubyte")),
                    dt::test::idx(2051, {count, 4, 4}, dt::test::counting(count * 16)));
    std::string labels;
    for (unsigned i = 0; i < count; ++i) labels += static_cast<char>(i % 10);
    dt::test::write(folder / (name + std::string("-labels-idx1-ubyte")), dt::test::idx(2049, {count}, labels));
  }
}

// A home whose packed set `flowers` has the content a or photos, whose folder of digits was made with seed 1 or 2, or that has no
// data set. No supervisor runs, so nothing that is submitted starts.
class Scene {
 public:
  explicit Scene(const std::string& content_of_set)
  {
    dtctl.write("flowers.yaml", recipe_of("name: packed, set: flowers"));
    dtctl.write("digits.yaml", recipe_of("name: digits"));
    write_source(dtctl.folder() / "photos");
    ids_[dt::test::write_numbered_pixels(dtctl.folder() / "a.pack", 20, 10)] = "a";
    ids_[dt::test::write_numbered_pixels(dtctl.folder() / "b.pack", 30, 10)] = "b";
    dt::make_folders(queue_folder());
    REQUIRE(dtctl.run({"db", "migrate"}).ok());
    REQUIRE(dtctl.run({"data", "pack", "photos", "-o", "photos"}).ok());
    ids_[dt::PackedFile(set("photos")).id()] = "photos";
    fs::rename(set("photos"), dtctl.folder() / "photos.pack");
    for (const std::string name : {"digits 1", "digits 2"}) {
      const auto folder = dtctl.folder() / name;
      REQUIRE(
          dtctl.run({"data", "make", "digits", "--out", folder, "--train", "10", "--test", "10", "--seed", name.substr(7)}).ok());
      ids_[id_of_digits(folder)] = name;
    }
    if (content_of_set.starts_with("digits"))
      fs::copy(dtctl.folder() / content_of_set, dt::Home(dtctl.home()).data() / "digits");
    else if (!content_of_set.empty())
      fs::copy(dtctl.folder() / (content_of_set + ".pack"), set("flowers"));
    fs::rename(dtctl.home(), dtctl.folder() / "saved");
    restore();
  }

  // The home as it was prepared.
  void restore()
  {
    supervisor_.reset();
    fs::remove_all(dtctl.home());
    fs::copy(dtctl.folder() / "saved", dtctl.home(), fs::copy_options::recursive);
    supervisor_ = dt::FileLock::acquire(queue_folder() / "supervisor.lock");
  }

  // What the home holds.
  std::string content() const
  {
    const dt::Home home(dtctl.home());
    std::multiset<std::string> lines;
    for (const auto& name : dt::names_in(home.data())) lines.insert("\nin data: " + name + content_of(home.data() / name));
    dt::store::Database database(home.database(), dt::store::Access::read_only);
    std::set<std::string> stored, known;
    for (const auto& row : dt::store::runs_where(database, "repeat>=0", 1000)) stored.insert(row.key);
    for (const auto& row : dt::store::list_studies(database, 1000)) known.insert(row.id);
    for (const auto& key : dt::names_in(home.runs())) {
      const auto run = dt::read_planned_run(home.run(key));
      lines.insert("\nrun of " + std::to_string(dt::attempt_numbers(home.run(key)).size()) + " attempts with data set " +
                   name_of(run.data_id) + (stored.erase(key) == 0 ? ", not in the database" : ""));
    }
    for (const auto& id : dt::names_in(home.studies()))
      lines.insert("\nstudy" + std::string(dt::read_study(home.study(id)) ? "" : " without a record") +
                   (known.erase(id) == 0 ? ", not in the database" : ""));
    std::string text;
    for (const auto& line : lines) text += line;
    if (!stored.empty() || !known.empty()) text += "\nsomething only in the database";
    for (const auto* folder : {"removed", "pending"})
      if (!dt::names_in(home.root() / folder).empty()) text += std::string("\nleft in ") + folder;
    return text;
  }

  Dtctl dtctl;

 private:
  fs::path set(const std::string& name) const { return dt::Home(dtctl.home()).packed_set(name); }
  fs::path queue_folder() const { return dt::jobs::local::Queue(dt::Home(dtctl.home())).supervisor_lock().parent_path(); }

  std::string name_of(const std::string& id) const { return ids_.contains(id) ? ids_.at(id) : "of unknown content"; }
  static std::string id_of_digits(const fs::path& folder)
  {
    dt::DataSpec digits;
    digits.name = "digits";
    return dt::data_id(digits, folder);
  }
  std::string content_of(const fs::path& path) const
  {
    if (path.filename() == "digits") return ", " + name_of(id_of_digits(path));
    if (path.extension() != dt::packed_extension) return "";
    try {
      const dt::PackedFile file(path);
      file.require_intact_index();
      std::string bytes;
      for (std::int64_t i = 0; i < file.size(); ++i) {
        file.read(i, bytes);
        if (!file.is_intact(i, bytes)) return ", damaged";
      }
      return ", " + name_of(file.id());
    } catch (const dt::Error& error) {
      return std::string(", damaged: ") + error.what();
    }
  }

  std::map<std::string, std::string> ids_;
  std::optional<dt::FileLock> supervisor_;
};

using Verbs = std::map<std::string, Words>;

// The verbs that are driven beside each other, and the homes in which they are: the contents of their data set.
struct Group {
  Verbs verbs;
  std::vector<std::string> contents;
};

const Group& packed()
{
  static const Group group{{{"data remove", {"data", "remove", "flowers", "--yes"}},
                            {"data import", {"data", "import", "a.pack", "--as", "flowers"}},
                            {"data import of another set", {"data", "import", "b.pack", "--as", "flowers"}},
                            {"data pack", {"data", "pack", "photos", "-o", "flowers", "--threads", "1"}},
                            {"data pack --force", {"data", "pack", "photos", "-o", "flowers", "--threads", "1", "--force"}},
                            {"sweep", {"sweep", "flowers.yaml"}},
                            {"submit --force", {"submit", "flowers.yaml", "--force"}}},
                           {"", "a", "photos"}};
  return group;
}

const Group& made()
{
  const Words make{"data", "make", "digits", "--train", "10", "--test", "10", "--seed"};
  static const Group group{{{"data remove", {"data", "remove", "digits", "--yes"}},
                            {"data make", dt::test::with(make, {"1"})},
                            {"data make with another seed", dt::test::with(make, {"2"})},
                            {"sweep", {"sweep", "digits.yaml"}}},
                           {"", "digits 1"}};
  return group;
}

struct Outcome {
  std::array<std::string, 2> ends, said;
  std::string content;
  bool operator<(const Outcome& other) const { return text() < other.text(); }
  std::string text() const { return "first " + ends[0] + ", second " + ends[1] + content; }
};

// The two programs on the home as it was prepared.
class Act {
 public:
  Act(Scene& scene, const Words& zero, const Words& one)
      : scene_((scene.restore(), scene)), pair_(scene.dtctl.command(zero), scene.dtctl.command(one),
                                                {{home() + "/"}, {"results.db"}, {home() + "/data/"}}, options())
  {
  }
  TracedPair& pair() { return pair_; }
  Outcome outcome() const
  {
    Outcome found{{pair_.end_of(0), pair_.end_of(1)}, {}, scene_.content()};
    for (std::size_t i = 0; i < 2; ++i) found.said[i] = dt::read_file(output(i));
    return found;
  }

 private:
  std::string home() const { return scene_.dtctl.home().string(); }
  std::string output(std::size_t which) const { return scene_.dtctl.folder() / ("said-" + std::to_string(which)); }
  TracedPair::Options options() const
  {
    for (std::size_t i = 0; i < 2; ++i) fs::remove(output(i));
    return {dt::test::tracing::Followed::processes, {output(0), output(1)}};
  }

  Scene& scene_;
  TracedPair pair_;
};

// The order in which they are run: first the one, then the other.
Outcome one_after_the_other(Scene& scene, const Words& zero, const Words& one, std::size_t first, int& calls)
{
  Act act(scene, zero, one);
  act.pair().run(first, 0);
  act.pair().run(1 - first, 0);
  calls = act.pair().calls_of(0);
  return act.outcome();
}

// Without the files of a call of `data pack` that says that it keeps them.
std::string without_kept(std::string content, const std::string& said)
{
  if (said.find("What this call has packed is kept in ") == said.npos) return content;
  for (const std::string line : {"\nin data: flowers.pack.journal", "\nin data: flowers.pack.partial"})
    if (const auto at = content.find(line); at != content.npos) content.erase(at, line.size());
  return content;
}

struct Counts {
  int orders = 0, waited = 0, refused = 0, failed = 0;
};

bool does_all() { return std::getenv("DTCTL_TEST_ALL_ORDERS") != nullptr; }

// Two verbs that are run beside each other in one home.
class Pair {
 public:
  Pair(Scene& scene, const Verbs& verbs, std::string name, std::string other)
      : scene_(scene), name_(std::move(name)), other_(std::move(other)), zero_(verbs.at(name_)),
        one_(verbs.at(other_)), expected_{one_after_the_other(scene, zero_, one_, 1, ignored_),
                                          one_after_the_other(scene, zero_, one_, 0, calls_)}
  {
  }

  // Stops the first at each of its calls, or at two of them, beginning with the one that `shift` gives.
  Counts drive(int shift) const
  {
    Counts counts;
    const int stride = does_all() ? 1 : std::max(1, calls_ / 2);
    for (int call = 1 + shift % stride; call <= calls_; call += stride)
      if (!drive_order(call, counts)) break;
    return counts;
  }

 private:
  // Returns false if the first ended before that call.
  bool drive_order(int call, Counts& counts) const
  {
    Act act(scene_, zero_, one_);
    if (act.pair().run(0, call) == TracedPair::At::end) return false;
    const bool waits = act.pair().run(1, 0) == TracedPair::At::lock;
    act.pair().run(0, 0);
    if (waits) act.pair().run(1, 0);
    const auto found = act.outcome();
    const bool is_serial = found.text() == expected_[0].text() || found.text() == expected_[1].text();
    const bool is_refused = !is_serial && (is_true_refusal(found, 0) || is_true_refusal(found, 1));
    INFO("dtctl " << name_ << " stopped before call " << call << " of " << calls_ << ", beside dtctl " << other_
                  << (waits ? ", which waited" : "") << "\noutcome: " << found.text() << "\nfirst said: " << found.said[0]
                  << "second said: " << found.said[1] << "expected: " << expected_[0].text() << "\nor: " << expected_[1].text());
    CHECK((is_serial || is_refused));
    ++counts.orders;
    counts.waited += waits ? 1 : 0;
    counts.refused += is_refused ? 1 : 0;
    counts.failed += is_serial || is_refused ? 0 : 1;
    return true;
  }

  // One of them did nothing, because it saw what the other did at this moment, and says so.
  bool is_true_refusal(const Outcome& found, std::size_t refused) const
  {
    const auto& said = found.said.at(refused);
    const bool says_so = std::ranges::any_of(
        std::array{"at this moment", "meanwhile", "after this command had read it", "Make it with: dtctl data make"},
        [&](const char* words) { return said.find(words) != said.npos; });
    if (!says_so || found.ends.at(refused) != "exit 2") return false;
    const Words nothing{"config", "get", "none"};
    int ignored = 0;
    const auto alone = refused == 0 ? one_after_the_other(scene_, nothing, one_, 1, ignored)
                                    : one_after_the_other(scene_, zero_, nothing, 0, ignored);
    return found.ends.at(1 - refused) == alone.ends.at(1 - refused) && without_kept(found.content, said) == alone.content;
  }

  Scene& scene_;
  std::string name_, other_;
  const Words &zero_, &one_;
  int calls_ = 0, ignored_ = 0;
  std::array<Outcome, 2> expected_;
};

// Runs the verb `name` beside each verb of its group, in each of the homes; without $DTCTL_TEST_ALL_ORDERS beside half of them,
// in the home with this content only.
void drive(const Group& group, const std::string& name, const std::string& sample)
{
  int shift = 0;
  const auto drawn = dt::test::drawn_half(group.verbs);
  for (const auto& content : group.contents) {
    if (!does_all() && content != sample) continue;
    Scene scene(content);
    for (const auto& [other, words] : group.verbs) {
      if (!drawn.contains(other)) continue;
      const auto counts = Pair(scene, group.verbs, name, other).drive(shift++);
      std::printf("%s beside %s, %s: %d orders, %d waited, %d refused, %d failed\n", name.c_str(), other.c_str(),
                  content.empty() ? "no set" : content.c_str(), counts.orders, counts.waited, counts.refused, counts.failed);
      std::fflush(stdout);
    }
  }
}

} // namespace

TEST_CASE("orders of data remove and each verb that uses packed sets") { drive(packed(), "data remove", "a"); }
TEST_CASE("orders of data import and each verb that uses packed sets") { drive(packed(), "data import", ""); }
TEST_CASE("orders of data import of another set and each verb that uses packed sets")
{
  drive(packed(), "data import of another set", "");
}
TEST_CASE("orders of data pack and each verb that uses packed sets") { drive(packed(), "data pack", "photos"); }
TEST_CASE("orders of data pack --force and each verb that uses packed sets") { drive(packed(), "data pack --force", "a"); }
TEST_CASE("orders of sweep and each verb that uses packed sets") { drive(packed(), "sweep", "a"); }
TEST_CASE("orders of submit --force and each verb that uses packed sets") { drive(packed(), "submit --force", "photos"); }
TEST_CASE("orders of data remove and each verb that uses made sets") { drive(made(), "data remove", "digits 1"); }
TEST_CASE("orders of data make and each verb that uses made sets") { drive(made(), "data make", ""); }
TEST_CASE("orders of sweep and each verb that uses made sets") { drive(made(), "sweep", "digits 1"); }
