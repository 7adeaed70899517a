#include "jobs/attempt_files.hpp"

#include "core/file.hpp"
#include "tests/jobs/playground.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <stdexcept>

using namespace dt;
using namespace dt::jobs;

TEST_CASE("an attempt may have the files that its folder lists, and no others")
{
  const testing::Folder folder;
  const AttemptFolder attempt(folder.path(), 1);
  make_folders(attempt.path());
  write_file_atomic(attempt.begin(), "x");
  const AttemptFiles files(attempt);
  CHECK(files.may_have(attempt.begin()));
  CHECK_FALSE(files.may_have(attempt.result()));
}

TEST_CASE("once an attempt has its end, a listing that lacks a file is not believed")
{
  const testing::Folder folder;
  const AttemptFolder attempt(folder.path(), 1);
  make_folders(attempt.path());
  write_file_atomic(attempt.end(), "exit 0 1\n");
  CHECK(AttemptFiles(attempt).may_have(attempt.result()));
}

TEST_CASE("an attempt without a folder has no files")
{
  const testing::Folder folder;
  const AttemptFolder attempt(folder.path(), 1);
  CHECK_FALSE(AttemptFiles(attempt).may_have(attempt.end()));
}

TEST_CASE("work in parallel is done once for every index, and a failure comes out")
{
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{5000}}) {
    std::vector<std::atomic<int>> done(count);
    in_parallel(count, [&](std::size_t i) { ++done[i]; });
    for (const auto& times : done) CHECK(times == 1);
  }
  CHECK_THROWS_WITH(in_parallel(5000,
                                [](std::size_t i) {
                                  if (i == 4999) throw std::runtime_error("last");
                                }),
                    "last");
}
