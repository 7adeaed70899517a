// Checkpoints of somebody who means harm: whatever libhdf5 lets one put into a file, and files altered byte by byte, end with an
// error that names file, object and what was expected, or are read well.
#include "core/error.hpp"
#include "tests/engine/train/weights/checkpoint_samples.hpp"
#include "tests/engine/train/weights/hostile_files.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <numeric>

#include <fmt/format.h>
#include <sys/stat.h>

using namespace dt;
using namespace dt::train;
using namespace dt::train::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::string tensor = "weights/conv1.weight";

// A checkpoint with so many tensors among the weights.
fs::path write_checkpoint(const fs::path& folder, int tensors = 1)
{
  CheckpointWriter writer(folder, owner, {.step = 3, .seed = 7, .wall_s = 12.5});
  for (int i = 1; i <= tensors; ++i) writer.write(fmt::format("weights/conv{}.weight", i), dims, numbers());
  writer.write("optimizer/velocity/conv1.weight", dims, numbers());
  return writer.commit().path;
}

// What reading all of an altered checkpoint ends with; empty: it was read.
std::string refusal(const std::function<void(hid_t)>& change)
{
  const dt::test::TemporaryFolder folder;
  const auto path = write_checkpoint(folder.path());
  dt::test::alter(path, change);
  try {
    const CheckpointReader reader(path);
    std::vector<float> values(12);
    reader.read(tensor, dims, values);
    return {};
  } catch (const dt::Error& error) {
    CHECK(error.kind() == dt::ErrorKind::usage);
    const std::string words = error.what(), begin = "read " + path.string() + ": ";
    CHECK_THAT(words, Catch::StartsWith(begin));
    return words.substr(std::min(words.size(), begin.size()));
  }
}

// ---- what to put into a file ----

void put_attribute(hid_t group, const char* name, hid_t type, std::vector<hsize_t> extents, const void* value)
{
  if (H5Aexists(group, name) > 0) H5Adelete(group, name);
  const hid_t space =
      extents.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  const hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Awrite(attribute, type, value) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

void put_in_progress(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& extents, const void* value)
{
  const hid_t group = H5Gopen2(file, "progress", H5P_DEFAULT);
  put_attribute(group, name, type, extents, value);
  H5Gclose(group);
}

hid_t text_type(std::size_t bytes)
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, bytes);
  return type;
}

// The tensor made anew, with these properties; values are written unless it is to stay without any.
void remake(hid_t file, const std::vector<hsize_t>& extents, const std::function<void(hid_t)>& set = {},
            hid_t type = H5T_IEEE_F32LE, bool is_written = true)
{
  H5Ldelete(file, tensor.c_str(), H5P_DEFAULT);
  const hid_t rules = H5Pcreate(H5P_DATASET_CREATE),
              space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  if (set) set(rules);
  const hid_t made = H5Dcreate2(file, tensor.c_str(), type, space, H5P_DEFAULT, rules, H5P_DEFAULT);
  REQUIRE(made >= 0);
  const std::vector<double> values(256, 1.0);
  if (is_written) H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(made);
  H5Sclose(space);
  H5Pclose(rules);
}

constexpr std::array<hsize_t, 4> chunk{1, 3, 1, 2};
const std::vector<hsize_t> extents{2, 3, 1, 2};

} // namespace

TEST_CASE("a vector where a single attribute is expected is refused")
{
  const std::vector<std::int64_t> many(8000, 3);
  const auto in_progress = refusal([&](hid_t file) { put_in_progress(file, "step", H5T_STD_I64LE, {many.size()}, many.data()); });
  CHECK(in_progress == "attribute step of /progress: it has 1 dimensions; a single value is expected.");
  const auto in_root = refusal([&](hid_t file) { put_attribute(file, "ranks", H5T_STD_I64LE, {40, 200}, many.data()); });
  CHECK(in_root == "attribute ranks of /: it has 2 dimensions; a single value is expected.");
}

