// One life of an attempt: what its writer leaves in the folder, in which order, and what it leaves alone.
#include "core/record/attempt/attempt_writer.hpp"

#include "core/error.hpp"
#include "core/files/descriptor.hpp"
#include "tests/core/record/attempt.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/tiny_disk.hpp"

#include <atomic>
#include <future>
#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <sys/stat.h>

using namespace dt;
using test::eventually;

namespace {

namespace fs = std::filesystem;

const std::string fenced_by_2 = "fenced off by attempt 2: it writes nothing more";

struct Life : test::Attempt {
  AttemptWriter& begun()
  {
    REQUIRE(writer.begin({}).empty());
    return writer;
  }
  AttemptWriter& started(AttemptWriter::ThreadOptions options = {})
  {
    begun().start(std::move(options));
    return writer;
  }
  std::set<std::string> names() const
  {
    const auto all = names_in(attempt.path());
    return {all.begin(), all.end()};
  }
  std::map<std::string, std::string> content() const
  {
    std::map<std::string, std::string> texts;
    for (const auto& name : names_in(attempt.path())) texts[name] = read_file(attempt.path() / name);
    return texts;
  }
  std::string events() const { return read_file_if_exists(attempt.events()).value_or(""); }

  AttemptWriter writer{attempt};
};

StepEvent step_event(std::int64_t step) { return {.step = step, .loss = 1.0 / static_cast<double>(step), .learning_rate = {}}; }

// The ways in which a life ends, by the file that they leave; "": none. Each returns the writer's refusal.
std::string end(AttemptWriter& writer, const std::string& file)
{
  if (file == "result.json") return writer.commit({});
  if (file == "preempted.json") return writer.preempt({});
  if (file == "error.json") return writer.fail(own_error(0, "the loss is NaN", 2));
  writer.close();
  return writer.refusal();
}

const std::vector<std::string> ends{"result.json", "preempted.json", "error.json", ""};

// The message of the environment error that the action throws.
template<class Action> std::string refused(Action action)
{
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    return error.what();
  }
  return {};
}

} // namespace

TEST_CASE("an attempt's files come in order: begin.json, the reserve and a heartbeat, events.log with the first line, its end")
{
  const auto file = GENERATE(from_range(ends));
  Life life;
  life.begun();
  CHECK(life.names() == std::set<std::string>{"begin.json"});
  life.writer.start({.write_every_s = 0.001});
  CHECK(life.names() == std::set<std::string>{"begin.json", "heartbeat", "reserve"});
  CHECK(fs::file_size(life.attempt.reserve()) == 32 * 1024);
  life.writer.add(step_event(1));
  CHECK(eventually([&] { return fs::exists(life.attempt.events()) && parse_events(life.events()).steps.size() == 1; }));
  CHECK(end(life.writer, file).empty());
  std::set<std::string> left{"begin.json", "heartbeat", "events.log"};
  if (!file.empty()) left.insert(file);
  CHECK(life.names() == left);
}

TEST_CASE("whatever ends an attempt, its log has every line and its last heartbeat tells the last step")
{
  const auto file = GENERATE(from_range(ends));
  const bool has_thread = GENERATE(true, false);
  Life life;
  life.begun().progress(0, 70);
  if (has_thread)
    life.writer.start({.write_every_s = 1000});
  else
    life.writer.beat_if_due();
  for (int step = 1; step <= 1000; ++step) life.writer.add(step_event(step));
  life.writer.add(EvalEvent{.step = 1000, .loss = {}, .accuracy = 0.5});
  CHECK(end(life.writer, file).empty());
  const auto events = parse_events(life.events());
  REQUIRE(events.steps.size() == 1000);
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(events.steps[i].step == static_cast<std::int64_t>(i) + 1);
  REQUIRE(events.evals.size() == 1);
  CHECK(events.evals[0].accuracy == 0.5);
  const auto beat = read_heartbeat(life.attempt);
  REQUIRE(beat);
  CHECK(beat->step == 1000);
  CHECK(beat->steps == 70);
}

