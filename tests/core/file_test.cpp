#include "core/file.hpp"

#include "core/process.hpp"
#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

using namespace dt;
namespace fs = std::filesystem;
using test::error_of;
using test::message_of;
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

TEST_CASE("a replaced file holds the new bytes only, and nothing is left beside it")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "state";
  write_file_atomic(path, "a long first content");
  write_file_atomic(path, "short");
  CHECK(read_file(path) == "short");
  CHECK(sorted_names_in(folder.path()) == std::vector<std::string>{"state"});
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

TEST_CASE("a name without folder is written to the current folder")
{
  const TemporaryFolder folder;
  const auto before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomic("plain", "x");
  fs::current_path(before);
  CHECK(read_file(folder.path() / "plain") == "x");
}

TEST_CASE("what a crashed writer of the same process number left behind does not stop the next one")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "state";
  for (int i = 0; i < 1000; ++i) // as many left-overs as this test program can have written files before
    std::ofstream(folder.path() / (".state." + std::to_string(::getpid()) + "." + std::to_string(i))) << "torn";
  write_file_atomic(path, "whole");
  CHECK(read_file(path) == "whole");
}

TEST_CASE("reading what is not there names it")
{
  const TemporaryFolder folder;
  const auto path = (folder.path() / "none").string();
  const auto error = error_of([&] { read_file(path); });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK(std::string(error.what()) == "read " + path + ": No such file or directory");
}

TEST_CASE("a missing file and a missing folder are no file, and a file in the folder's place is an error")
{
  const TemporaryFolder folder;
  write_file_atomic(folder.path() / "file", "x");
  const auto below = (folder.path() / "file" / "none").string();
  CHECK_FALSE(read_file_if_exists(folder.path() / "none"));
  CHECK_FALSE(read_file_if_exists(folder.path() / "none" / "none"));
  CHECK_FALSE(is_there(folder.path() / "none" / "none"));
  CHECK_FALSE(is_folder(folder.path() / "none" / "none"));
  CHECK(message_of([&] { read_file_if_exists(below); }) == "read " + below + ": Not a directory");
  CHECK(message_of([&] { is_there(below); }) == "look at " + below + ": Not a directory");
  CHECK(message_of([&] { is_folder(below); }) == "look at " + below + ": Not a directory");
}

TEST_CASE("a missing folder is empty, and one that cannot be read is an error")
{
  const TemporaryFolder folder;
  const auto file = folder.path() / "file", loop = folder.path() / "loop";
  write_file_atomic(file, "x");
  fs::create_symlink(loop, loop);
  CHECK(names_in(folder.path() / "none").empty());
  CHECK(message_of([&] { names_in(file); }) == "read folder " + file.string() + ": Not a directory");
  CHECK(message_of([&] { names_in(loop); }) == "read folder " + loop.string() + ": Too many levels of symbolic links");
  CHECK(message_of([&] { read_file_if_exists(loop / "x"); }) ==
        "read " + (loop / "x").string() + ": Too many levels of symbolic links");
  CHECK_THROWS_AS(is_there(loop / "x"), SystemError);
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
  CHECK(message_of([&] { read_file(fifo); }) == "read " + fifo.string() + ": Is a FIFO or a device, not a file");
  CHECK_THROWS_AS(read_file_if_exists(fifo), IrregularFile);
  CHECK_THROWS_AS(read_file_if_exists("/dev/zero"), IrregularFile);
  CHECK_THROWS_AS(open_if_exists(fifo), IrregularFile);
  CHECK_FALSE(open_if_exists(folder.path() / "none").is_open());
}

TEST_CASE("a folder is not read as a file, also when it is only asked whether there is one")
{
  const TemporaryFolder folder;
  const auto text = "read " + folder.path().string() + ": Is a directory";
  CHECK(message_of([&] { read_file(folder.path()); }) == text);
  CHECK(message_of([&] { read_file_if_exists(folder.path()); }) == text);
}

TEST_CASE("writing into a missing folder names the file that was wanted, not the temporary one")
{
  const TemporaryFolder folder;
  const auto path = (folder.path() / "none" / "state").string();
  CHECK(message_of([&] { write_file_atomic(path, "x"); }) == "create " + path + ": No such file or directory");
  CHECK(message_of([&] { create_file_exclusive(path, "x"); }) == "create " + path + ": No such file or directory");
}

TEST_CASE("a file cannot replace a folder, and nothing is left behind")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "state";
  make_folders(path);
  CHECK(message_of([&] { write_file_atomic(path, "x"); }) == "rename to " + path.string() + ": Is a directory");
  CHECK(sorted_names_in(folder.path()) == std::vector<std::string>{"state"});
}

TEST_CASE("an exclusive file is made once and never replaced")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "owner";
  CHECK(create_file_exclusive(path, "first"));
  CHECK_FALSE(create_file_exclusive(path, "second"));
  CHECK(read_file(path) == "first");
  CHECK(sorted_names_in(folder.path()) == std::vector<std::string>{"owner"});
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

TEST_CASE("a temporary file never follows a link that lies in its place")
{
  const TemporaryFolder folder;
  const auto victim = folder.path() / "victim";
  write_file_atomic(victim, "precious");
  for (int i = 0; i < 2000; ++i) // every name that this test program can give a temporary
    fs::create_symlink(victim, folder.path() / (".state." + std::to_string(::getpid()) + "." + std::to_string(i)));
  write_file_atomic(folder.path() / "state", "new");
  CHECK(read_file(victim) == "precious");
  CHECK(read_file(folder.path() / "state") == "new");
}

TEST_CASE("folders are made with their parents, and may be there already")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "a" / "b" / "c";
  make_folders(path);
  CHECK(fs::is_directory(path));
  make_folders(path);
  CHECK(fs::is_directory(path));
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

TEST_CASE("a folder cannot be made below a file or in a file's place")
{
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  write_file_atomic(file, "x");
  const auto below = (file / "sub").string();
  CHECK(message_of([&] { make_folders(below); }) == "make folder " + below + ": Not a directory");
  CHECK(message_of([&] { make_folders(file); }) == "make folder " + file.string() + ": Not a directory");
  CHECK(read_file(file) == "x");
}

TEST_CASE("a lock is held by one at a time and free again when its holder ends")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "lock";
  {
    const auto held = FileLock::acquire(path);
    CHECK(held.descriptor() >= 0);
    CHECK_FALSE(FileLock::try_acquire(path));
  }
  const auto again = FileLock::try_acquire(path);
  CHECK(again);
  CHECK_FALSE(FileLock::try_acquire(path));
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

TEST_CASE("a lock keeps the bytes of the file it is on")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "queue";
  write_file_atomic(path, "jobs");
  {
    const auto lock = FileLock::acquire(path);
  }
  CHECK(read_file(path) == "jobs");
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

TEST_CASE("a lock in a missing folder names the lock")
{
  const TemporaryFolder folder;
  const auto path = (folder.path() / "none" / "lock").string();
  CHECK(message_of([&] { FileLock::acquire(path); }) == "open lock " + path + ": No such file or directory");
  CHECK(message_of([&] { FileLock::try_acquire(path); }) == "open lock " + path + ": No such file or directory");
}
