// Memory that runs out in a thread that reads, decodes, packs or checks: the caller gets an error, and the process goes on. This
// program replaces malloc, so that any single allocation can be made to fail, those of libjpeg too.
#include "core/error.hpp"
#include "engine/data/images/png.hpp"
#include "engine/data/packing/check.hpp"
#include "engine/data/packing/part_pool.hpp"
#include "engine/data/reading/loader.hpp"
#include "engine/data/reading/read_range.hpp"
#include "tests/engine/data/images/write_jpeg.hpp"
#include "tests/engine/data/write_packed.hpp"
#include "tests/support/temporary_folder.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <set>

#include <catch2/catch.hpp>

namespace {

std::atomic<long> allocations_left = -1; // until one fails; negative: none does
thread_local bool is_spared = false;     // the allocations of this thread do not fail

bool fails_now()
{
  return allocations_left.load(std::memory_order_relaxed) >= 0 && !is_spared && allocations_left.fetch_sub(1) == 0;
}

} // namespace

extern "C" void* __libc_malloc(std::size_t bytes); // glibc's own
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);

extern "C" void* calloc(std::size_t count, std::size_t bytes)
{
  if (!fails_now()) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}

extern "C" void* malloc(std::size_t bytes)
{
  if (!fails_now()) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}

namespace dt::data {
namespace {

PackedDescription photos(std::int64_t train, std::int64_t test)
{
  PackedDescription set{.encoding = PackedEncoding::jpeg, .channels = 3, .min_side = 8, .max_side = 40};
  set.train_samples = train;
  set.test_samples = test;
  set.classes = {"a", "b"};
  set.mean = set.deviation = {0.5, 0.5, 0.5};
  return set;
}

DataSpec photo_spec()
{
  DataSpec spec;
  spec.name = "packed";
  spec.image_size = 8;
  return spec;
}

std::vector<std::string> jpegs(std::int64_t count)
{
  std::vector<std::string> records;
  for (std::int64_t i = 0; i < count; ++i) records.push_back(jpeg_bytes(gradient(20 + i % 8, 30 - i % 8, 3)));
  return records;
}

// Calls `work` once for every allocation that it makes, and lets this one fail. Returns the messages of the exceptions. `work`
// must not make or destroy a JSON value: the destructor of nlohmann::json allocates, and ends the process if it cannot.
template<class Work> std::set<std::string> messages_when_memory_runs_out(const Work& work)
{
  std::set<std::string> messages;
  for (long failing = 0;; ++failing) {
    std::string message;
    allocations_left = failing;
    try {
      work();
    } catch (const std::exception& error) {
      message = error.what();
    }
    const bool has_ended = allocations_left.exchange(-1) >= 0;
    if (!message.empty()) messages.insert(message);
    if (has_ended) return messages;
  }
}

bool any_has(const std::set<std::string>& messages, const std::string& text)
{
  for (const auto& message : messages)
    if (message.find(text) != message.npos) return true;
  return false;
}

TEST_CASE("wherever memory runs out while batches are read, the caller gets an error that names the file and the record")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "photos.pack";
  test::write_packed(path, jpegs(10), photos(8, 2));
  const auto spec = photo_spec();
  for (const auto order : {DataOrder::blocks, DataOrder::samples}) {
    const auto sources = open_sources(spec, path, 1);
    const auto messages = messages_when_memory_runs_out([&] {
      BatchLoader loader(*sources.train, {.batch_per_rank = 4, .order = order, .block_bytes = 2000, .threads = 2});
      for (int step = 0; step < 5; ++step) loader.next();
    });
    CHECK(any_has(messages, "packed set " + path.string() + ": record "));
    CHECK(any_has(messages, "the batch of step "));
    CHECK(any_has(messages, ": out of memory. Give the job more memory"));
    CHECK_FALSE(any_has(messages, "cannot be decoded"));
    if (order == DataOrder::blocks) CHECK(any_has(messages, "packed set " + path.string() + ": reading the records "));
  }
}

TEST_CASE("wherever memory runs out while several threads read a range, the caller gets an error")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "photos.pack";
  test::write_packed(path, jpegs(10), photos(8, 2));
  const auto spec = photo_spec();
  std::vector<float> images(8 * 3 * 8 * 8);
  std::vector<std::int32_t> labels(8);
  const auto sources = open_sources(spec, path, 1);
  const auto messages = messages_when_memory_runs_out([&] {
    read_range(*sources.train, {0, 8}, 3, images.data(), labels.data());
  });
  CHECK(any_has(messages, ": record "));
}

// Without WebP: libwebp 1.2.4 itself reads through a null pointer when it gets no memory.
TEST_CASE("wherever memory runs out while images are packed, the caller gets an error, and no image is called damaged")
{
  const test::TemporaryFolder folder;
  const auto image = gradient(20, 30, 3);
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    std::ofstream(folder.path() / name, std::ios::binary) << bytes;
  };
  for (const std::string number : {"0", "1"}) {
    write("a/" + number + ".jpg", jpeg_bytes(image));
    write("b/" + number + ".png", encode_png(image));
  }
  PackOptions options;
  options.source.path = folder.path();
  const auto source = open_source(options.source);
  auto plan = plan_pack(options, *source);
  plan.parts.clear(); // one image each, so that several threads take part
  for (std::int64_t i = 0; i < 4; ++i) plan.parts.push_back({i, i + 1});
  PartPool pool{plan, *source, 3, [](std::uint64_t, std::string_view) {},
                [](PartResult&& result) {
                  for (const auto& corrupt : result.corrupt) throw Error(ErrorKind::internal, corrupt.cause);
                }};
  const auto messages = messages_when_memory_runs_out([&] { pool.run({0, 1, 2, 3}); });
  CHECK(any_has(messages, "decoding a/0.jpg: out of memory"));
  for (const auto& message : messages) {
    // zlib found no memory for its window, which libspng does not tell from damaged pixels
    if (message != "the PNG cannot be decoded: IDAT stream error") CHECK_THAT(message, !Catch::Contains("cannot be decoded"));
  }
}

TEST_CASE("wherever memory runs out in a thread that checks a set, the caller gets an error")
{
  const test::TemporaryFolder folder;
  CheckOptions options;
  options.path = folder.path() / "photos.pack";
  options.decode = true;
  options.threads = 3;
  test::write_packed(options.path, jpegs(300), photos(299, 1));
  is_spared = true; // it reads the set's description, which is JSON
  const auto messages = messages_when_memory_runs_out([&] {
    if (!check_packed(options).bad.empty()) throw Error(ErrorKind::internal, "an image was called damaged");
  });
  is_spared = false;
  CHECK(!messages.empty());
  CHECK_FALSE(any_has(messages, "an image was called damaged"));
}

} // namespace
} // namespace dt::data
