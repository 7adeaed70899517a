// .safetensors files: what goes in comes out, Python reads ours and we read Python's, and all else is refused in a sentence.
#include "engine/train/weights/safetensors.hpp"
#include "tests/engine/refusal.hpp"
#include "tests/engine/train/weights/hostile_files.hpp"
#include "tests/engine/train/weights/python.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

#include <fmt/format.h>

using namespace dt;
using namespace dt::train;
using Catch::Contains;
using dt::test::with_header;
namespace fs = std::filesystem;

namespace {

const std::vector<TensorName> names{{"conv1.weight", {2, 3, 1, 2}}, {"none", {0, 4}}, {"scale", {}}};
const std::vector<float> values{0.1F, -2, 3e-40F, 4, 5, 6, 7, 8, 9, 1e30F, 11, -0.0F, 7};

std::string bytes_of(const auto& numbers)
{
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof numbers[0]};
}

std::string sample()
{
  const std::vector<std::pair<std::string, std::string>> metadata{{"second", "a \"text\""}, {"first", ""}};
  return safetensors_header(names, metadata) + bytes_of(values);
}

std::vector<float> read(const SafetensorsReader& reader, std::size_t index)
{
  std::vector<float> all(element_count(reader.tensors()[index].dims));
  reader.read(index, all);
  return all;
}

struct File {
  explicit File(const std::string& bytes) : path(folder.path() / "w.safetensors") { dt::replace_file(path, bytes); }
  SafetensorsReader open() const { return SafetensorsReader(std::make_unique<InputFile>(path)); }
  void read_all() const
  {
    const auto reader = open();
    for (std::size_t t = 0; t < reader.tensors().size(); ++t) {
      REQUIRE(element_count(reader.tensors()[t].dims) <= 1'000'000);
      read(reader, t);
    }
  }
  dt::test::TemporaryFolder folder;
  fs::path path;
};

// What opening a file with this header ends with, without "read PATH: ". Empty: it was opened.
std::string refusal(const std::string& header, const std::string& data = std::string(8, '\0'))
{
  const File file(with_header(header, data));
  return dt::test::refusal_behind("read " + file.path.string() + ": ", ErrorKind::usage, [&] { file.open(); });
}

// The header's entry of a tensor of 8 bytes, with other members.
std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets, const std::string& name = "w")
{
  return fmt::format(R"("{}":{{"dtype":{},"shape":{},"data_offsets":{}}})", name, dtype, shape, offsets);
}

} // namespace

TEST_CASE("tensors and metadata come back from a safetensors file with their names, shapes and bits, in their order")
{
  const File file(sample());
  const auto reader = file.open();
  REQUIRE(reader.tensors() == names);
  CHECK(read(reader, 0) == std::vector<float>(values.begin(), values.end() - 1));
  CHECK(std::signbit(read(reader, 0)[11]));
  CHECK(read(reader, 1).empty());
  CHECK(read(reader, 2) == std::vector<float>{7});
  CHECK(reader.metadata() == std::map<std::string, std::string>{{"first", ""}, {"second", "a \"text\""}});
}

