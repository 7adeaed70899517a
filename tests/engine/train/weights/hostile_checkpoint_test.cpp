// Checkpoints of somebody who means harm: headers of any content, and files altered byte by byte, end with an error that names
// file, part and what was expected, or are read well. Tensors are tested in safetensors_test.cpp.
#include "tests/engine/refusal.hpp"
#include "tests/engine/train/weights/checkpoint_samples.hpp"
#include "tests/engine/train/weights/hostile_files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

using namespace dt;
using namespace dt::train;
using namespace dt::train::test;
using dt::test::refusal_behind;
namespace fs = std::filesystem;

namespace {

// A checkpoint with so many tensors among the weights.
fs::path write_checkpoint(const fs::path& folder, int count = 1)
{
  std::vector<TensorName> tensors;
  for (int i = 1; i <= count; ++i) tensors.push_back({fmt::format("weights/conv{}.weight", i), dims});
  tensors.push_back({"optimizer/velocity/conv1.weight", dims});
  return write_tensors(folder, {.step = 3, .seed = 7, .wall_s = 12.5}, tensors, numbers());
}

} // namespace

TEST_CASE("a field that is missing, no text, no number or outside of its range is refused")
{
  struct Row {
    std::string in_header, altered, why; // why: ""; it is read
  };
  const std::string step = R"("step":"3")", wall_s = R"("wall_s":"12.5")";
  for (const auto& [from, to, why] :
       std::vector<Row>{{step, R"("step":"+3")", R"(metadata step: it is "+3"; a whole number is expected.)"},
                        {step, R"("step":"3.5")", R"(metadata step: it is "3.5"; a whole number is expected.)"},
                        {step, R"("step":"99999999999999999999")",
                         R"(metadata step: it is "99999999999999999999"; a whole number is expected.)"},
                        {step, R"("step":"-1")", "metadata step: it is -1; 0 to 9007199254740992 are expected."},
                        {step, R"("step":3)", "metadata step: a text is expected."},
                        {step, R"("step":["3"])", "metadata step: a text is expected."},
                        {step + ",", "", "metadata step: it is missing."},
                        {step, R"("step":"3","step":"4")", R"("step" is in the header twice.)"},
                        {R"("ranks":"2")", R"("ranks":"0")", "metadata ranks: it is 0; 1 to 1000000 are expected."},
                        {R"("ranks":"2")", R"("ranks":"1152921504606846976")",
                         "metadata ranks: it is 1152921504606846976; 1 to 1000000 are expected."},
                        {wall_s, R"("wall_s":"")", R"(metadata wall_s: it is ""; a number is expected.)"},
                        {wall_s, R"("wall_s":"1e999")", R"(metadata wall_s: it is "1e999"; a number is expected.)"},
                        {R"("model":"lenet",)", "", "metadata model: it is missing."},
                        {R"("loss":"nan")", R"("loss":"inf")", ""}}) {
    const dt::test::TemporaryFolder folder;
    const auto path = write_checkpoint(folder.path());
    dt::test::alter(path, from, to);
    CHECK(refusal_behind("read " + path.string() + ": ", ErrorKind::usage, [&] { CheckpointReader reader(path); }) == why);
  }
}

TEST_CASE("a folder, a pipe and a device are no checkpoints, and nobody waits for them")
{
  const dt::test::TemporaryFolder folder;
  const auto pipe = folder.path() / "step-3.safetensors";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const fs::path& path : {pipe, folder.path(), fs::path("/dev/zero")})
    CHECK_THROWS_WITH(CheckpointReader(path),
                      "read " + path.string() + ": it is a folder, a pipe or a device; a regular file is expected.");
}

TEST_CASE("as many tensors as a model may have come back in their order")
{
  for (const int count : {1, 46, 1500}) {
    CAPTURE(count);
    const dt::test::TemporaryFolder folder;
    const CheckpointReader reader(write_checkpoint(folder.path(), count));
    const auto found = reader.tensors("weights");
    REQUIRE(found.size() == static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      REQUIRE(found[static_cast<std::size_t>(i)] == TensorName{fmt::format("conv{}.weight", i + 1), dims});
    std::vector<float> values(12);
    reader.read(fmt::format("weights/conv{}.weight", count), dims, values);
    CHECK(values == numbers());
  }
}

TEST_CASE("altered and torn checkpoints with a hash that fits end with an error that names the file, or are read")
{
  std::mt19937 random(20261122);
  constexpr std::size_t times = 400;
  int refused = 0;
  for (const int count : {3, 60}) {
    const dt::test::TemporaryFolder folder;
    const auto path = write_checkpoint(folder.path(), count);
    const auto whole = dt::read_file(path);
    const auto tensors = dt::test::length_bytes + dt::test::header_of(whole).size();
    const auto altered = [&](std::size_t i) {
      const auto begin = i % 2 == 0 ? checkpoint_hash_begin + checkpoint_hash_digits : tensors;
      return dt::test::sealed(dt::test::mutated(whole, begin, random));
    };
    refused += dt::test::times_refused(path, times, altered, [&] {
      const CheckpointReader reader(path);
      std::vector<float> values(12);
      for (const auto& [name, found] : reader.tensors("weights"))
        if (found == dims) reader.read("weights/" + name, dims, values);
    });
  }
  CHECK(refused > 100);
  CHECK(refused < static_cast<int>(2 * times) - 100);
}
