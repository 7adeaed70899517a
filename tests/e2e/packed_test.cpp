// Training from packed sets: what cannot be used is told before the run, what changes later when it is read, and sets larger than
// the memory are trained within it.
#include "core/files/file.hpp"
#include "tests/cli/driver.hpp"
#include "tests/engine/data/write_packed.hpp"
#include "tests/support/eventually.hpp"

#include <cstdlib>
#include <fstream>

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::Json;
namespace fs = std::filesystem;

namespace {

// Grey images in ten classes; one band of rows, which tells the label, is brighter.
void write_bands(const fs::path& path, std::int64_t train, std::int64_t test)
{
  std::vector<std::string> records;
  for (std::int64_t i = 0; i < train + test; ++i) {
    auto& record = records.emplace_back(28 * 28, static_cast<char>(20 + i % 7));
    record.replace(static_cast<std::size_t>(i % 10 * 2 * 28), 2 * 28, std::string(2 * 28, static_cast<char>(200)));
  }
  dt::PackedDescription set{.channels = 1, .height = 28, .width = 28, .min_side = 28, .max_side = 28};
  set.train_samples = train;
  set.test_samples = test;
  for (int c = 0; c < 10; ++c) set.classes.push_back(std::to_string(c));
  set.mean = {0.1};
  set.deviation = {0.2};
  dt::test::write_packed(path, records, set);
}

std::string recipe(const fs::path& file, const std::string& data = "", const std::string& more = "")
{
  return "version: 1\nname: packed\nmodel: { name: lenet }\ndata: { name: packed, path: " + file.string() + data +
         " }\ntrain: { global_batch: 30, epochs: 3, warmup_steps: 2, eval_every_epochs: 0 }\n"
         "optimizer: { learning_rate: 0.05 }\n" +
         more;
}

// A folder of cgroups (version 1) that limits the memory of the processes in it; none where that is not allowed.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::int64_t bytes)
  {
    std::error_code error;
    if (!fs::create_directory(folder_, error) || error) return;
    std::ofstream(folder_ / "memory.limit_in_bytes") << bytes;
    exists_ = number("memory.limit_in_bytes") == bytes;
  }
  ~MemoryLimit()
  {
    std::error_code ignored;
    fs::remove(folder_, ignored);
  }
  bool exists() const { return exists_; }
  std::int64_t number(const std::string& file) const { return std::atoll(dt::read_file(folder_ / file).c_str()); }
  // The command that runs `words` with the limit.
  dt::test::Words command(const dt::test::Words& words) const
  {
    return dt::test::with({"sh", "-c", "echo $$ > " + (folder_ / "cgroup.procs").string() + " && exec \"$@\"", "sh"}, words);
  }
  bool has_processes() const { return !dt::read_file(folder_ / "cgroup.procs").empty(); }

 private:
  fs::path folder_ = "/sys/fs/cgroup/memory/dtctl-test-" + std::to_string(::getpid());
  bool exists_ = false;
};

} // namespace

TEST_CASE("a network learns from a packed set, in every order, with two ranks and decoding threads")
{
  const Dtctl dtctl;
  const auto file = dtctl.folder() / "bands.pack";
  write_bands(file, 300, 60);
  dtctl.write("r.yaml",
              recipe(file, ", block_bytes: 20000, crop: pad, pad: 0, flip: true",
                     "resources: { ranks_per_node: 2, oversubscribe: true }\nsweep: { matrix: { data.order: [blocks, samples, "
                     "file], data.decode_threads: [0, 1] } }\n"));
  const auto outcome =
      dtctl.json({"sweep", "r.yaml", "--wait", "--set", "train.epochs=10", "--set", "optimizer.learning_rate=0.01"});
  INFO(outcome.dump());
  CHECK(outcome.at("states") == Json{{"succeeded", 6}});
  const auto results = dtctl.json({"query", "SELECT accuracy, replaced_samples FROM results"});
  CHECK(results.at("rows").size() == 6);
  for (const auto& run : results.at("rows")) {
    CHECK(run.at("accuracy").get<double>() > 0.9);
    CHECK(run.at("replaced_samples") == 0);
  }
}

