// .npz archives: what goes in comes out, NumPy reads ours and we read NumPy's, and all else is refused in a sentence.
#include "engine/train/weights/npz.hpp"
#include "tests/engine/refusal.hpp"
#include "tests/engine/train/weights/mutation.hpp"
#include "tests/engine/train/weights/python.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <random>

using namespace dt;
using namespace dt::train;
using Catch::Contains;
using dt::test::has_numpy;
using dt::test::run_python;
namespace fs = std::filesystem;

namespace {

const TensorName convolution{"conv1.weight", {2, 3, 1, 2}}, bias{"conv1.bias", {2}}, scalar{"scale", {}};
const std::vector<float> convolution_values{0.1F, -2, 3e-40F, 4, 5, 6, 7, 8, 9, 1e30F, 11, -0.0F}, bias_values{1, 2},
    scalar_value{7};

std::string sample()
{
  NpzWriter writer;
  writer.add(convolution, convolution_values);
  writer.add(bias, bias_values);
  writer.add(scalar, scalar_value);
  return writer.finish();
}

// The sample with other words in the header of one tensor; directory and lengths stay.
std::string with_header(const std::string& tensor, const std::string& from, const std::string& to)
{
  auto bytes = sample();
  const auto begin = bytes.find(tensor + ".npy"), at = bytes.find(from, begin), end = bytes.find('\n', at);
  REQUIRE(end != bytes.npos);
  const auto rest = bytes.substr(at + from.size(), end - at - from.size());
  bytes.replace(at, end - at, (to + rest + std::string(100, ' ')).substr(0, end - at));
  return bytes;
}

struct Archive {
  explicit Archive(const std::string& bytes) : path(folder.path() / "weights.npz") { dt::replace_file(path, bytes); }
  dt::test::TemporaryFolder folder;
  fs::path path;
};

std::vector<float> read(const NpzReader& reader, std::size_t index)
{
  std::vector<float> all(element_count(reader.tensors()[index].dims));
  reader.read(index, all);
  return all;
}

void read_all(const fs::path& path)
{
  const NpzReader reader(path);
  for (std::size_t t = 0; t < reader.tensors().size(); ++t) read(reader, t);
}

// What opening an archive of these bytes is refused with, behind the archive's name.
std::string refusal(const std::string& bytes)
{
  const Archive archive(bytes);
  const auto words = dt::test::refusal(ErrorKind::usage, [&] { NpzReader reader(archive.path); }), name = archive.path.string();
  REQUIRE_THAT(words, Contains(name + ": "));
  return words.substr(words.find(name) + name.size() + 2);
}

} // namespace

TEST_CASE("tensors come back from an archive with their names, shapes and bits, in their order")
{
  const Archive archive(sample());
  const NpzReader reader(archive.path);
  REQUIRE(reader.tensors() == std::vector{convolution, bias, scalar});
  CHECK(read(reader, 0) == convolution_values);
  CHECK(std::signbit(read(reader, 0)[11]));
  CHECK(read(reader, 1) == bias_values);
  CHECK(read(reader, 2) == scalar_value);
}

TEST_CASE("equal tensors give equal bytes, at every time and in every time zone")
{
  const auto bytes = sample();
  CHECK(bytes.substr(10, 4) == std::string("\0\0\x21\0", 4)); // zip's earliest time, 1980-01-01
  ::setenv("TZ", "UTC-11", 1);
  ::tzset();
  CHECK(sample() == bytes);
  ::unsetenv("TZ");
  ::tzset();
}

TEST_CASE("values begin at a multiple of 64 bytes from npy's header")
{
  const auto bytes = sample();
  for (auto at = bytes.find("\x93NUMPY"); at != bytes.npos; at = bytes.find("\x93NUMPY", at + 1)) {
    const auto length = static_cast<unsigned char>(bytes[at + 8]) + 256 * static_cast<unsigned char>(bytes[at + 9]);
    CHECK((10 + length) % 64 == 0);
  }
}

TEST_CASE("numpy.load reads an archive of ours")
{
  if (!has_numpy()) return;
  const Archive archive(sample());
  run_python("z = numpy.load(sys.argv[1])\n"
             "assert list(z.keys()) == ['conv1.weight', 'conv1.bias', 'scale'], list(z.keys())\n"
             "w = z['conv1.weight']\n"
             "assert w.dtype == numpy.dtype('<f4') and w.shape == (2, 3, 1, 2) and w.flags.c_contiguous\n"
             "assert w[0, 0, 0, 1] == -2 and w[1, 2, 0, 0] == 11\n"
             "assert z['conv1.bias'].tolist() == [1, 2] and z['scale'].shape == ()\n",
             {archive.path.string()});
}

