#include "core/files/file.hpp"

#include "core/machine/process.hpp"
#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

using namespace dt;
namespace fs = std::filesystem;
using test::error_of;
using test::TemporaryFolder;

namespace {

std::vector<std::string> sorted_names_in(const fs::path& folder)
{
  auto names = names_in(folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::string all_bytes(std::size_t size)
{
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 256);
  return bytes;
}

} // namespace

TEST_CASE("every byte survives writing and reading, also zeros, none, and more than one block")
{
  const TemporaryFolder folder;
  const auto size = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{256}, std::size_t{65536}, std::size_t{200001});
  const auto path = folder.path() / "bytes";
  write_file_atomic(path, all_bytes(size));
  CHECK(read_file(path) == all_bytes(size));
  CHECK(read_file_if_exists(path) == all_bytes(size));
}

TEST_CASE("a replaced file holds the new bytes only, and an exclusive file is made once and never replaced, and nothing is left "
          "beside them")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "state", owner = folder.path() / "owner";
  write_file_atomic(path, "a long first content");
  write_file_atomic(path, "short");
  CHECK(read_file(path) == "short");
  CHECK(create_file_exclusive(owner, "first"));
  CHECK_FALSE(create_file_exclusive(owner, "second"));
  CHECK(read_file(owner) == "first");
  CHECK(sorted_names_in(folder.path()) == std::vector<std::string>{"owner", "state"});
}

TEST_CASE("readers see the old bytes or the new ones, never a mixture")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "state";
  const std::string first(100'000, 'a'), second(50'000, 'b');
  write_file_atomic(path, first);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 40; ++i) write_file_atomic(path, i % 2 == 0 ? second : first);
    done = true;
  });
  bool whole = true;
  while (!done) {
    const auto seen = read_file(path);
    whole = whole && (seen == first || seen == second);
  }
  writer.join();
  CHECK(whole);
}

TEST_CASE("what a crashed writer of the same process number left behind does not stop the next one, and a link in its place is "
          "not followed")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "state", other = folder.path() / "other", victim = folder.path() / "victim";
  write_file_atomic(victim, "precious");
  for (int i = 0; i < 2000; ++i) { // every name that this test program can give a temporary
    const auto rest = "." + std::to_string(::getpid()) + "." + std::to_string(i);
    std::ofstream(folder.path() / (".state" + rest)) << "torn";
    fs::create_symlink(victim, folder.path() / (".other" + rest));
  }
  for (const auto& file : {path, other}) {
    write_file_atomic(file, "whole");
    CHECK(read_file(file) == "whole");
  }
  CHECK(read_file(victim) == "precious");
}