TEST_CASE("a packed set that is missing, incomplete or has changed in its index is refused with its place before anything runs")
{
  const Dtctl dtctl;
  const auto file = dtctl.folder() / "bands.pack";
  dtctl.write("r.yaml", recipe(file));
  const auto refused = [&](const char* verb, const char* why) {
    const auto result = dtctl.run({verb, "r.yaml"});
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Catch::Contains("r.yaml:4:") && Catch::Contains(why));
  };
  refused("submit", "there is no packed set");
  write_bands(file, 30, 10);
  fs::resize_file(file, fs::file_size(file) - 100);
  refused("validate", "bytes, but should have");
  write_bands(file, 30, 10);
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(static_cast<std::streamoff>(4096 + 40 * 784 + 8)); // the first record's hash
  stream.put('x').flush();
  refused("submit", "its index has changed");
  CHECK_FALSE(fs::exists(dtctl.home() / "runs"));
}

TEST_CASE("a record that has changed after packing fails the run by name, or is replaced and counted as the recipe says")
{
  const Dtctl dtctl;
  const auto file = dtctl.folder() / "bands.pack";
  write_bands(file, 60, 10);
  dt::test::damage_record(file, 17);
  dtctl.write("r.yaml", recipe(file, "", "sweep: { matrix: { data.corrupt: [refuse, skip] } }\n"));
  const auto outcome = dtctl.json({"sweep", "r.yaml", "--wait"});
  CHECK(outcome.at("states") == Json{{"succeeded", 1}, {"failed", 1}});
  const auto runs =
      dtctl.json({"query", "SELECT data_corrupt, cause, replaced_samples FROM runs_flat ORDER BY data_corrupt"}).at("rows");
  INFO(runs.dump());
  REQUIRE(runs.size() == 2);
  CHECK_THAT(runs[0].at("cause").get<std::string>(), Catch::Contains("record 17 (sample-17)"));
  CHECK(runs[1].at("replaced_samples") == 3); // once an epoch
}

TEST_CASE("a packed set of ten times the memory limit is trained within the limit")
{
  constexpr std::int64_t limit = 200 << 20, record_bytes = 3 * 183 * 182;
  const MemoryLimit memory(limit);
  if (!memory.exists()) {
    WARN("not tested: this machine does not allow cgroups with a memory limit");
    return;
  }
  const Dtctl dtctl;
  const auto file = dtctl.folder() / "large.pack";
  {
    constexpr std::int64_t records = 10 * limit / record_bytes + 1;
    std::vector<dt::PackedEntry> entries;
    std::ofstream stream(file, std::ios::binary);
    stream << std::string(dt::packed_records_begin, '\0');
    std::string record(record_bytes, '\0');
    for (std::int64_t i = 0; i < records; ++i) {
      record[static_cast<std::size_t>(i % record_bytes)] = static_cast<char>(i);
      entries.push_back({dt::packed_records_begin + static_cast<std::uint64_t>(i * record_bytes), dt::hash64(record),
                         static_cast<std::uint32_t>(record_bytes), static_cast<std::uint32_t>(i % 10), 0});
      stream << record;
    }
    stream.close();
    dt::PackedDescription set{.channels = 3, .height = 183, .width = 182, .min_side = 182, .max_side = 183};
    set.train_samples = records - 64;
    set.test_samples = 64;
    for (int c = 0; c < 10; ++c) set.classes.push_back(std::to_string(c));
    set.mean = set.deviation = {0.5, 0.5, 0.5};
    const dt::Descriptor written(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    const auto end = dt::packed_records_begin + static_cast<std::uint64_t>(records * record_bytes);
    dt::finish_packed_file(written.get(), file, end, entries, std::vector<std::string>(entries.size(), "r"), set);
    ::posix_fadvise(written.get(), 0, 0, POSIX_FADV_DONTNEED); // its pages would count for this process
  }
  REQUIRE(static_cast<std::int64_t>(fs::file_size(file)) > 10 * limit);
  dtctl.write("r.yaml", "version: 1\nname: large\nmodel: { name: lenet }\ndata: { name: packed, path: " + file.string() +
                            ", image_size: 28 }\ntrain: { global_batch: 64, epochs: 1, eval_every_epochs: 0 }\n");
  const auto done = dt::run_command(memory.command(dtctl.command({"submit", "r.yaml", "--wait"})));
  INFO(done.out << done.err);
  CHECK(done.exit_code == 0);
  CHECK(memory.number("memory.max_usage_in_bytes") <= limit);
  CHECK(memory.number("memory.failcnt") > 0); // the limit was met, and pages were given back
  const auto figures = dtctl.json({"query", "SELECT steps FROM results"}).at("rows");
  CHECK(figures[0].at("steps").get<std::int64_t>() * 64 >= 10 * limit / record_bytes - 64);
  CHECK(dt::test::eventually([&] { return !memory.has_processes(); })); // the supervisor leaves when it has nothing to do
}