TEST_CASE("a text of variable length, a huge one and one that is no text are refused")
{
  const char* words = "0123abcd";
  const std::string huge(60'000, 'x'), bell = "run\a";
  const hid_t variable = text_type(H5T_VARIABLE), of_huge = text_type(huge.size()), of_bell = text_type(bell.size());
  CHECK_THAT(refusal([&](hid_t file) { put_attribute(file, "run_key", variable, {}, &words); }),
             Contains("attribute run_key of /: its type is of variable length; a text of fixed length,"));
  CHECK(refusal([&](hid_t file) { put_attribute(file, "model", of_huge, {}, huge.data()); }) ==
        "attribute model of /: it has 60000 bytes; 1 to 4096 are expected.");
  CHECK(refusal([&](hid_t file) { put_attribute(file, "model", of_bell, {}, bell.data()); }) ==
        "attribute model of /: it holds bytes that are no text.");
  for (const auto type : {variable, of_huge, of_bell}) H5Tclose(type);
}

TEST_CASE("an attribute of another type, outside of its range or missing is refused")
{
  const double number = 3;
  const std::int64_t none = 0, endless = std::int64_t{1} << 60, before = -1;
  CHECK(refusal([&](hid_t file) { put_in_progress(file, "step", H5T_IEEE_F64LE, {}, &number); }) ==
        "attribute step of /progress: a 64-bit integer is expected.");
  CHECK(refusal([&](hid_t file) { put_in_progress(file, "loss", H5T_STD_I64LE, {}, &none); }) ==
        "attribute loss of /progress: a 64-bit float is expected.");
  CHECK(refusal([&](hid_t file) { put_attribute(file, "run_key", H5T_STD_I64LE, {}, &none); }) ==
        "attribute run_key of /: a text is expected.");
  CHECK_THAT(refusal([&](hid_t file) { put_attribute(file, "ranks", H5T_STD_I32LE, {}, &none); }),
             Contains("attribute ranks of /: its type is an integer; a text of fixed length, a 64-bit integer"));
  CHECK(refusal([&](hid_t file) { put_attribute(file, "ranks", H5T_STD_I64LE, {}, &endless); }) ==
        "attribute ranks of /: it is 1152921504606846976; 1 to 1000000 are expected.");
  CHECK(refusal([&](hid_t file) { put_attribute(file, "ranks", H5T_STD_I64LE, {}, &none); }) ==
        "attribute ranks of /: it is 0; 1 to 1000000 are expected.");
  CHECK(refusal([&](hid_t file) { put_in_progress(file, "step", H5T_STD_I64LE, {}, &before); }) ==
        "attribute step of /progress: it is -1; 0 to 9007199254740992 are expected.");
  CHECK(refusal([](hid_t file) { H5Ldelete(file, "progress", H5P_DEFAULT); }) ==
        "attribute step of /progress: it is missing; a 64-bit integer is expected.");
}

TEST_CASE("values in another file are refused: no file of the system is read as weights")
{
  CHECK(refusal([](hid_t file) {
          remake(
              file, extents, [](hid_t rules) { H5Pset_external(rules, "/etc/passwd", 0, 48); }, H5T_IEEE_F32LE, false);
        }) == "/weights/conv1.weight: its values lie in another file (external storage); they are expected in this one.");
}

TEST_CASE("soft and external links are refused, wherever they lie")
{
  const auto relink = [](hid_t file, const auto& make) {
    H5Ldelete(file, tensor.c_str(), H5P_DEFAULT);
    make(file);
  };
  const std::string expected = ": it is a link of the {} kind to elsewhere; the tensor or group itself is expected.";
  CHECK(refusal([&](hid_t file) {
          relink(file, [](hid_t f) {
            H5Lcreate_soft("/optimizer/velocity/conv1.weight", f, tensor.c_str(), H5P_DEFAULT, H5P_DEFAULT);
          });
        }) == "/weights/conv1.weight" + fmt::format(fmt::runtime(expected), "soft"));
  CHECK(refusal([&](hid_t file) {
          relink(file, [](hid_t f) { H5Lcreate_external("/tmp/other.h5", "/w", f, tensor.c_str(), H5P_DEFAULT, H5P_DEFAULT); });
        }) == "/weights/conv1.weight" + fmt::format(fmt::runtime(expected), "external"));
  CHECK(refusal([](hid_t file) { H5Lcreate_soft("/weights", file, "model", H5P_DEFAULT, H5P_DEFAULT); }) ==
        "/model" + fmt::format(fmt::runtime(expected), "soft"));
}

TEST_CASE("an object under two names and a group inside of itself are refused")
{
  CHECK_THAT(refusal([](hid_t file) { H5Lcreate_hard(file, tensor.c_str(), file, "weights/again", H5P_DEFAULT, H5P_DEFAULT); }),
             Contains("it is linked twice; one name for each object is expected."));
  CHECK_THAT(refusal([](hid_t file) { H5Lcreate_hard(file, "/", file, "weights/self", H5P_DEFAULT, H5P_DEFAULT); }),
             Contains("it is linked twice; one name for each object is expected."));
}

TEST_CASE("values in chunks, compressed, compact, virtual or never written are refused")
{
  const std::string where = "/weights/conv1.weight: ";
  CHECK(refusal([](hid_t file) { remake(file, extents, [](hid_t rules) { H5Pset_chunk(rules, 4, chunk.data()); }); }) ==
        where + "its values lie in chunks; they are expected in one piece.");
  CHECK(refusal([](hid_t file) {
          remake(file, extents, [](hid_t rules) { H5Pset_chunk(rules, 4, chunk.data()), H5Pset_shuffle(rules); });
        }) == where + "its values are compressed or filtered; plain ones are expected.");
  CHECK(refusal([](hid_t file) { remake(file, extents, [](hid_t rules) { H5Pset_layout(rules, H5D_COMPACT); }); }) ==
        where + "its values lie in its header (compact); they are expected in one piece.");
  CHECK(refusal([](hid_t file) {
          const hid_t space = H5Screate_simple(4, extents.data(), nullptr);
          remake(
              file, extents, [&](hid_t rules) { H5Pset_virtual(rules, space, "/tmp/other.h5", "/w", space); }, H5T_IEEE_F32LE,
              false);
          H5Sclose(space);
        }) == where + "its values lie in other data sets (virtual); they are expected in one piece.");
  CHECK(refusal([](hid_t file) { remake(file, extents, {}, H5T_IEEE_F32LE, false); }) ==
        where + "no values were ever written into it.");
}

TEST_CASE("extents that are not the model's, not the file's or of another type are refused")
{
  CHECK(refusal([](hid_t file) {
          remake(file, {4, 3});
        }) == "tensor weights/conv1.weight is 4x3 in the file; 2x3x1x2 is expected.");
  CHECK(refusal([](hid_t file) {
          remake(file, {12, 1});
        }) == "tensor weights/conv1.weight is 12x1 in the file; 2x3x1x2 is expected.");
  constexpr hsize_t large = hsize_t{1} << 20;
  CHECK_THAT(refusal([&](hid_t file) {
               remake(file, {large, large}, {}, H5T_IEEE_F32LE, false);
             }),
             Contains("tensor /weights/conv1.weight: its dimensions need more bytes than the file has ("));
  CHECK(refusal([](hid_t file) { remake(file, extents, {}, H5T_IEEE_F64LE); }) ==
        "/weights/conv1.weight: its values are not 32-bit little-endian floats (the type is a float).");
  CHECK(refusal([](hid_t file) { remake(file, extents, {}, H5T_IEEE_F32BE); }) ==
        "/weights/conv1.weight: its values are not 32-bit little-endian floats (the type is a float).");
  CHECK(refusal([](hid_t file) { H5Ldelete(file, tensor.c_str(), H5P_DEFAULT); }) ==
        "tensor weights/conv1.weight is expected, but is not there.");
}

TEST_CASE("dimensions whose product does not fit into 64 bits are refused")
{
  const dt::test::TemporaryFolder folder;
  const auto path = write_checkpoint(folder.path());
  auto bytes = dt::read_file(path);
  const std::array<std::uint64_t, 4> ours{2, 3, 1, 2}, hostile{std::uint64_t{1} << 61, 3, 1, 8};
  const std::string_view from(reinterpret_cast<const char*>(ours.data()), sizeof ours),
      to(reinterpret_cast<const char*>(hostile.data()), sizeof hostile);
  for (auto at = bytes.find(from); at != bytes.npos; at = bytes.find(from)) bytes.replace(at, to.size(), to);
  dt::test::write_sealed(path, bytes);
  CHECK_THROWS_WITH(CheckpointReader(path), Contains(": its dimensions need more bytes than the file has ("));
}

TEST_CASE("what is neither a group nor a tensor, and a name that is none, are refused")
{
  CHECK(refusal([](hid_t file) {
          const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
          H5Tcommit2(file, "weights/type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
          H5Tclose(type);
        }) == "/weights/type: it is neither a group nor a tensor.");
  for (const char* name : {"..", "a\tb", "a\x1b[2J"}) {
    CAPTURE(name);
    CHECK_THAT(refusal([&](hid_t file) {
                 H5Lmove(file, tensor.c_str(), file, (std::string("weights/") + name).c_str(), H5P_DEFAULT, H5P_DEFAULT);
               }),
               Contains("is no name of a tensor: parts of printable ASCII with one slash between them are expected."));
  }
}

TEST_CASE("a folder, a pipe and a device are no checkpoints, and nobody waits for them")
{
  const dt::test::TemporaryFolder folder;
  const auto pipe = folder.path() / "step-3.h5";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const fs::path& path : {pipe, folder.path(), fs::path("/dev/zero")})
    CHECK_THROWS_WITH(CheckpointReader(path),
                      "read " + path.string() + ": it is a folder, a pipe or a device; a regular file is expected.");
}

TEST_CASE("as many tensors as a model may have come back in their order, whatever index HDF5 makes of their names")
{
  for (const int count : {1, 8, 9, 45, 46, 400, 1500}) {
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

TEST_CASE("a checkpoint whose groups do not remember an order is read by name")
{
  const dt::test::TemporaryFolder folder;
  const auto path = write_checkpoint(folder.path());
  dt::test::alter(path, [](hid_t file) {
    H5Ldelete(file, "weights", H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "weights", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hid_t space = H5Screate_simple(4, extents.data(), nullptr);
    for (int i = 40; i > 0; --i) {
      const hid_t made = H5Dcreate2(file, fmt::format("weights/w{:02}", i).c_str(), H5T_IEEE_F32LE, space, H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT);
      H5Dwrite(made, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers().data());
      H5Dclose(made);
    }
    H5Sclose(space);
  });
  const auto found = CheckpointReader(path).tensors("weights");
  REQUIRE(found.size() == 40);
  for (int i = 0; i < 40; ++i) CHECK(found[static_cast<std::size_t>(i)].name == fmt::format("w{:02}", i + 1));
}

TEST_CASE("altered and torn checkpoints with a hash that fits end with an error that names the file, or are read")
{
  std::mt19937 random(20261122);
  int refused = 0, read = 0;
  for (const int count : {3, 60}) {
    const dt::test::TemporaryFolder folder;
    const auto path = write_checkpoint(folder.path(), count);
    const auto whole = dt::read_file(path);
    for (int i = 0; i < 300; ++i) {
      dt::test::write_sealed(path, dt::test::mutated(whole, dt::test::checkpoint_header_bytes, random));
      try {
        const CheckpointReader reader(path);
        std::vector<float> values(12);
        for (const auto& [name, found] : reader.tensors("weights"))
          if (found == dims) reader.read("weights/" + name, dims, values);
        ++read;
      } catch (const dt::Error& error) {
        REQUIRE_THAT(error.what(), Catch::StartsWith("read " + path.string() + ": "));
        ++refused;
      }
    }
  }
  CHECK(refused > 100);
  CHECK(read > 100);
}