TEST_CASE("an archive of numpy.savez is read, also compressed, with 16- or 64-bit floats or in Fortran's order, and refused with "
          "whole numbers")
{
  if (!has_numpy()) return;
  const dt::test::TemporaryFolder folder;
  run_python("w = numpy.arange(24, dtype='<f4').reshape(2, 3, 4)\n"
             "f = sys.argv[1]\n"
             "numpy.savez(f + '/plain.npz', **{'a.weight': w, 'b': w[0]})\n"
             "numpy.savez_compressed(f + '/small.npz', w=w)\n"
             "numpy.savez(f + '/double.npz', w=w.astype('f8'))\n"
             "numpy.savez(f + '/half.npz', w=w.astype('f2'), few=numpy.array([-2 ** -24, 65504, -numpy.inf, 0.1], 'f2'))\n"
             "numpy.savez(f + '/fortran.npz', w=numpy.asfortranarray(w))\n"
             "numpy.savez(f + '/double_fortran.npz', w=numpy.asfortranarray(w.astype('f8')))\n"
             "numpy.savez(f + '/whole.npz', w=w.astype('i4'))\n"
             "numpy.savez(f + '/big_endian.npz', w=w.astype('>f4'))\n",
             {folder.path().string()});
  const NpzReader reader(folder.path() / "plain.npz");
  REQUIRE(reader.tensors() == std::vector{TensorName{"a.weight", {2, 3, 4}}, TensorName{"b", {3, 4}}});
  std::vector<float> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  CHECK(read(reader, 0) == numbers);
  const auto in = [&](const char* name) { return "read " + (folder.path() / name).string() + ": "; };
  for (const auto* name : {"small.npz", "double.npz", "half.npz", "fortran.npz", "double_fortran.npz"}) {
    INFO(name);
    const NpzReader converted(folder.path() / name);
    CHECK(converted.tensors().front() == TensorName{"w", {2, 3, 4}});
    CHECK(read(converted, 0) == numbers);
  }
  CHECK(read(NpzReader(folder.path() / "half.npz"), 1) == std::vector{-0x1p-24F, 65504.0F, -INFINITY, 0.0999755859375F});
  for (const auto* name : {"whole.npz", "big_endian.npz"})
    CHECK_THROWS_WITH(NpzReader(folder.path() / name),
                      in(name) + "tensor w is not of 16-, 32- or 64-bit floats ('<f2', '<f4', '<f8').");
}

TEST_CASE("shapes are of the same numbers in the same order where the file's dimensions only divide the model's")
{
  using Dims = std::vector<std::int64_t>;
  const auto fits = [](const Dims& in_file, const Dims& in_model) { return dt::train::is_same_order(in_file, in_model); };
  CHECK(fits({120, 16, 5, 5}, {120, 400}));
  CHECK(fits({10, 64, 1, 1}, {10, 64}));
  CHECK(fits({2, 128, 48, 5, 5}, {256, 48, 5, 5}));
  CHECK(fits({6, 1, 5, 5}, {6, 1, 5, 5}));
  CHECK(fits({10, 1}, {10}));
  CHECK_FALSE(fits({400, 120}, {120, 400}));
  CHECK_FALSE(fits({120, 400}, {120, 16, 5, 5}));
  CHECK_FALSE(fits({6, 5, 5, 1}, {6, 1, 5, 7}));
  CHECK_FALSE(fits({9223372036854775807, 2}, {2, 2}));
  CHECK_FALSE(fits({10, 2}, {10}));
  CHECK_FALSE(fits({}, {10}));
}

TEST_CASE("a missing file, one that is no archive, one without tensors and a torn one are refused")
{
  CHECK_THROWS_WITH(NpzReader("/nowhere/w.npz"), "open /nowhere/w.npz: No such file or directory");
  CHECK_THROWS_WITH(NpzReader("/dev/zero"), "read /dev/zero: it is a folder, a pipe or a device; a regular file is expected.");
  for (const auto& bytes : {std::string(), std::string("PK"),
                            std::string("a text that is longer than the record at an archive's end"), NpzWriter().finish()}) {
    const Archive archive(bytes);
    CHECK_THROWS_WITH(NpzReader(archive.path),
                      archive.path.string() +
                          ": the zip archive cannot be read: Unrecognized archive format. Fetch or make it again.");
  }
  const auto whole = sample();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const Archive archive(whole.substr(0, size));
    CHECK_THROWS_AS(NpzReader(archive.path), dt::Error);
  }
}

TEST_CASE("a value that was altered is found by the archive's checksum")
{
  auto bytes = sample();
  bytes[bytes.find("scale.npy") + 9 + 128] ^= 1; // behind the name and npy's header: the only value
  const Archive archive(bytes);
  const NpzReader reader(archive.path);
  CHECK_THROWS_WITH(read(reader, 2), Contains("the zip archive cannot be read at scale.npy: ZIP bad CRC"));
}

