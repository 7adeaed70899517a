// Files that cannot be read, are no files, belong to somebody else, or hold what must not be shown: with the real dtctl.
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/run_record.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/unreadable.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

using namespace dt;
using namespace dt::test;
namespace fs = std::filesystem;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A home with one run that has succeeded.
struct Done {
  Dtctl dtctl;
  std::string recipe;

  explicit Done(const std::string& more = "") : recipe(dtctl.write("tiny.yaml", tiny_recipe(more)).string())
  {
    const auto result = dtctl.run({"submit", recipe, "--wait"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }
  fs::path run() const { return fs::directory_iterator(dtctl.home() / "runs")->path(); }
  AttemptFolder attempt() const { return {run(), 1}; }
};

unsigned mode_of(const fs::path& path) { return static_cast<unsigned>(fs::status(path).permissions()); }

} // namespace

TEST_CASE("a finished run whose files cannot be read is not submitted again")
{
  const Done done;
  const auto script = read_file(done.attempt().script());
  make_unreadable(done.run() / "attempts");
  fs::remove(done.dtctl.home() / "results.db"); // which knows that it has succeeded
  const auto again = done.dtctl.run({"submit", done.recipe});
  CHECK(again.exit_code == 74);
  CHECK(read_file(done.run() / "attempts.aside" / "1" / "job.sh") == script);
  CHECK(fs::is_symlink(done.run() / "attempts"));
}

TEST_CASE("db rebuild with runs that cannot be listed keeps the database and ends with 74")
{
  const Done done;
  make_unreadable(done.dtctl.home() / "runs");
  const auto rebuilt = done.dtctl.run({"db", "rebuild"});
  CHECK(rebuilt.exit_code == 74);
  CHECK(holds(rebuilt.err, (done.dtctl.home() / "runs").string()));
  const auto counted = done.dtctl.json({"query", "select count(*) as n from runs where state = 'succeeded'"});
  CHECK(counted["rows"][0]["n"] == 1);
}

TEST_CASE("a database without a byte is made again from the runs, as a missing one is")
{
  const Done done;
  for (const auto* suffix : {"-wal", "-shm"}) fs::remove(done.dtctl.home() / (std::string("results.db") + suffix));
  fs::resize_file(done.dtctl.home() / "results.db", 0);
  const std::string verb = GENERATE("status --all", "db migrate");
  CHECK(done.dtctl.run(verb == "status --all" ? Words{"status", "--all"} : Words{"db", "migrate"}).exit_code == 0);
  CHECK(done.dtctl.json({"query", "select count(*) as n from runs where state = 'succeeded'"})["rows"][0]["n"] == 1);
}

TEST_CASE("a database of another version, or that lost a column, gets what is missing from the run folders, in the next call")
{
  const Done done;
  const auto change = [&](const std::string& sql) {
    const auto changed = run_command({"sqlite3", (done.dtctl.home() / "results.db").string(), sql});
    INFO(changed.err);
    REQUIRE(changed.exit_code == 0);
  };
  change("DROP VIEW times_to_target; DROP VIEW runs_flat; DROP VIEW runs_results; DROP VIEW scaling; DROP TABLE points; "
         "ALTER TABLE results DROP COLUMN wall_s; UPDATE format SET schema_hash = 'older'");
  const auto found =
      done.dtctl.json({"query", "select wall_s > 0 as measured, (select count(*) from scaling) as points from runs_flat"});
  INFO(found.dump(1));
  CHECK(found["rows"][0]["measured"] == 1);
  CHECK(found["rows"][0]["points"] == 1);
  change("ALTER TABLE attempts DROP COLUMN fenced_by");
  const auto checked = done.dtctl.run({"db", "check"}); // does not call it sound
  CHECK(checked.exit_code == 74);
  CHECK(holds(checked.err, "dtctl db migrate"));
  CHECK(done.dtctl.run({"status", "last"}).exit_code == 0);
  CHECK(done.dtctl.run({"db", "check"}).exit_code == 0);
  CHECK(done.dtctl.json({"query", "select fenced_by is null as is_null from attempts"})["rows"][0]["is_null"] == 1);
}

TEST_CASE("a FIFO in a record's place and a schema of another type are told, and nothing waits or breaks")
{
  const Done done;
  fs::remove(done.dtctl.home() / "results.db");
  const auto result = done.attempt().result();
  fs::rename(result, result.string() + ".aside");
  write_file_atomic(done.attempt().stall(), R"({"schema":[1]})");
  CHECK(done.dtctl.run({"status", "last"}).exit_code == 0);
  fs::remove(done.dtctl.home() / "results.db");
  REQUIRE(::mkfifo(result.c_str(), 0600) == 0);
  const auto status = done.dtctl.run({"status", "last"});
  CHECK(status.exit_code == 74);
  CHECK(holds(status.out, "unknown"));
}

TEST_CASE("another user's dtctl.yaml is ignored with a warning, and one's own is named")
{
  const Dtctl dtctl;
  const auto recipe = dtctl.write("tiny.yaml", tiny_recipe()).string();
  const auto file = dtctl.write("dtctl.yaml", "profiles: {default: {resources: {env: {FROM_PROJECT: x}}}}\n");
  fs::permissions(file, fs::perms(0644));
  const auto own = dtctl.run({"validate", recipe});
  CHECK(own.exit_code == 0);
  CHECK(holds(own.err, file.string()));
  CHECK(dtctl.run({"validate", "-q", recipe}).err.empty());
  fs::permissions(file, fs::perms(0666));
  const auto open = dtctl.run({"sweep", "--dry-run", recipe, "--scripts"});
  CHECK(holds(open.err, "warning: " + file.string() + " is ignored"));
  CHECK_FALSE(holds(open.out, "FROM_PROJECT"));
  if (::geteuid() != 0) return;
  fs::permissions(file, fs::perms(0644));
  REQUIRE(::chown(file.c_str(), 54321, 54321) == 0);
  const auto theirs = dtctl.run({"sweep", "--dry-run", recipe, "--scripts"});
  CHECK(holds(theirs.err, "warning: " + file.string() + " is ignored"));
  CHECK_FALSE(holds(theirs.out, "FROM_PROJECT"));
  CHECK(dtctl.json({"config", "paths"})["project_config"].is_null());
}

TEST_CASE("secrets stand in the run's own files, which are its owner's alone, and nowhere else")
{
  const std::string random_text = "q7Rw2LkZ9xVb4NcT8mHs";
  const Done done("resources: {env: {API_TOKEN: hunter2, HARMLESS: shown, SSHPASS: hunter2, DSN: hunter2, BEARER: hunter2,\n"
                  "  DATABASE_URL: 'postgres://u:hunter2@h', SETTING: " +
                  random_text + "}}\ndescription: see http://u:hunter2@h\n");
  for (const auto& words : {Words{"show", "last", "--recipe"}, Words{"show", fs::path(done.run()).filename().string()},
                            Words{"query", "select * from runs"}, Words{"query", "select * from studies"},
                            Words{"query", "select * from runs_flat"}, Words{"export", "last", "--format", "json"},
                            Words{"sweep", "--dry-run", done.recipe, "--scripts"}, Words{"explain", "last"}}) {
    const auto shown = done.dtctl.run(words);
    INFO(words[0]);
    CHECK(shown.exit_code == 0);
    for (const auto& secret : {std::string("hunter2"), random_text}) {
      CHECK_FALSE(holds(shown.out + shown.err, secret));
      CHECK_FALSE(holds(done.dtctl.run(with(words, {"--json"})).out, secret));
    }
  }
  REQUIRE(done.dtctl.run({"report", "last", "-o", "report.html"}).exit_code == 0);
  for (const auto& file : {done.dtctl.folder() / "report.html", done.dtctl.home() / "results.db"})
    for (const auto& secret : {std::string("hunter2"), random_text}) CHECK_FALSE(holds(read_file(file), secret));
  CHECK(holds(done.dtctl.run({"query", "select resources_env from runs"}).out, "shown"));
  CHECK(holds(read_file(spec_path(done.run())), "hunter2"));
  CHECK(mode_of(done.dtctl.home()) == 0700);
  for (const auto& file : fs::recursive_directory_iterator(done.dtctl.home())) {
    const auto name = file.path().filename();
    INFO(file.path());
    const bool may_hold = name == "spec.json" || name == "job.sh" || name == "study.json" || name == "stdout" ||
                          name.string().starts_with("results.db");
    if (may_hold) CHECK(mode_of(file.path()) == 0600);
  }
}

TEST_CASE("a home that is open to others is warned of when variables are kept in it")
{
  const Dtctl dtctl;
  const auto recipe = dtctl.write("tiny.yaml", tiny_recipe("resources: {env: {HARMLESS: x}}\n")).string();
  fs::create_directories(dtctl.home());
  fs::permissions(dtctl.home(), fs::perms(0755));
  const auto result = dtctl.run({"submit", recipe, "--wait"});
  CHECK(result.exit_code == 0);
  CHECK(holds(result.err, "is open to other users (mode 0755)"));
  CHECK(mode_of(dtctl.home()) == 0755); // the user's decision
}

TEST_CASE("a query ends at its time limit also inside of one function")
{
  const Dtctl dtctl;
  const Words words{"query", "select instr(hex(zeroblob(20000000)), hex(zeroblob(10000000)) || '1')", "--timeout", "1"};
  const auto result = dtctl.run(words);
  CHECK(result.exit_code == 2);
  CHECK(holds(result.err, "it ran longer than 1 s"));
}

TEST_CASE("what a run printed cannot turn the terminal's text around")
{
  const Done done;
  write_file_atomic(done.attempt().out(), "before \u202Eafter \x1b[2J\n");
  const auto shown = done.dtctl.in_terminal({"logs", "last"}, 80);
  CHECK(holds(shown, "before \\xe2\\x80\\xaeafter \\x1b[2J\n"));
  CHECK(holds(done.dtctl.run({"logs", "last"}).out, "before \\xe2\\x80\\xaeafter \\x1b[2J\n")); // a pipe may end in a terminal
  CHECK(done.dtctl.json({"logs", "last"}).at("stdout") == "before \u202Eafter \x1b[2J\n");
  const auto attempt = done.attempt(); // of a failed run, explain shows it
  fs::remove(attempt.result());
  write_file_atomic(attempt.end(), "exit 1 1700000000\n");
  write_file_atomic(attempt.err(), "Traceback (most recent call last):\nValueError: \x1b[2J\u202Egone \x1b]0;title\x07\n");
  fs::remove(done.dtctl.home() / "results.db");
  const auto explained = done.dtctl.run({"explain", "last"});
  CHECK(holds(explained.out, "ValueError: "));
  for (const auto* raw : {"\x1b", "\u202E", "\x07"}) CHECK_FALSE(holds(explained.out, raw));
}

TEST_CASE("a run with a record that cannot be stored is listed as unknown with file and line, and the other runs are shown")
{
  const Done done;
  const auto file = done.attempt().events();
  REQUIRE(done.dtctl.run({"submit", done.recipe, "--wait", "--set", "train.seed=7"}).exit_code == 0);
  write_file_atomic(file, "step -9223372036854775808 0 0 1 0.1 0.1 0 0 0 0 0\n" + read_file(file));
  fs::remove(done.dtctl.home() / "results.db");
  const auto where = file.string() + ":1 is damaged";
  const auto listed = done.dtctl.run({"status", "all"});
  INFO(listed.out + listed.err);
  CHECK(listed.exit_code == 74);
  CHECK(holds(listed.err, where));
  CHECK(holds(listed.out, "unknown"));
  CHECK(holds(listed.out, "succeeded"));
  const auto rebuilt = done.dtctl.run({"db", "rebuild"});
  CHECK(rebuilt.exit_code == 0);
  CHECK(holds(rebuilt.err, where));
}

TEST_CASE("a report without the recipe that it should have says so and does not end with 0")
{
  const Done done;
  const auto record = fs::directory_iterator(done.dtctl.home() / "studies")->path() / "study.json";
  write_file_atomic(record, read_file(record).substr(0, 40)); // as a read that ends early
  const auto reported = done.dtctl.run({"report", "last", "-o", "report.html"});
  CHECK(reported.exit_code == 74);
  CHECK(holds(reported.err, record.string() + " is damaged"));
  CHECK(holds(read_file(done.dtctl.folder() / "report.html"), "is missing or damaged"));
}

TEST_CASE("a recipe that extends a FIFO is refused, and nobody waits for a writer")
{
  const Dtctl dtctl;
  const auto fifo = dtctl.folder() / "base.yaml";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const auto recipe = dtctl.write("tiny.yaml", "extends: base.yaml\n" + tiny_recipe()).string();
  for (const auto& words : {Words{"validate", recipe}, Words{"validate", fifo.string()}}) {
    const auto validated = dtctl.run(words);
    CHECK(validated.exit_code == 2);
    CHECK(holds(validated.err, fifo.string()));
  }
  // A pipe of the shell has a writer.
  const auto piped = run_command(
      {"bash", "-c", "\"$0\" validate <(cat \"$1\")", Dtctl::program(), dtctl.write("plain.yaml", tiny_recipe()).string()});
  INFO(piped.err);
  CHECK(piped.exit_code == 0);
}
