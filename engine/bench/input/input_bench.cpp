#include "core/data/packed_file.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/maths/statistics.hpp"
#include "core/text.hpp"
#include "engine/bench/bench.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/mpi_world.hpp"
#include "engine/data/reading/loader.hpp"
#include "engine/data/source.hpp"
#include "engine/data/sources/block_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::bench {
namespace {

// A source that reads the records of a packed set and checks their hashes, but decodes nothing: to measure reading alone.

class RecordSource final : public data::Source {
 public:
  RecordSource(const std::filesystem::path& path, bool is_direct)
      : file_(std::make_shared<PackedFile>(path)), reader_(file_, is_direct)
  {
  }
  std::int64_t size() const override { return file_->description().train_samples; }
  std::int64_t channels() const override { return 1; }
  std::int64_t height() const override { return 1; }
  std::int64_t width() const override { return 1; }
  std::int64_t classes() const override { return static_cast<std::int64_t>(file_->description().classes.size()); }
  bool has_blocks() const override { return true; }

  std::int64_t bytes_per_sample() const override
  {
    const auto& last = file_->entry(size() - 1);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(last.begin + last.bytes - file_->entry(0).begin) / size());
  }

  std::shared_ptr<const data::Block> fetch(SampleRange samples) const override { return reader_.read(samples); }

  data::SampleRead read(const data::SampleRequest& request, float* image) const override
  {
    const auto* block = static_cast<const data::RecordBlock*>(request.block);
    std::string own;
    if (block == nullptr) file_->read(request.index, own);
    const auto bytes = block != nullptr ? block->bytes_of(file_->entry(request.index)) : std::string_view(own);
    if (!file_->is_intact(request.index, bytes))
      throw Error(ErrorKind::run,
                  fmt::format("record {} of {} has changed since it was packed", request.index, file_->path().string()));
    *image = 0;
    return {static_cast<std::int32_t>(file_->entry(request.index).label)};
  }

 private:
  std::shared_ptr<const PackedFile> file_;
  data::BlockReader reader_;
};

// The training records of the set. Throws like open_sources.
std::unique_ptr<data::Source> open_records(const std::filesystem::path& file, bool is_direct)
{
  return std::make_unique<RecordSource>(file, is_direct);
}

// Removes the file's pages from the page cache, as far as nobody else uses them. Returns the share of the file that is still
// there.
double drop_from_cache(const std::filesystem::path& path)
{
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) throw system_error("open " + path.string(), errno);
  ::fdatasync(file.get()); // only clean pages can be dropped
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  const auto bytes = std::filesystem::file_size(path);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) throw system_error("map " + path.string(), errno);
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  const bool is_known = ::mincore(mapped, bytes, pages.data()) == 0;
  ::munmap(mapped, bytes);
  if (!is_known) return 1;
  return static_cast<double>(std::ranges::count_if(pages, [](unsigned char bits) { return (bits & 1) != 0; })) /
         static_cast<double>(pages.size());
}

// One line of the result.
struct Case {
  bool is_cold = false;
  std::string reader; // buffered, direct, mpi-io
  DataOrder order = DataOrder::blocks;
  std::int64_t threads = 1; // 0: the caller reads
  bool is_decoded = false;
};

// The measurement of one case: the time of the slowest rank, and sums over all ranks.
struct Reading {
  double seconds = 0;
  double samples = 0, bytes = 0;    // of records
  double calls = 0, read_bytes = 0; // read calls of the process, and the bytes that they returned
  double device_bytes = 0;          // read from the device
  double samples_per_s() const { return samples / seconds; }
  double bytes_per_s() const { return bytes / seconds; }
};

// The process's own counters of input (proc(5), /proc/PID/io).
struct Counters {
  double calls = 0, bytes = 0, device_bytes = 0;
};

Counters look_at_counters()
{
  Counters counters;
  for (const auto& line : split(read_file("/proc/self/io"), '\n')) {
    const auto take = [&](std::string_view name, double& value) {
      if (!line.starts_with(name)) return;
      std::int64_t number = 0;
      const auto* end = line.data() + line.size();
      std::from_chars(line.data() + name.size(), end, number);
      value = static_cast<double>(number);
    };
    take("syscr: ", counters.calls);
    take("rchar: ", counters.bytes);
    take("read_bytes: ", counters.device_bytes);
  }
  return counters;
}