TEST_CASE("what is missing is no file and an empty folder, and a wrong place is an error that names what was wanted and leaves "
          "nothing behind")
{
  const TemporaryFolder home;
  const auto folder = home.path() / "folder", file = folder / "file", below = file / "none", none = folder / "none",
             loop = folder / "loop", fifo = folder / "fifo";
  make_folders(folder);
  write_file_atomic(file, "x");
  fs::create_symlink(loop, loop);
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  struct Row {
    std::string said, why;
    std::function<void()> act;
  };
  const std::string missing = "No such file or directory", no_folder = "Not a directory", is_folder_there = "Is a directory",
                    endless = "Too many levels of symbolic links", irregular = "Is a FIFO or a device, not a file";
  for (const auto& [said, why, act] : std::vector<Row>{
           {"read " + none.string(), missing, [&] { read_file(none); }},
           {"read " + below.string(), no_folder, [&] { read_file_if_exists(below); }},
           {"read " + (loop / "x").string(), endless, [&] { read_file_if_exists(loop / "x"); }},
           {"read " + fifo.string(), irregular, [&] { read_file(fifo); }},
           {"read " + folder.string(), is_folder_there, [&] { read_file(folder); }},
           {"read " + folder.string(), is_folder_there, [&] { read_file_if_exists(folder); }},
           {"look at " + below.string(), no_folder, [&] { is_there(below); }},
           {"look at " + below.string(), no_folder, [&] { is_folder(below); }},
           {"read folder " + file.string(), no_folder, [&] { names_in(file); }},
           {"read folder " + loop.string(), endless, [&] { names_in(loop); }},
           {"create " + (none / "x").string(), missing, [&] { write_file_atomic(none / "x", "x"); }}, // not the temporary one
           {"create " + (none / "x").string(), missing, [&] { create_file_exclusive(none / "x", "x"); }},
           {"rename to " + folder.string(), is_folder_there, [&] { write_file_atomic(folder, "x"); }},
           {"make folder " + below.string(), no_folder, [&] { make_folders(below); }},
           {"make folder " + file.string(), no_folder, [&] { make_folders(file); }},
           {"open lock " + (none / "x").string(), missing, [&] { FileLock::acquire(none / "x"); }},
           {"open lock " + (none / "x").string(), missing, [&] { FileLock::try_acquire(none / "x"); }}}) {
    const auto error = error_of(act);
    CHECK(error.kind() == ErrorKind::environment);
    CHECK(error.what() == said + ": " + why);
  }
  CHECK_THROWS_AS(is_there(loop / "x"), SystemError);
  CHECK(read_file(file) == "x");
  CHECK(sorted_names_in(home.path()) == std::vector<std::string>{"folder"}); // nothing is left behind
  CHECK_FALSE(read_file_if_exists(none));
  CHECK_FALSE(read_file_if_exists(none / "none"));
  CHECK_FALSE(is_there(none / "none"));
  CHECK_FALSE(is_folder(none / "none"));
  CHECK(names_in(none).empty());
}

TEST_CASE("what is there is seen through links, also when it cannot be read as a file")
{
  const TemporaryFolder folder;
  const auto link = folder.path() / "link", broken = folder.path() / "broken";
  fs::create_symlink(folder.path(), link);
  fs::create_symlink(folder.path() / "none", broken);
  CHECK(is_there(link));
  CHECK(is_folder(link));
  CHECK_FALSE(is_there(broken));
}

TEST_CASE("a FIFO or a device in a file's place is an error at once, not a wait without end")
{
  const TemporaryFolder folder;
  const auto fifo = folder.path() / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THROWS_AS(read_file_if_exists(fifo), IrregularFile);
  CHECK_THROWS_AS(read_file_if_exists("/dev/zero"), IrregularFile);
  CHECK_THROWS_AS(open_if_exists(fifo), IrregularFile);
  CHECK_FALSE(open_if_exists(folder.path() / "none").is_open());
}

TEST_CASE("of eight threads that want the same file exactly one gets it, with its own content")
{
  const TemporaryFolder folder;
  for (int round = 0; round < 20; ++round) {
    const auto path = folder.path() / ("owner" + std::to_string(round));
    std::atomic<int> ready{0}, winners{0}, winner{-1};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        ++ready;
        while (ready < 8) std::this_thread::yield();
        if (create_file_exclusive(path, "thread " + std::to_string(i))) ++winners, winner = i;
      });
    for (auto& thread : threads) thread.join();
    CHECK(winners == 1);
    CHECK(read_file(path) == "thread " + std::to_string(winner));
  }
  CHECK(sorted_names_in(folder.path()).size() == 20);
}

TEST_CASE("eight threads may replace the same file at once: one of the contents stays, whole")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "state";
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 5; ++k) write_file_atomic(path, std::string(1000, static_cast<char>('0' + i)));
    });
  for (auto& thread : threads) thread.join();
  const auto bytes = read_file(path);
  CHECK(bytes.size() == 1000);
  CHECK(bytes == std::string(1000, bytes.front()));
  CHECK(sorted_names_in(folder.path()) == std::vector<std::string>{"state"});
}