TEST_CASE("a fenced attempt writes nothing more, and every end says which attempt has taken its place")
{
  const auto file = GENERATE(from_range(ends));
  const bool has_thread = GENERATE(true, false);
  Life life;
  life.begun();
  if (has_thread) life.writer.start({.write_every_s = 1000});
  life.writer.add(step_event(1));
  if (!has_thread) {
    life.writer.write();
    life.writer.beat_if_due();
  }
  REQUIRE(fence(life.attempt, 2));
  auto before = life.content();
  life.writer.add(step_event(2));
  CHECK(end(life.writer, file) == fenced_by_2);
  life.writer.write();
  life.writer.beat_if_due();
  CHECK(record_error(life.attempt, own_error(1, "the loss is NaN")) == fenced_by_2);
  auto after = life.content();
  before.erase("reserve");
  after.erase("reserve");
  CHECK(after == before);
}

TEST_CASE("of a fenced attempt nothing is begun, and dtjob records the end of its job but no preemption")
{
  Life life;
  REQUIRE(fence(life.attempt, 2));
  CHECK(life.writer.begin({}) == fenced_by_2);
  CHECK_FALSE(life.writer.has_begun());
  CHECK(record_preemption(life.attempt, {}) == fenced_by_2);
  CHECK(life.names() == std::set<std::string>{"result.json"});
  record_end(life.attempt, {1, 103});
  CHECK(life.names() == std::set<std::string>{"result.json", "end"});
}

TEST_CASE("the writer's thread tells of a cancellation with every heartbeat, and of a fence once, as the last thing")
{
  Life life;
  std::atomic<int> cancelled = 0, told = 0;
  std::string why;
  life.started({.write_every_s = 0.001,
                .beat_every_s = 0.001,
                .refused =
                    [&](const std::string& refusal) {
                      why = refusal;
                      ++told;
                    },
                .cancelled = [&] { ++cancelled; }});
  CHECK(cancelled == 0);
  replace_file(life.attempt.cancel(), "1 somebody\n");
  REQUIRE(eventually([&] { return cancelled > 1; }));
  REQUIRE(fence(life.attempt, 2));
  REQUIRE(eventually([&] { return told > 0; }));
  const int then = cancelled;
  CHECK(life.writer.commit({}) == fenced_by_2); // ends the thread
  CHECK(why == fenced_by_2);
  CHECK(told == 1);
  CHECK(cancelled == then);
}

TEST_CASE("an attempt that another process has begun is left alone")
{
  Life life;
  life.begun();
  AttemptWriter second(life.attempt);
  const auto before = life.content();
  const auto refusal = second.begin({});
  CHECK_THAT(refusal, Catch::StartsWith(life.attempt.begin().string() + " exists") && Catch::Contains("dtctl retry"));
  CHECK(second.begin({}) == refusal);
  second.add(step_event(1));
  second.write();
  second.beat_if_due();
  CHECK(second.fail(own_error(0, "another's")) == refusal);
  CHECK(second.commit({}) == refusal);
  CHECK(life.content() == before);
}

TEST_CASE("a begin.json that a failed try of the same writer may have left is its own")
{
  Life life;
  fs::remove_all(life.attempt.path());
  CHECK(refused([&] { life.writer.begin({}); }) == "create " + life.attempt.begin().string() + ": No such file or directory");
  make_folders(life.attempt.path());
  replace_file(life.attempt.begin(), to_json(BeginRecord{}));
  CHECK(life.writer.begin({}).empty());
  CHECK(life.writer.has_begun());
}

TEST_CASE("before begin.json nothing is written, and lines that were added wait for it")
{
  Life life;
  life.writer.add(step_event(1));
  life.writer.write();
  life.writer.beat_if_due();
  CHECK(life.names().empty());
  life.begun().write();
  CHECK(parse_events(life.events()).steps.size() == 1);
}

TEST_CASE("the heart beats from the start, during a long step, and tells the progress")
{
  Life life;
  auto& writer = life.started({.write_every_s = 0.01, .beat_every_s = 0.02});
  const auto first = read_heartbeat(life.attempt);
  REQUIRE(first);
  CHECK(first->step == 0);
  writer.progress(0, 70);
  writer.add(step_event(7));
  CHECK(eventually([&] { return read_heartbeat(life.attempt)->step == 7; }));
  CHECK(read_heartbeat(life.attempt)->steps == 70);
  const auto then = read_heartbeat(life.attempt)->unix_s;
  CHECK(eventually([&] { return read_heartbeat(life.attempt)->unix_s > then; }));
}