TEST_CASE("the metadata come first in a header, and the values begin at a multiple of 8 bytes")
{
  CHECK_THAT(sample().substr(8),
             Catch::StartsWith(R"({"__metadata__":{"second":"a \"text\"","first":""},"conv1.weight":{"dtype":"F32",)"));
  CHECK(dt::test::header_of(sample()).size() % 8 == 0);
  CHECK(safetensors_header({}, {}).substr(8) == "{}      ");
}

TEST_CASE("floats of 16 and 64 bits become floats of 32 bits")
{
  const std::vector<std::uint16_t> halves{0x8001, 0x7bff, 0xfc00, 0x2e66}, bfloats{0x3f80, 0xc000, 0x7f80, 0x0001};
  std::vector<double> doubles(300'000); // more than one block
  std::iota(doubles.begin(), doubles.end(), -5.0);
  const File file(with_header("{" + entry(R"("F16")", "[4]", "[0,8]", "half") + "," +
                                  entry(R"("BF16")", "[4]", "[8,16]", "bfloat") + "," +
                                  entry(R"("F64")", "[3,100000]", "[16,2400016]", "double") + "}",
                              bytes_of(halves) + bytes_of(bfloats) + bytes_of(doubles)));
  const auto reader = file.open();
  CHECK(read(reader, 0) == std::vector{-0x1p-24F, 65504.0F, -INFINITY, 0.0999755859375F});
  CHECK(read(reader, 1) == std::vector{1.0F, -2.0F, INFINITY, 0x1p-133F});
  CHECK(read(reader, 2) == std::vector<float>(doubles.begin(), doubles.end()));
}

TEST_CASE("Python finds our tensors by the header and NumPy reads their values, and its own files come back")
{
  if (!dt::test::has_numpy()) return;
  const File file(sample()), other("");
  dt::test::run_python(
      "import json, struct\n"
      "content = open(sys.argv[1], 'rb').read()\n"
      "length, = struct.unpack('<Q', content[:8])\n"
      "header = json.loads(content[8:8 + length])\n"
      "assert header.pop('__metadata__') == {'second': 'a \"text\"', 'first': ''}\n"
      "assert list(header) == ['conv1.weight', 'none', 'scale'], header\n"
      "entry = header['conv1.weight']\n"
      "begin, end = entry['data_offsets']\n"
      "w = numpy.frombuffer(content[8 + length:][begin:end], '<f4').reshape(entry['shape'])\n"
      "assert entry['dtype'] == 'F32' and w.shape == (2, 3, 1, 2) and w[1, 2, 0, 0] == 11 and w[0, 0, 0, 1] == -2\n"
      "numbers = numpy.arange(6, dtype='<f8').reshape(2, 3)\n"
      "text = json.dumps({'b.weight': {'data_offsets': [4, 52], 'shape': numbers.shape, 'dtype': 'F64'},\n"
      "                   'a': {'dtype': 'F16', 'shape': [2], 'data_offsets': [0, 4]}}).encode() + b'   '\n"
      "half = numpy.array([0.5, -2], '<f2')\n"
      "open(sys.argv[2], 'wb').write(struct.pack('<Q', len(text)) + text + half.tobytes() + numbers.tobytes())\n",
      {file.path.string(), other.path.string()});
  const auto reader = other.open();
  CHECK(reader.tensors() == std::vector<TensorName>{{"a", {2}}, {"b.weight", {2, 3}}});
  CHECK(read(reader, 0) == std::vector{0.5F, -2.0F});
  CHECK(read(reader, 1) == std::vector<float>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a safetensors file that is cut anywhere is refused, and a missing one is named")
{
  const auto whole = sample();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const File file(whole.substr(0, size));
    REQUIRE_THROWS_WITH(file.open(), Catch::StartsWith("read " + file.path.string() + ": "));
  }
  const File longer(whole + '\0');
  CHECK_THROWS_WITH(longer.open(), Contains("its tensors end at byte 52 of the data, which has 53 bytes."));
  CHECK_THROWS_WITH(InputFile("/nowhere/w.safetensors"), "open /nowhere/w.safetensors: No such file or directory");
}

TEST_CASE("altered and torn safetensors files end with an error that names the file, or are read, and never crash a reader")
{
  const auto whole = sample();
  const File file(whole);
  const auto one_byte_altered = [&](std::size_t i) {
    auto bytes = whole;
    bytes[i / 3] = static_cast<char>(bytes[i / 3] ^ std::array{0x01, 0x41, 0xff}[i % 3]);
    return bytes;
  };
  CHECK(dt::test::times_refused(file.path, 3 * whole.size(), one_byte_altered, [&] { file.read_all(); }) > 300);
  std::mt19937 random(20261127);
  const auto mutated = [&](std::size_t) { return dt::test::mutated(whole, 0, random); };
  CHECK(dt::test::times_refused(file.path, 800, mutated, [&] { file.read_all(); }) > 400);
}

TEST_CASE("a length of the header beyond the file or above 100 MB is refused before any memory is taken")
{
  for (const std::uint64_t length : {std::uint64_t{7}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const File file(bytes_of(std::vector{length}) + "{}    ");
    CHECK_THROWS_WITH(file.open(), Contains(fmt::format("its header has {} bytes; at most 6 are expected.", length)));
  }
  const dt::test::TemporaryFolder folder;
  const auto path = folder.path() / "large.safetensors";
  dt::replace_file(path, bytes_of(std::vector{std::uint64_t{100'000'001}}));
  fs::resize_file(path, 200'000'000); // a hole
  CHECK_THROWS_WITH(SafetensorsReader(std::make_unique<InputFile>(path)), Contains("at most 100000000 are expected."));
}

TEST_CASE("a header that is no JSON object of objects, or is nested deeply, is refused")
{
  for (const std::string header : {"", "{", "{} x", "{\"\xff\":{}}"}) CHECK_THAT(refusal(header), Contains("is not JSON"));
  CHECK(refusal('"' + std::string(100'000, 'x')).size() < 300);
  for (const std::string header : {"[]", "3", "null", "\"w\"", R"({"w":3})", R"({"w":[]})"})
    CHECK(refusal(header) == "its header is not a JSON object of JSON objects.");
  for (const std::string begin : {"{\"w\":", "[", "{\"w\":{\"shape\":["}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += begin;
    CHECK_THAT(refusal(deep), Contains("its header is n")); // nested too deeply, or not an object of objects
  }
  for (const auto& [shape, offsets] : {std::pair{"[[2]]", "[0,8]"}, {"[2]", "{}"}})
    CHECK(refusal("{" + entry(R"("F32")", shape, offsets) + "}") == "its header is nested too deeply.");
  CHECK(refusal("{}", "").empty());
}

TEST_CASE("names, types, shapes and offsets that are none or do not fit the data are refused before any memory is taken")
{
  const std::string f32 = R"("F32")", first = entry(f32, "[2]", "[0,8]");
  const auto of = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return "{" + entry(dtype, shape, offsets) + "}";
  };
  const auto two = [](const std::string& one, const std::string& other) {
    return "{" + entry(R"("F16")", "[2]", one, "a") + "," + entry(R"("F16")", "[2]", other, "b") + "}";
  };
  std::string ones = "1";
  for (int i = 0; i < 32; ++i) ones += ",1";
  struct Row {
    std::vector<std::string> headers;
    std::string why; // "": they are read
  };
  std::vector<Row> rows{
      {{of(f32, "[2]", "[0,8]"), two("[0,4]", "[4,8]"), two("[4,8]", "[0,4]")}, ""},
      {{"{" + first + "," + first + "}"}, R"("w" is in the header twice.)"},
      {{"{" + first + R"(,"__metadata__":{},"__metadata__":{}})"}, R"("__metadata__" is in the header twice.)"},
      {{R"({"w":{"dtype":"F32","dtype":"F16","shape":[2],"data_offsets":[0,8]}})"}, R"("dtype" is in the header twice.)"},
      {{"{" + first + R"(,"__metadata__":{"a":3}})"}, "metadata a: a text is expected."},
      {{R"({"w":{}})"}, "tensor w: dtype is missing."},
      {{R"({"w":{"dtype":"F32","shape":[2]}})"}, "tensor w: data_offsets is missing."},
      {{of(f32, "[9223372036854775808]", "[0,8]")}, "tensor w: 9223372036854775808 is too large for a dimension."},
      {{of(f32, "[" + ones + "]", "[0,8]")}, "tensor w: it has more than 32 dimensions."},
      {{two("[0,4]", "[0,4]")}, "tensor b begins at byte 0 of the data, but the one before it ends at byte 4."},
      {{two("[0,4]", "[2,6]")}, "tensor b begins at byte 2 of the data, but the one before it ends at byte 4."},
      {{of(R"("F16")", "[2]", "[4,8]")}, "tensor w begins at byte 4 of the data, but the one before it ends at byte 0."},
      {{of(R"("F16")", "[2]", "[0,4]")}, "its tensors end at byte 4 of the data, which has 8 bytes."}};
  const auto add = [&](const std::string& why, const std::vector<std::string>& values, const auto& header) {
    for (const auto& value : values) rows.push_back({{header(value)}, why});
  };
  const auto with_shape = [&](const std::string& shape) { return of(f32, shape, "[0,8]"); };
  const auto with_offsets = [&](const std::string& offsets) { return of(f32, "[2]", offsets); };
  add("tensor w: its dtype is none of F16, BF16, F32 and F64.", {R"("I64")", R"("f32")", R"("")", "3", "null"},
      [&](const std::string& dtype) { return of(dtype, "[1]", "[0,8]"); });
  add("tensor w: its shape must be a list of whole numbers that are not negative.",
      {"2", "[-2]", "[2.0]", "[\"2\"]", "[18446744073709551616]", "null"}, with_shape);
  add("tensor w: its dimensions need more bytes than it has (8).",
      {"[4611686018427387904]", "[4294967296,4294967296]", "[3,6148914691236517206]", "[9223372036854775807]", "[1000000000000]",
       "[3]"},
      with_shape);
  add("tensor w: it holds another number of bytes than its shape says.", {"[1]", "[]", "[0]", "[2,0]"}, with_shape);
  add("tensor w: its data_offsets must be a list of whole numbers that are not negative.", {"[-1,8]", "[0,8.0]", "8"},
      with_offsets);
  add("tensor w: its data_offsets are not a beginning and an end within the 8 bytes of data.",
      {"[8,0]", "[0,9]", "[0]", "[0,4,8]", "[]", "[8,18446744073709551615]"}, with_offsets);
  for (const auto& [headers, why] : rows)
    for (const auto& header : headers) CHECK(refusal(header) == why);
  for (const std::string name : {"", "..", "../x", "/etc/x", "a//b", "a\\nb", "a b", "\xc3\xa9"}) // which leads out of a folder
    CHECK_THAT(refusal("{" + entry(f32, "[2]", "[0,8]", name) + "}"), Contains("is no name of a tensor: "));
}

TEST_CASE("a header above 100 MB is not written")
{
  const std::vector<std::pair<std::string, std::string>> metadata{{"x", std::string(100'000'000, 'x')}};
  CHECK_THROWS_WITH(safetensors_header({}, metadata), Contains("the header of a safetensors file has at most 100000000."));
}
