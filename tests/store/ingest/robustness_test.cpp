// What a machine does to a database: full disks, read-only folders, other processes, kills.
#include "tests/store/fixture.hpp"

#include "store/database/sqlite.hpp"
#include "tests/support/tiny_disk.hpp"
#include "tests/support/traced_program.hpp"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

// A file system of its own in memory; none where mounting is not allowed.
struct Tmpfs {
  explicit Tmpfs(std::size_t bytes) : disk(folder.path(), bytes)
  {
    if (!mounted()) WARN("this machine lets us mount nothing; the test is left out");
  }
  void make_read_only() const { REQUIRE(::mount(nullptr, path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0); }
  bool mounted() const { return disk.is_mounted(); }
  const std::filesystem::path& path() const { return folder.path(); }
  dt::test::TemporaryFolder folder;
  dt::test::TinyDisk disk;
};

// Another process that does `work` and ends with 0, or with 1 when it throws.
class Child {
 public:
  explicit Child(const std::function<void()>& work) : pid_(::fork())
  {
    if (pid_ != 0) return;
    try {
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child()
  {
    if (pid_ > 0) kill_and_wait();
  }
  void kill_and_wait()
  {
    ::kill(pid_, SIGKILL);
    wait();
  }
  int wait()
  {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

// A child that holds something open until it is killed, and says when it does.
class Holder {
 public:
  explicit Holder(const std::function<void(const std::function<void()>& hold)>& work)
  {
    REQUIRE(::pipe(pipe_) == 0);
    child_ = std::make_unique<Child>([&] {
      work([&] {
        (void)!::write(pipe_[1], "x", 1);
        for (;;) ::pause();
      });
    });
    char ready = 0;
    REQUIRE(::read(pipe_[0], &ready, 1) == 1);
  }
  ~Holder()
  {
    child_.reset();
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

 private:
  int pipe_[2] = {-1, -1};
  std::unique_ptr<Child> child_;
};

// Finished runs, enough of them that taking them in takes a while.
struct Sweep : Site {
  explicit Sweep(int count, std::int64_t steps = 200)
  {
    for (int i = 0; i < count; ++i) {
      runs.push_back(run_well(sample_spec(2, i), 190));
      put_file(AttemptFolder(home.run(runs.back().key), 1).events(), step_lines(1, steps));
      keys.push_back(runs.back().key);
    }
    record = study(runs);
  }
  IngestReport take_in() const
  {
    auto database = open();
    ingest_study(database, record);
    return ingest_runs(database, home, judge(keys));
  }
  std::vector<PlannedRun> runs;
  std::vector<std::string> keys;
  StudyRecord record;
};

} // namespace

TEST_CASE("a database that may not grow any more keeps what it has")
{
  const Sweep sweep(30);
  auto database = sweep.open();
  database.impl().connection.execute("PRAGMA max_page_count = 120");
  const auto error = error_of([&] { sweep.ingest(database, sweep.runs); });
  CHECK(error == "environment: " + sweep.home.database().string() +
                     ": no space left on the disk (database or disk is full). Earlier results are kept. Make room, for example "
                     "with: dtctl remove STUDY --runs");
  CHECK(database.check().empty());
  const auto kept = std::stoi(ask_text(database, "SELECT count(*) FROM runs WHERE state = 'succeeded'"));
  CHECK(kept > 0);
  CHECK(kept < 30);
  database.impl().connection.execute("PRAGMA max_page_count = 100000");
  const auto report = sweep.ingest(database, sweep.runs);
  CHECK(report.runs_unchanged == static_cast<std::size_t>(kept));
  CHECK(report.runs_added == static_cast<std::size_t>(30 - kept));
}

TEST_CASE("a disk that fills up while runs are taken in is an environment error, and the database stays whole")
{
  const Sweep sweep(60);
  const Tmpfs disk(1 << 20);
  if (!disk.mounted()) return;
  const auto file = disk.path() / "results.db";
  int kept = 0;
  {
    Database database(file, Access::read_write);
    const auto error = error_of([&] { sweep.ingest(database, sweep.runs); });
    CHECK_THAT(error, Catch::StartsWith("environment: " + file.string() + ": "));
    CHECK_THAT(error, Catch::Contains("no space left on the disk") || Catch::Contains("the disk failed or is full"));
    kept = std::stoi(ask_text(database, "SELECT count(*) FROM runs"));
    CHECK(kept > 0);
  }
  Database again(file, Access::read_write);
  CHECK(again.check().empty());
  CHECK(std::stoi(ask_text(again, "SELECT count(*) FROM runs")) == kept);
}

TEST_CASE("a database on a full disk is read as a whole, also what a killed process has left in its write-ahead log")
{
  const Sweep sweep(2);
  const Tmpfs disk(4 << 20);
  if (!disk.mounted()) return;
  const auto file = disk.path() / "results.db";
  const std::filesystem::path log = file.string() + "-wal";
  {
    const Holder killed([&](const auto& hold) {
      Database database(file, Access::read_write);
      sweep.ingest(database, sweep.runs);
      hold();
    });
  }
  REQUIRE(std::filesystem::file_size(log) > 0);
  std::ofstream ballast(disk.path() / "ballast", std::ios::binary);
  for (int i = 0; i < 4096 && ballast; ++i) ballast << std::string(1024, '\0') << std::flush;
  REQUIRE_FALSE(ballast);
  std::filesystem::remove(file.string() + "-shm");
  ballast.clear();
  while (ballast) ballast << std::string(1024, '\0') << std::flush;
  CHECK_THROWS_WITH(Database(file, Access::read_write), Catch::Contains("no space left on the disk"));
  const auto stored = [&] {
    Database reader(file, Access::read_only);
    CHECK(reader.check().empty());
    return ask_text(reader, "SELECT count(*) FROM steps");
  };
  CHECK(stored() == "400");
  CHECK(stored() == "400");
  std::filesystem::remove(disk.path() / "ballast");
  CHECK(stored() == "400");
}

TEST_CASE("a database in a read-only folder is read, and writing to it is an environment error")
{
  const Sweep sweep(1);
  const Tmpfs disk(4 << 20);
  if (!disk.mounted()) return;
  const auto file = disk.path() / "results.db";
  {
    Database database(file, Access::read_write);
    sweep.ingest(database, sweep.runs);
  }
  disk.make_read_only();
  Database reader(file, Access::read_only);
  CHECK(ask_text(reader, "SELECT count(*) FROM steps") == "200");
  CHECK(error_of([&] { Database(disk.path() / "new.db", Access::read_write); }) ==
        "environment: " + (disk.path() / "new.db").string() +
            " cannot be created (Read-only file system). Make its folder writable, or set DTCTL_HOME to another folder");
  CHECK(error_of([&] {
          Database writer(file, Access::read_write);
          sweep.ingest(writer, {sweep.runs[0]});
          ingest_study(writer, sweep.record);
        }).starts_with("environment: "));
}

TEST_CASE("a database that another process keeps locked gives up after its time, having changed nothing")
{
  const Sweep sweep(2);
  sweep.open();
  const auto file = sweep.home.database();
  const auto expected = "environment: " + file.string() + " stayed locked for 0.1 s by process ";
  const auto advice = "). Nothing was changed. Try again when the other dtctl has ended";
  {
    const Holder holder([&](const auto& hold) {
      const auto lock = FileLock::acquire(file.string() + ".lock");
      hold();
    });
    Database database(file, Access::read_write, 0.1);
    CHECK_THAT(error_of([&] { sweep.ingest(database, sweep.runs); }), Catch::StartsWith(expected) && Catch::EndsWith(advice));
  }
  {
    const Holder holder([&](const auto& hold) {
      Connection other(file, SQLITE_OPEN_READWRITE, 1);
      Transaction transaction(other);
      hold();
    });
    Database database(file, Access::read_write, 0.1);
    CHECK_THAT(error_of([&] { sweep.ingest(database, sweep.runs); }), Catch::StartsWith(expected) && Catch::EndsWith(advice));
    CHECK(ask_text(database, "SELECT count(*) FROM runs") == "0"); // reading goes on meanwhile
  }
  CHECK(sweep.take_in().runs_added == 2);
}

TEST_CASE("a process that is stopped while it recovers the database is named, and after it the database is whole")
{
  const Sweep sweep(1);
  sweep.take_in();
  const auto file = sweep.home.database();
  // A process that was killed leaves a log and an index that nobody trusts. Another one has begun to recover, and is stopped.
  Child killed([&] {
    Connection writer(file, SQLITE_OPEN_READWRITE, 1);
    writer.execute("PRAGMA wal_autocheckpoint = 0");
    writer.execute("UPDATE runs SET cause = 'recovered'");
    ::kill(::getpid(), SIGKILL);
  });
  killed.wait();
  REQUIRE(holds_anything(file.string() + "-wal"));
  {
    const Holder holder([&](const auto& hold) {
      const int index = ::open((file.string() + "-shm").c_str(), O_RDWR);
      const std::string zeros(136, '\0');
      (void)!::pwrite(index, zeros.data(), zeros.size(), 0);
      struct flock lock {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      lock.l_start = 120; // the byte that a writer, and who recovers, locks
      lock.l_len = 1;
      ::fcntl(index, F_SETLK, &lock);
      hold();
    });
    const auto error = error_of([&] { sweep.open(); });
    CHECK_THAT(error,
               Catch::StartsWith("environment: " + file.string() + " stayed locked for ") && Catch::Contains(" s by process "));
  }
  auto database = sweep.open();
  CHECK(ask_text(database, "SELECT cause FROM runs") == "recovered");
}

TEST_CASE("an ingest killed at any moment leaves a whole database and is resumed")
{
  const Sweep sweep(40);
  const auto file = sweep.home.database();
  const auto taken_in = [&] {
    try {
      return Connection(file, SQLITE_OPEN_READONLY, 1).integer_of("SELECT count(*) FROM runs WHERE state = 'succeeded'");
    } catch (const Error&) {
      return std::int64_t{0}; // not made yet
    }
  };
  for (const int moment : {0, 1, 2, 3, 5, 8, 13, 21, 30, 38}) {
    for (const auto* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(file.string() + suffix);
    Child child([&] { sweep.take_in(); });
    while (taken_in() < moment) std::this_thread::yield();
    child.kill_and_wait();
    const auto report = sweep.take_in();
    CHECK(report.runs_unchanged >= static_cast<std::size_t>(moment));
    CHECK(report.runs_unchanged + report.runs_added == 40);
    auto database = sweep.open();
    CHECK(database.check().empty());
    CHECK(ask_text(database, "SELECT count(*) FROM runs_flat WHERE state = 'succeeded'") == "40");
    CHECK(ask_text(database, "SELECT min(n) || ' ' || max(n) FROM (SELECT count(*) AS n FROM steps GROUP BY run_id)") ==
          "200 200");
  }
}

TEST_CASE("two processes that take in the same runs at once both succeed and nothing is doubled")
{
  const Sweep sweep(40);
  {
    Child one([&] { sweep.take_in(); }), two([&] { sweep.take_in(); });
    CHECK(one.wait() == 0);
    CHECK(two.wait() == 0);
  }
  auto database = sweep.open();
  CHECK(database.check().empty());
  CHECK(ask_text(database, "SELECT count(*) FROM runs") == "40");
  CHECK(ask_text(database, "SELECT count(*) FROM steps") == "8000");
}

TEST_CASE("two processes that make a new database at once both get one")
{
  for (int round = 0; round < 5; ++round) {
    const Site site;
    Child one([&] { site.open(); }), two([&] { site.open(); });
    CHECK(one.wait() == 0);
    CHECK(two.wait() == 0);
    CHECK(site.open().check().empty());
  }
}

TEST_CASE("a rebuild beside a process that takes runs in leaves a whole database")
{
  const Sweep sweep(20);
  {
    Child one([&] {
      for (int i = 0; i < 5; ++i) sweep.take_in();
    });
    Child two([&] { sweep.rebuild(); });
    CHECK(one.wait() == 0);
    CHECK(two.wait() == 0);
  }
  sweep.take_in();
  auto database = sweep.open();
  CHECK(database.check().empty());
  CHECK(ask_text(database, "SELECT count(*) FROM runs WHERE state = 'succeeded'") == "20");
}

TEST_CASE("a rebuild killed at any moment leaves the old database")
{
  const Sweep sweep(20);
  sweep.take_in();
  const auto rebuild_until = [&](int call) { return dt::test::TracedProgram([&] { sweep.rebuild(); }).run(call); };
  const int calls = rebuild_until(0).changes;
  for (int moment = 1; moment <= 8; ++moment) {
    CHECK(rebuild_until(1 + (calls - 1) * moment / 9).killed);
    auto database = sweep.open();
    CHECK(database.check().empty());
    CHECK(ask_text(database, "SELECT count(*) FROM steps") == "4000");
  }
  CHECK(sweep.rebuild().runs_added == 20); // what the killed ones left is in nobody's way
}