TEST_CASE("a heartbeat that cannot be written is an error of its caller, is due again, and ends no run")
{
  Life life;
  life.begun();
  fs::create_directory(life.attempt.heartbeat());
  const auto message = "rename to " + life.attempt.heartbeat().string() + ": Is a directory";
  for (int i = 0; i < 2; ++i) CHECK(refused([&] { life.writer.beat_if_due(); }) == message);
  CHECK(life.writer.commit({}).empty());
  fs::remove(life.attempt.heartbeat());
  life.writer.beat_if_due();
  CHECK(read_heartbeat(life.attempt));
}

TEST_CASE("a removed folder stops the training with the file's name")
{
  Life life;
  auto& writer = life.started({.write_every_s = 0.001, .beat_every_s = 1000});
  writer.add(step_event(1));
  REQUIRE(eventually([&] { return !life.events().empty(); })); // then no file appears while the folder is removed
  fs::remove_all(life.attempt.path());
  const auto message = "open " + life.attempt.events().string() + ": No such file or directory";
  CHECK(eventually([&] { return refused([&] { writer.add(step_event(2)); }) == message; }));
}

TEST_CASE("a log that was removed is not made anew without its first lines")
{
  Life life;
  life.begun().add(step_event(1));
  life.writer.write();
  fs::remove(life.attempt.events());
  life.writer.add(step_event(2));
  CHECK(refused([&] { life.writer.write(); }) == "open " + life.attempt.events().string() + ": No such file or directory");
}

TEST_CASE("a run whose lines cannot be written has no result and is not preempted, but its error is recorded")
{
  Life life;
  life.started({.write_every_s = 1000}).add(step_event(1));
  fs::create_directory(life.attempt.events());
  const auto message = "open " + life.attempt.events().string() + ": Is a directory";
  CHECK(refused([&] { life.writer.commit({}); }) == message);
  CHECK(refused([&] { life.writer.preempt({}); }) == message);
  CHECK(refused([&] { life.writer.close(); }) == message);
  CHECK(life.names() == std::set<std::string>{"begin.json", "heartbeat", "events.log"}); // preempt() has freed the reserve
  CHECK(life.writer.fail(own_error(0, message)).empty());
  CHECK(read_error(life.attempt)->cause == message);
  CHECK_FALSE(fs::exists(life.attempt.reserve()));
}

TEST_CASE("an attempt fails in limited time although its thread hangs, and its error is recorded without the remaining lines")
{
  Life life;
  std::promise<void> hangs, released;
  replace_file(life.attempt.cancel(), "1 somebody\n");
  std::atomic<int> calls = 0;
  auto& writer = life.started({.write_every_s = 0.001,
                               .beat_every_s = 0,
                               .cancelled =
                                   [&] {
                                     if (++calls != 2) return; // the first one comes from start()
                                     hangs.set_value();
                                     released.get_future().wait();
                                   },
                               .fail_within_s = 0.5});
  hangs.get_future().wait();
  writer.add(step_event(1));
  auto failing = std::async(std::launch::async, [&] { return writer.fail(own_error(0, "the loss is NaN", 1)); });
  const bool is_over = failing.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
  CHECK(is_over);
  if (is_over) {
    CHECK(read_error(life.attempt)->cause == "the loss is NaN");
    CHECK(life.events().empty());
    CHECK_FALSE(fs::exists(life.attempt.reserve()));
  }
  released.set_value();
  CHECK(failing.get().empty());
}