class InputMeasurement {
 public:
  InputMeasurement(const InputBench& options, comm::Communicator& comm) : options_(options), comm_(comm), file_(options.file) {}

  Reading measure(const Case& one)
  {
    if (comm_.is_root() && one.is_cold) drop();
    comm_.barrier();
    const auto before = look_at_counters();
    const double begin_s = comm::monotonic_s();
    const auto [samples, bytes] = one.reader == "mpi-io" ? read_by_mpi() : read_by_loader(one);
    const double seconds = comm::monotonic_s() - begin_s;
    const auto after = look_at_counters();
    std::array sums{samples, bytes, after.calls - before.calls, after.bytes - before.bytes,
                    after.device_bytes - before.device_bytes};
    comm_.sum_record(sums);
    const auto times = comm_.gather_numbers(std::array{seconds});
    return {times.empty() ? seconds : *std::ranges::max_element(times), sums[0], sums[1], sums[2], sums[3], sums[4]};
  }

  const PackedFile& file() const { return file_; }

 private:
  using Amount = std::pair<double, double>; // samples, bytes

  void drop() const
  {
    constexpr double few = 0.01; // the pages of the index, which is mapped
    const double left = drop_from_cache(options_.file);
    if (left > few)
      throw Error(ErrorKind::environment,
                  fmt::format("{:.0f} % of {} stay in the page cache, so reading it cold cannot be measured here", 100 * left,
                              options_.file));
  }

  Amount read_by_loader(const Case& one) const
  {
    DataSpec spec;
    spec.name = "packed";
    spec.image_size = options_.image_size;
    spec.direct_io = one.reader == "direct";
    spec.crop = options_.crop;
    spec.flip = options_.flip;
    const auto sources = one.is_decoded ? data::open_sources(spec, options_.file, 1) : data::Sources{};
    const auto records = one.is_decoded ? nullptr : open_records(options_.file, spec.direct_io);
    const auto& source = one.is_decoded ? *sources.train : *records;
    data::BatchLoader loader(source, {.batch_per_rank = options_.batch,
                                      .rank = comm_.rank(),
                                      .ranks = comm_.size(),
                                      .order = one.order,
                                      .block_bytes = options_.block_bytes,
                                      .prefetch = one.threads > 0 ? 2 : 0,
                                      .threads = std::max<std::int64_t>(1, one.threads)});
    const auto steps = steps_of(source.size());
    for (std::int64_t step = 0; step < steps; ++step) loader.next();
    const auto samples = static_cast<double>(steps * options_.batch);
    return {samples, samples * static_cast<double>(source.bytes_per_sample())};
  }

  // Whole batches of an epoch, or fewer if the options say so.
  std::int64_t steps_of(std::int64_t samples) const
  {
    const auto all = samples / comm_.size(), wanted = options_.samples > 0 ? std::min(options_.samples, all) : all;
    return std::max<std::int64_t>(1, wanted / options_.batch);
  }

