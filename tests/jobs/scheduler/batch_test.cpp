#include "jobs/scheduler/batch.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace dt;
using namespace dt::jobs;

TEST_CASE("tasks are read back as they were written, whatever the attempt's folder is called")
{
  const std::vector<BatchTask> tasks{{0, "a0123456789abcdef.0", 2, 600, "/a folder/with 'quotes'/attempts/1"},
                                     {7, "a0123456789abcdef.7", 1, 60, "/b"}};
  const auto text = format_tasks(tasks);
  CHECK(text.starts_with("0 a0123456789abcdef.0 2 600 /a folder/with 'quotes'/attempts/1\n"));
  const auto back = parse_tasks(text + "8 a0123456789abcdef.8 1 60 /torn");
  REQUIRE(back.size() == 2);
  CHECK(back[0].attempt == tasks[0].attempt);
  CHECK(back[1].index == 7);
  CHECK(back[1].time_limit_s == 60);
}

TEST_CASE("the line of a task holds any path, and is read back as the same")
{
  for (const auto* name : {"plain", " a  b ", "new\nline", "back\\slash", "\\n", "\\\\n\n\\", "h%j", "\"'$`", "\u00fc"}) {
    const BatchTask task{3, "a0123456789abcdef.3", 2, 600, std::filesystem::path("/h") / name / "1"};
    const auto text = format_tasks(std::vector{task, task});
    INFO(text);
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
    const auto back = parse_tasks(text);
    REQUIRE(back.size() == 2);
    CHECK(back[1].attempt == task.attempt);
    CHECK(back[1].nodes == 2);
  }
}

TEST_CASE("the folder of a batch tells its scheduler, and where its job's words go")
{
  const auto folder = batch_folder(Home("/home"), "slurm", "0123456789abcdef");
  CHECK(folder == "/home/slurm/0123456789abcdef");
  CHECK(scheduler_of_batch(folder) == "slurm");
  CHECK(log_of(folder, {BatchKind::single, "0123456789abcdef", 0}) == folder / "log");
  CHECK(log_of(folder, {BatchKind::ladder, "0123456789abcdef", 3}) == folder / "log");
  CHECK(log_of(folder, {BatchKind::array, "0123456789abcdef", 3}) == folder / "log-3");
}