TEST_CASE(
    "a FIFO in the place of events keeps nobody waiting, and the error of the run, or of a rank, is recorded in limited time")
{
  Life life;
  life.started({.write_every_s = 1000, .fail_within_s = 0.5}).add(step_event(1));
  REQUIRE(::mkfifo(life.attempt.events().c_str(), 0600) == 0); // opening it for writing would wait for a reader
  CHECK(life.writer.fail(own_error(0, "the loss is NaN", 1)).empty());
  CHECK(read_error(life.attempt)->cause == "the loss is NaN");
  const Life other;
  const auto message = other.attempt.error().string() + " could not be written within 0 s: the file system does not answer.";
  const auto why = refused([&] { record_error(other.attempt, own_error(1, "the loss is NaN"), 0); });
  CHECK((why.empty() || why == message));                                   // empty: the thread was faster than this one
  CHECK(eventually([&] { return read_error(other.attempt).has_value(); })); // what began goes on when the file system answers
}

TEST_CASE(
    "dtjob's records of launches, of a preemption and of the end are read as they were written, and find the reserve's place")
{
  const Life life;
  record_launch(life.attempt, {1, 100, 134});
  record_launch(life.attempt, {2, 101, 0});
  const auto launches = read_launches(life.attempt);
  REQUIRE(launches.size() == 2);
  CHECK((launches[0].number == 1 && launches[0].unix_s == 100 && launches[0].exit_code == 134));
  CHECK((launches[1].number == 2 && launches[1].unix_s == 101 && launches[1].exit_code == 0));
  replace_file(life.attempt.reserve(), "room");
  CHECK(record_preemption(life.attempt, {102, 7, 70, "step-7.safetensors", "SIGUSR1"}).empty());
  CHECK_FALSE(fs::exists(life.attempt.reserve()));
  CHECK(read_preemption(life.attempt)->checkpoint == "step-7.safetensors");
  replace_file(life.attempt.reserve(), "room");
  record_end(life.attempt, {75, 103});
  CHECK_FALSE(fs::exists(life.attempt.reserve()));
  CHECK(read_file(life.attempt.end()) == "exit 75 103.000\n");
}

TEST_CASE("of the errors of several ranks the first one stays")
{
  Life life;
  life.started();
  CHECK(record_error(life.attempt, own_error(3, "the first")).empty());
  CHECK(life.writer.fail(own_error(0, "the second", 7)).empty());
  const auto error = read_error(life.attempt);
  REQUIRE(error);
  CHECK(error->rank == 3);
  CHECK(error->cause == "the first");
  CHECK(error->step == -1);
}

TEST_CASE("a disk that fills up stops the training with the file's name, whole lines before it stay, and the error has its place")
{
  Life life;
  const test::TinyDisk disk(life.attempt.path(), 64 * 1024);
  if (!disk.is_mounted()) {
    WARN("SKIPPED: mounting a small file system needs root");
    return;
  }
  auto& writer = life.started({.write_every_s = 0.001});
  const auto message = refused([&] {
    for (std::int64_t step = 1; step < 1'000'000; ++step) writer.add(step_event(step));
  });
  CHECK(message == "write " + life.attempt.events().string() + ": No space left on device");
  CHECK_THROWS_WITH(writer.close(), message);
  CHECK_FALSE(parse_events(life.events()).steps.empty());
  CHECK(writer.fail(own_error(0, message)).empty());
  CHECK(read_error(life.attempt)->cause == message);
}

TEST_CASE("lines that a full disk took in part are written once as soon as there is room")
{
  Life life;
  const test::TinyDisk disk(life.attempt.path(), 64 * 1024);
  if (!disk.is_mounted()) return; // needs root
  auto& writer = life.begun();
  std::string expected;
  const auto add = [&](std::int64_t step) {
    writer.add(step_event(step));
    append_line(expected, step_event(step));
  };
  for (std::int64_t step = 1; step <= 10'000; ++step) add(step); // more than the disk holds
  const auto message = "write " + life.attempt.events().string() + ": No space left on device";
  for (int i = 0; i < 3; ++i) CHECK(refused([&] { writer.write(); }) == message);
  CHECK(!life.events().empty());
  CHECK(expected.starts_with(life.events()));
  add(10'001);
  REQUIRE(::mount("none", life.attempt.path().c_str(), nullptr, MS_REMOUNT, "size=4194304") == 0);
  writer.write();
  writer.write();
  CHECK(life.events() == expected);
}