  // The bytes of this rank's contiguous part, block after block, all ranks together.
  Amount read_by_mpi() const
  {
    const auto part = data::shard(file_.description().train_samples, comm_.rank(), comm_.size());
    const auto begin = file_.entry(part.begin).begin, end = file_.entry(part.end - 1).begin + file_.entry(part.end - 1).bytes;
    const auto block = static_cast<std::uint64_t>(options_.block_bytes);
    std::vector<char> bytes(block);
    auto rounds = static_cast<double>((end - begin + block - 1) / block);
    const auto all_rounds = comm_.gather_numbers(std::array{rounds});
    const auto most = comm_.broadcast_text(
        comm_.is_root() ? std::to_string(static_cast<std::int64_t>(*std::ranges::max_element(all_rounds))) : "");
    MPI_File file = MPI_FILE_NULL;
    if (MPI_File_open(MPI_COMM_WORLD, options_.file.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
      throw Error(ErrorKind::environment, "MPI_File_open of " + options_.file + " failed");
    for (std::int64_t round = 0; round < std::stoll(most); ++round) {
      const auto place = std::min(begin + static_cast<std::uint64_t>(round) * block, end);
      const auto wanted = static_cast<int>(std::min(block, end - place));
      MPI_Status status;
      int got = 0;
      const int code = MPI_File_read_at_all(file, static_cast<MPI_Offset>(place), bytes.data(), wanted, MPI_BYTE, &status);
      if (code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &got);
      if (got != wanted) throw Error(ErrorKind::environment, "MPI_File_read_at_all of " + options_.file + " failed");
    }
    MPI_File_close(&file);
    return {static_cast<double>(part.size()), static_cast<double>(end - begin)};
  }

  const InputBench& options_;
  comm::Communicator& comm_;
  PackedFile file_;
};

std::vector<Case> cases_of(const InputBench& options)
{
  std::vector<Case> cases;
  for (const bool is_cold : {true, false})
    for (const auto& reader : options.readers)
      for (const auto order : options.orders)
        for (const auto threads : options.threads) {
          const bool is_wanted = is_cold ? options.cold : options.warm;
          const bool is_once = order == options.orders.front() && threads == options.threads.front();
          if (is_wanted && (reader != "mpi-io" || is_once)) cases.push_back({is_cold, reader, order, threads, options.decode});
        }
  return cases;
}

nlohmann::ordered_json json_of(const Case& one, const Reading& reading, std::int64_t repeats)
{
  return {{"cache", one.is_cold ? "cold" : "warm"},
          {"reader", one.reader},
          {"order", name_of(one.order)},
          {"threads", one.threads},
          {"decoded", one.is_decoded},
          {"repeats", repeats},
          {"samples", reading.samples},
          {"samples_per_s", reading.samples_per_s()},
          {"bytes_per_s", reading.bytes_per_s()},
          {"read_calls", reading.calls},
          {"read_bytes", reading.read_bytes},
          {"device_bytes", reading.device_bytes}};
}

void print_head(const PackedFile& file, int ranks)
{
  const auto& set = file.description();
  fmt::print("{}: {} records for training, {:.0f} bytes in the mean, {}; ranks {}\n", file.path().string(), set.train_samples,
             static_cast<double>(file.file_bytes()) / static_cast<double>(file.size()),
             set.encoding == PackedEncoding::jpeg ? "JPEG" : "pixels", ranks);
  fmt::print("{:<5} {:<9} {:<8} {:>7} {:>12} {:>9} {:>11} {:>14}\n", "cache", "reader", "order", "threads", "samples/s", "MB/s",
             "read calls", "MB from device");
}

void print_row(const Case& one, const Reading& reading)
{
  fmt::print("{:<5} {:<9} {:<8} {:>7} {:>12.0f} {:>9.0f} {:>11.0f} {:>14.1f}\n", one.is_cold ? "cold" : "warm", one.reader,
             one.reader == "mpi-io" ? "file" : name_of(one.order), one.threads, reading.samples_per_s(),
             1e-6 * reading.bytes_per_s(), reading.calls, 1e-6 * reading.device_bytes);
  std::fflush(stdout);
}

// The repetition with the median time.
Reading median_of(std::vector<Reading> readings)
{
  std::ranges::sort(readings, {}, &Reading::seconds);
  return readings[readings.size() / 2];
}

} // namespace

int bench_input(const InputBench& options, comm::Communicator& comm)
{
  InputMeasurement measurement(options, comm);
  auto rows = nlohmann::ordered_json::array();
  if (comm.is_root() && !options.json) print_head(measurement.file(), comm.size());
  bool is_cached = false;
  for (const auto& one : cases_of(options)) {
    if (!one.is_cold && !std::exchange(is_cached, true)) measurement.measure({.reader = "buffered", .order = DataOrder::file});
    std::vector<Reading> readings;
    for (std::int64_t i = 0; i < options.repeats; ++i) readings.push_back(measurement.measure(one));
    const auto reading = median_of(readings);
    if (comm.is_root() && options.json) rows.push_back(json_of(one, reading, options.repeats));
    if (comm.is_root() && !options.json) print_row(one, reading);
  }
  if (comm.is_root() && options.json) fmt::print("{}\n", rows.dump());
  return 0;
}

} // namespace dt::bench
