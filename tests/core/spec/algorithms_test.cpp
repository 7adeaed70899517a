#include "core/spec/algorithms.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using dt::test::TemporaryFolder;
using enum Algorithm;

namespace {

const Algorithms two{{"conv1", {direct, direct, channels_last}}, {"conv2", {winograd, direct, direct}}};

std::string refusal(const std::vector<std::string>& lines)
{
  try {
    algorithms_of_lines(lines, "file");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::recipe);
    return error.what();
  }
  return "none";
}

} // namespace

TEST_CASE("a list of algorithms survives its file and its lines")
{
  CHECK(algorithm_lines(two) == std::vector<std::string>{"conv1 direct direct channels-last", "conv2 winograd direct direct"});
  CHECK(algorithms_of_lines(algorithm_lines(two), "lines") == two);
  const TemporaryFolder folder;
  write_file_atomic(folder.path() / "algorithms.json", to_json(two));
  CHECK(read_algorithms(folder.path() / "algorithms.json") == two);
}

TEST_CASE("a line of algorithms that cannot be read is refused with the line and what is allowed")
{
  CHECK(refusal({"conv1 direct"}) == "file: `conv1 direct` cannot be read; give the name of a convolution and three algorithms: "
                                     "forward, backward to the data, backward to the weights.");
  CHECK(refusal({"conv1 direct fft direct"}) == "file: `fft` in `conv1 direct fft direct` is no algorithm; it must be one of "
                                                "direct, winograd, channels-last, image-lanes.");
  CHECK(refusal({"a direct direct direct", "a direct direct direct"}) ==
        "file: Layer a is named twice; name each convolution once.");
}

TEST_CASE("a text that is no list of algorithms is refused with advice")
{
  const std::string advice = "Give the algorithms.json of a run's folder.";
  CHECK_THROWS_WITH(parse_algorithms("{", "f"), "f: This is not a list of algorithms. " + advice);
  CHECK_THROWS_WITH(parse_algorithms(R"({"schema": 1})", "f"), "f: This is not a list of algorithms. " + advice);
  CHECK_THROWS_WITH(parse_algorithms(R"({"schema": 1, "algorithms": []})", "f"), "f: The list of algorithms is empty. " + advice);
  CHECK_THROWS_WITH(parse_algorithms(R"({"schema": 2, "algorithms": []})", "f"),
                    "f: It was written by a later dtctl (schema 2; this one reads 1), so use that one.");
  CHECK_THROWS_WITH(read_algorithms("/nowhere/a.json"),
                    "/nowhere/a.json: There is no such file. Give the path of the algorithms.json in a run's folder.");
}

TEST_CASE("a list does not fit a run that excludes one of its algorithms")
{
  CHECK_FALSE(algorithms_misfit(two, true, Precision::fp32));
  CHECK(algorithms_misfit(two, false, Precision::fp32) ==
        "`train.winograd: false` excludes Winograd's algorithm, which the list of algorithms names for conv2");
  CHECK_FALSE(algorithms_misfit(two, true, Precision::bf16));
  CHECK(algorithms_misfit({{"c", {image_lanes, image_lanes, image_lanes}}}, true, Precision::bf16) ==
        "`train.precision: bf16` has no image-lanes, which the list of algorithms names for c");
  CHECK_FALSE(algorithms_misfit({{"c", {direct, channels_last, direct}}}, false, Precision::bf16));
}

TEST_CASE("algorithms in words are counts, by direction where these differ")
{
  CHECK(in_words({}) == "as the rules have it");
  CHECK(in_words({{"c", {image_lanes, image_lanes, image_lanes}}}) == "1 convolution: 1 image-lanes");
  CHECK(in_words(two) == "2 convolutions: forward 1 direct, 1 winograd; backward to the data 2 direct; backward to the weights 1 "
                         "direct, 1 channels-last");
}
