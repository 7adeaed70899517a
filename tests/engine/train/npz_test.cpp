// .npz archives: what goes in comes out, NumPy reads ours and we read NumPy's, and all else is refused in a sentence.
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "engine/train/npz.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <numeric>

using namespace dt::engine;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const TensorName convolution{"conv1.weight", {2, 3, 1, 2}}, bias{"conv1.bias", {2}}, scalar{"scale", {}};
const std::vector<float> convolution_values{0.1F, -2, 3e-40F, 4, 5, 6, 7, 8, 9, 1e30F, 11, -0.0F}, bias_values{1, 2}, scalar_value{7};

std::string sample()
{
  NpzWriter writer;
  writer.add(convolution, convolution_values);
  writer.add(bias, bias_values);
  writer.add(scalar, scalar_value);
  return writer.finish();
}

struct Archive {
  explicit Archive(const std::string& bytes) : path(folder.path() / "weights.npz") { dt::replace_file(path, bytes); }
  dt::test::TemporaryFolder folder;
  fs::path path;
};

// False, with a warning, where /usr/bin/python3 has no NumPy.
bool has_numpy()
{
  std::error_code ignored;
  if (fs::exists("/usr/bin/python3", ignored) && dt::run_command({"/usr/bin/python3", "-c", "import numpy"}).ok()) return true;
  WARN("SKIPPED: /usr/bin/python3 has no NumPy");
  return false;
}

void run_python(const std::string& script, const fs::path& argument)
{
  const auto result = dt::run_command({"/usr/bin/python3", "-c", "import sys, numpy\n" + script, argument.string()});
  INFO(result.err);
  REQUIRE(result.ok());
}

} // namespace

TEST_CASE("tensors come back from an archive with their names, shapes and bits, in their order")
{
  const Archive archive(sample());
  const NpzReader reader(archive.path);
  REQUIRE(reader.tensors() == std::vector{convolution, bias, scalar});
  CHECK(reader.read(0) == convolution_values);
  CHECK(std::signbit(reader.read(0)[11]));
  CHECK(reader.read(1) == bias_values);
  CHECK(reader.read(2) == scalar_value);
}

TEST_CASE("equal tensors give equal bytes") { CHECK(sample() == sample()); }

TEST_CASE("an archive without tensors is one")
{
  const Archive archive(NpzWriter().finish());
  CHECK(NpzReader(archive.path).tensors().empty());
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
             archive.path);
}

TEST_CASE("an archive of numpy.savez is read, one of savez_compressed and one of doubles are refused")
{
  if (!has_numpy()) return;
  const dt::test::TemporaryFolder folder;
  run_python("w = numpy.arange(24, dtype='<f4').reshape(2, 3, 4)\n"
             "f = sys.argv[1]\n"
             "numpy.savez(f + '/plain.npz', **{'a.weight': w, 'b': w[0]})\n"
             "numpy.savez_compressed(f + '/small.npz', w=w)\n"
             "numpy.savez(f + '/double.npz', w=w.astype('f8'))\n"
             "numpy.savez(f + '/fortran.npz', w=numpy.asfortranarray(w))\n",
             folder.path());
  const NpzReader reader(folder.path() / "plain.npz");
  REQUIRE(reader.tensors() == std::vector{TensorName{"a.weight", {2, 3, 4}}, TensorName{"b", {3, 4}}});
  std::vector<float> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  CHECK(reader.read(0) == numbers);
  const auto in = [&](const char* name) { return "read " + (folder.path() / name).string() + ": "; };
  CHECK_THROWS_WITH(NpzReader(folder.path() / "small.npz"),
                    in("small.npz") + "tensor w is compressed or encrypted; write the archive with numpy.savez.");
  CHECK_THROWS_WITH(NpzReader(folder.path() / "double.npz"), in("double.npz") + "tensor w is not of 32-bit floats ('<f4').");
  CHECK_THROWS_WITH(NpzReader(folder.path() / "fortran.npz"), in("fortran.npz") + "tensor w is in Fortran's order.");
}

TEST_CASE("a missing file, one that is no archive and a torn one are refused with the file's name")
{
  CHECK_THROWS_WITH(NpzReader("/nowhere/w.npz"), "read /nowhere/w.npz: it cannot be opened.");
  for (const std::string bytes : {"", "PK", "a text that is longer than the record at an archive's end"}) {
    const Archive archive(bytes);
    CHECK_THROWS_WITH(NpzReader(archive.path), "read " + archive.path.string() + ": this is no .npz archive.");
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
  CHECK_THROWS_WITH(reader.read(2), Contains("tensor scale was altered: its checksum is another."));
}

TEST_CASE("no single altered byte makes a reader crash or read beyond the file")
{
  const auto whole = sample();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x41);
    const Archive archive(bytes);
    try {
      const NpzReader reader(archive.path);
      for (std::size_t t = 0; t < reader.tensors().size(); ++t) reader.read(t);
    } catch (const dt::Error& error) {
      REQUIRE_THAT(error.what(), Contains(archive.path.string()));
    }
  }
}

TEST_CASE("as many values as the shape says must go into an archive")
{
  NpzWriter writer;
  CHECK_THROWS_WITH(writer.add(bias, scalar_value), "Tensor conv1.bias of 2 floats was given 1.");
}
