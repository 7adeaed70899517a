#include "core/spec/algorithms.hpp"

#include "core/files/file.hpp"
#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using dt::test::TemporaryFolder;
using enum Algorithm;

namespace {

const Algorithms two{{"conv1", {direct, direct, channels_last}}, {"conv2", {winograd, direct, direct}}};

} // namespace

TEST_CASE("a list of algorithms survives its file and its lines, and is counts in words, by direction where these differ")
{
  CHECK(algorithm_lines(two) == std::vector<std::string>{"conv1 direct direct channels-last", "conv2 winograd direct direct"});
  CHECK(algorithms_of_lines(algorithm_lines(two), "lines") == two);
  const TemporaryFolder folder;
  write_file_atomic(folder.path() / "algorithms.json", to_json(two));
  CHECK(read_algorithms(folder.path() / "algorithms.json") == two);
  CHECK(in_words({}) == "as the rules have it");
  CHECK(in_words({{"c", {image_lanes, image_lanes, image_lanes}}}) == "1 convolution: 1 image-lanes");
  CHECK(in_words(two) == "2 convolutions: forward 1 direct, 1 winograd; backward to the data 2 direct; backward to the weights 1 "
                         "direct, 1 channels-last");
}

TEST_CASE("a line of algorithms that cannot be read is refused with the line and what is allowed")
{
  struct Row {
    std::vector<std::string> lines;
    const char* refusal;
  };
  for (const auto& [lines, refusal] : std::vector<Row>{
           {{"conv1 direct"}, "file: `conv1 direct` cannot be read; give the name of a convolution and three algorithms"},
           {{"conv1 direct fft direct"}, "file: `fft` in `conv1 direct fft direct` is no algorithm; it must be one of direct,"},
           {{"a direct direct direct", "a direct direct direct"}, "file: Layer a is named twice"}}) {
    const auto error = dt::test::error_of([&] { algorithms_of_lines(lines, "file"); });
    CHECK(error.kind() == ErrorKind::recipe);
    CHECK_THAT(error.what(), Catch::StartsWith(refusal));
  }
}

TEST_CASE("a text that is no list of algorithms is refused with advice")
{
  struct Row {
    const char *text, *refusal;
  };
  for (const auto& [text, refusal] :
       std::vector<Row>{{"{", "f: This is not a list of algorithms."},
                        {R"({"schema": 1})", "f: This is not a list of algorithms."},
                        {R"({"schema": 1, "algorithms": []})", "f: The list of algorithms is empty."},
                        {R"({"schema": 2, "algorithms": []})", "f: It was written by a later dtctl"}})
    CHECK_THROWS_WITH(parse_algorithms(text, "f"), Catch::StartsWith(refusal));
  CHECK_THROWS_WITH(read_algorithms("/nowhere/a.json"), Catch::StartsWith("/nowhere/a.json: There is no such file."));
}

TEST_CASE("a list does not fit a run that excludes one of its algorithms")
{
  CHECK_FALSE(algorithms_misfit(two, true, Precision::fp32));
  CHECK_THAT(algorithms_misfit(two, false, Precision::fp32).value(),
             Catch::StartsWith("`train.winograd: false` excludes") && Catch::EndsWith("for conv2"));
  CHECK_FALSE(algorithms_misfit(two, true, Precision::bf16));
  CHECK_THAT(algorithms_misfit({{"c", {image_lanes, image_lanes, image_lanes}}}, true, Precision::bf16).value(),
             Catch::StartsWith("`train.precision: bf16` has no image-lanes") && Catch::EndsWith("for c"));
  CHECK_FALSE(algorithms_misfit({{"c", {direct, channels_last, direct}}}, false, Precision::bf16));
}