TEST_CASE("what is kept is its owner's alone, and what everybody may read is not")
{
  const TemporaryFolder folder;
  const auto mode_of = [](const fs::path& path) { return static_cast<unsigned>(fs::status(path).permissions()); };
  const auto before = ::umask(022);
  make_folders(folder.path() / "home" / "runs");
  make_folders(folder.path() / "out", Readers::everybody);
  write_file_atomic(folder.path() / "home" / "spec", "x");
  replace_file(folder.path() / "home" / "beat", "x");
  create_file_exclusive(folder.path() / "home" / "owner", "x");
  write_file_atomic(folder.path() / "out" / "table", "x", Readers::everybody);
  {
    const auto lock = FileLock::acquire(folder.path() / "home" / "lock");
  }
  ::umask(before);
  for (const auto* name : {"home", "home/runs"}) CHECK(mode_of(folder.path() / name) == 0700);
  for (const auto* name : {"home/spec", "home/beat", "home/owner", "home/lock"}) CHECK(mode_of(folder.path() / name) == 0600);
  CHECK(mode_of(folder.path() / "out") == 0755);
  CHECK(mode_of(folder.path() / "out" / "table") == 0644);
  CHECK_FALSE(open_mode(folder.path() / "home"));
  CHECK_FALSE(open_mode(folder.path() / "none"));
  CHECK(open_mode(folder.path() / "out") == "0755");
}

TEST_CASE("folders are made with their parents, may be there already, and a name without folder is written to the current one")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "a" / "b" / "c";
  make_folders(path);
  CHECK(fs::is_directory(path));
  make_folders(path);
  CHECK(fs::is_directory(path));
  const auto before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomic("plain", "x");
  fs::current_path(before);
  CHECK(read_file(folder.path() / "plain") == "x");
}

TEST_CASE("a file that is kept gets its folder, but never the folder's parent, and what cannot be kept is no error")
{
  const TemporaryFolder folder;
  const auto home = folder.path() / "home";
  keep_file(home / "peaks" / "one.json", "1");
  CHECK_FALSE(fs::exists(home));
  fs::create_directory(home);
  keep_file(home / "peaks" / "one.json", "1");
  CHECK(read_file(home / "peaks" / "one.json") == "1");
  keep_file(home / "peaks" / "one.json" / "two.json", "2");
  CHECK(read_file(home / "peaks" / "one.json") == "1");
}

TEST_CASE("a lock is held by one at a time, free again when its holder ends, and keeps the bytes of its file")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "queue";
  write_file_atomic(path, "jobs");
  {
    const auto held = FileLock::acquire(path);
    CHECK(held.descriptor() >= 0);
    CHECK_FALSE(FileLock::try_acquire(path));
  }
  const auto again = FileLock::try_acquire(path);
  CHECK(again);
  CHECK_FALSE(FileLock::try_acquire(path));
  CHECK(read_file(path) == "jobs");
}

TEST_CASE("a moved lock is held once, and moving over a lock frees the one before")
{
  const TemporaryFolder folder;
  const auto first = folder.path() / "first", second = folder.path() / "second";
  auto lock = FileLock::acquire(first);
  auto moved = std::move(lock);
  CHECK_FALSE(FileLock::try_acquire(first));
  moved = FileLock::acquire(second);
  CHECK(FileLock::try_acquire(first));
  CHECK_FALSE(FileLock::try_acquire(second));
}

TEST_CASE("a lock keeps other processes out, and is not handed on to a program that is started")
{
  const TemporaryFolder folder;
  const auto path = (folder.path() / "lock").string();
  auto held = std::optional(FileLock::acquire(path));
  CHECK(run_command({"flock", "--nonblock", path, "true"}, 30).exit_code == 1);
  const auto sleeper = run_command({"sh", "-c", "setsid sleep 30 >/dev/null 2>&1 & echo $!"}, 30);
  held.reset();
  CHECK(FileLock::try_acquire(path));
  CHECK(run_command({"kill", std::string(sleeper.out, 0, sleeper.out.find('\n'))}, 30).ok());
}

TEST_CASE("waiters get the lock one after the other")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "lock";
  std::atomic<int> inside{0}, most{0}, entries{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k) {
        const auto lock = FileLock::acquire(path);
        most = std::max(most.load(), ++inside);
        ++entries;
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // long enough for another to come in, if it could
        --inside;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(most == 1);
  CHECK(entries == 40);
}