TEST_CASE("altered and torn archives end with an error that names the file, or are read, and never crash a reader")
{
  const auto whole = sample();
  const Archive archive(whole);
  const auto one_byte_altered = [&](std::size_t i) {
    auto bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x41);
    return bytes;
  };
  dt::test::times_refused(archive.path, whole.size(), one_byte_altered, [&] { read_all(archive.path); });
  std::mt19937 random(20261122);
  const auto mutated = [&](std::size_t) { return dt::test::mutated(whole, 0, random); };
  CHECK(dt::test::times_refused(archive.path, 800, mutated, [&] { read_all(archive.path); }) > 400);
}

TEST_CASE("shapes whose size does not fit into 64 bits, or not into the file, are refused before any memory is taken")
{
  for (const std::string shape : {"(4611686018427387904,)", "(4294967296, 4294967296)", "(3, 6148914691236517206)",
                                  "(9223372036854775807,)", "(1000000000000,)"})
    CHECK_THAT(refusal(with_header("scale", "'shape': ()", "'shape': " + shape)),
               Catch::StartsWith("tensor scale: its dimensions need more bytes than it has ("));
  CHECK(refusal(with_header("conv1.bias", "'shape': (2,)", "'shape': (1,)")) ==
        "tensor conv1.bias holds another number of bytes than its shape says.");
}

TEST_CASE("a header that is no dictionary of an array of floats is refused")
{
  const std::string no_shape = "member scale.npy has a header without a shape.",
                    no_floats = "tensor scale is not of 16-, 32- or 64-bit floats ('<f2', '<f4', '<f8').";
  for (const auto& [from, to, why] : {std::tuple{"'shape': ()", "'shape': (-1,)", no_shape},
                                      {"'shape': ()", "'shape': (2", no_shape},
                                      {"'shape': ()", "'shapx': ()", no_shape},
                                      {"'shape': ()", "'shape': (99999999999999999999,)", no_shape},
                                      {"'<f4'", "'>f4'", no_floats},
                                      {"'<f4'", "'|O8'", no_floats},
                                      {"False", "Maybe", "member scale.npy does not say whether it is in Fortran's order."}})
    CHECK(refusal(with_header("scale", from, to)) == why);
}

TEST_CASE("a length of npy's header beyond its member is refused")
{
  auto bytes = sample();
  const auto at = bytes.rfind("\x93NUMPY") + 8;
  for (const std::string length : {"\xff\xff", "\x80\x01"})
    CHECK(refusal(bytes.replace(at, 2, length)) == "member scale.npy has a header that is too long.");
}

TEST_CASE("a directory that does not fit its archive is refused")
{
  const auto whole = sample();
  const auto entry = whole.find("PK\x01\x02"), end = whole.rfind("PK\x05\x06");
  const auto refused = [&](std::size_t at, const std::string& field, const std::string& why) {
    CAPTURE(at, why);
    const Archive archive(std::string(whole).replace(at, field.size(), field));
    CHECK_THROWS_WITH(NpzReader(archive.path),
                      Contains(archive.path.string() + ": the zip archive cannot be read") && Contains(why));
  };
  const std::string most(4, '\xff'), large("\xff\xff\xff\x7f", 4);
  refused(end + 16, large, ": Unrecognized archive format.");
  refused(end + 12, large, ": Unrecognized archive format.");
  refused(end + 16, most, ": Truncated ZIP file header."); // there is no zip64 record
  refused(end + 10, "\x09", ": Unrecognized archive format.");
  refused(entry + 20, "\x01", "1 in central directory, 176 in local header.");
  refused(entry + 42, large, ": Truncated ZIP file header.");
  refused(entry + 42, "\x01", ": Damaged Zip archive.");
  refused(entry + 28, "\xff\xff", ": Truncated ZIP file header.");
  refused(6, "\x01", " at conv1.weight.npy: "); // encrypted
  refused(8, "\x08", " at conv1.weight.npy: "); // deflated, which it is not
  refused(8, "\x63", " at conv1.weight.npy: "); // compressed in a way that nobody knows
}

TEST_CASE("a tensor that is there twice, and a name that leads out of a folder, are refused")
{
  for (const auto& [name, why] : {std::pair{"conv1.weight", "tensor conv1.weight is in the archive twice."},
                                  {"../../etc/x", "\"../../etc/x\" is no name of a tensor: "},
                                  {"/etc/x", "\"/etc/x\" is no name of a tensor: "},
                                  {"a\nb", "\"a\\x0ab\" is no name of a tensor: "}}) {
    NpzWriter writer;
    writer.add(convolution, convolution_values);
    writer.add({name, {2}}, bias_values);
    CHECK_THAT(refusal(writer.finish()), Catch::StartsWith(why));
  }
}

TEST_CASE("as many values as the shape says must go into an archive")
{
  NpzWriter writer;
  CHECK_THROWS_WITH(writer.add(bias, scalar_value), "Tensor conv1.bias of 2 floats was given 1.");
}
