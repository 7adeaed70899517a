// Arrays in HDF5 files. libhdf5 may crash on damaged files, so those are packed by dtengine.
#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "tests/engine/data/packing/sources.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <hdf5.h>

using namespace dt;
using namespace dt::test;

namespace {

// Writes an array into a file, below groups that exist already.
void write_array(hid_t file, const std::string& name, std::vector<hsize_t> shape, hid_t type, const void* values,
                 hsize_t chunk_rows = 0)
{
  const auto links = H5Pcreate(H5P_LINK_CREATE), storage = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const auto space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  if (chunk_rows > 0) {
    shape[0] = chunk_rows;
    H5Pset_chunk(storage, static_cast<int>(shape.size()), shape.data());
    H5Pset_deflate(storage, 5);
  }
  const auto set = H5Dcreate2(file, name.c_str(), type, space, links, storage, H5P_DEFAULT);
  REQUIRE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(set);
  H5Sclose(space);
  H5Pclose(links);
  H5Pclose(storage);
}

// A file with a training set of 20 images, channels first, and a test set of 5.
fs::path write_file(const TemporaryFolder& folder)
{
  const auto path = folder.path() / "a.h5";
  const auto file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  std::string pixels;
  std::vector<std::int16_t> labels;
  for (std::int16_t i = 0; i < 25; ++i) {
    const auto image = numbered_image(i);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t p = 0; p < 30; ++p) pixels += static_cast<char>(image.pixels[3 * p + c]);
    labels.push_back(i % 4);
  }
  write_array(file, "train/images", {20, 3, 6, 5}, H5T_NATIVE_UINT8, pixels.data(), 7);
  write_array(file, "train/labels", {20}, H5T_NATIVE_INT16, labels.data());
  write_array(file, "test/images", {5, 3, 6, 5}, H5T_NATIVE_UINT8, pixels.data() + 20 * 90);
  write_array(file, "test/labels", {5, 1}, H5T_NATIVE_INT16, labels.data() + 20);
  H5Fclose(file);
  return path;
}

CommandResult pack_with_engine(const fs::path& source, const fs::path& output)
{
  return run_command({DTCTL_BINARY_DIR "/bin/dtengine", "data", "pack", source.string(), "--out", output.string()}, 60);
}

} // namespace

TEST_CASE("arrays of an HDF5 file in groups train and test become records, chunked and compressed ones too")
{
  const TemporaryFolder folder;
  auto options = plain_options(write_file(folder), folder.path() / "a.pack");
  options.split.test_fraction.reset();
  data::pack_data(options);
  const PackedFile file(options.output);
  CHECK(file.description().train_samples == 20);
  CHECK(file.description().test_samples == 5);
  CHECK(file.description().classes.size() == 4);
  for (int i = 0; i < 25; ++i) {
    CHECK(record(file, i) == text_of(numbered_image(i)));
    CHECK(file.entry(i).label == static_cast<std::uint32_t>(i % 4));
  }
  CHECK(file.name(20) == "test/images[0]");
}

TEST_CASE("arrays of an HDF5 file can be named, and arrays of other types are refused with what is there")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.h5";
  const auto file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const std::vector<float> floats(8);
  const std::vector<std::uint8_t> bytes(8);
  write_array(file, "scans", {2, 2, 2}, H5T_NATIVE_UINT8, bytes.data());
  write_array(file, "real", {2, 2, 2}, H5T_NATIVE_FLOAT, floats.data());
  write_array(file, "kinds", {2}, H5T_NATIVE_UINT8, bytes.data());
  H5Fclose(file);
  auto options = plain_options(path, folder.path() / "a.pack");
  CHECK_THROWS_WITH(data::pack_data(options),
                    Catch::EndsWith("The file has kinds (2,) uint8, real (2, 2, 2) float32, scans (2, 2, 2) "
                                    "uint8. Name them with --images and --labels."));
  options.source.images = "real";
  CHECK_THROWS_WITH(data::pack_data(options), "--images and --labels belong together: give both names.");
  options.source.labels = "kinds";
  CHECK_THROWS_WITH(data::pack_data(options), Catch::EndsWith("real (2, 2, 2) float32: images are unsigned bytes (uint8)."));
  options.source.images = "scan";
  CHECK_THROWS_WITH(data::pack_data(options), Catch::Contains("--images scan: there is no such array."));
  options.source.images = "scans";
  CHECK(data::pack_data(options).description.train_samples == 2);
}

TEST_CASE("an HDF5 file that is cut anywhere never becomes a set, and never leaves one behind")
{
  const TemporaryFolder folder;
  const auto whole = read(write_file(folder));
  const auto source = folder.path() / "cut.h5", output = folder.path() / "cut.pack";
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 25) {
    write(source, whole.substr(0, length));
    const auto result = pack_with_engine(source, output);
    INFO(length << ": " << result.err);
    CHECK_FALSE(result.ok());
    CHECK_FALSE(fs::exists(output));
    if (result.signal == 0) CHECK(result.exit_code == static_cast<int>(ExitCode::usage));
  }
  write(source, whole);
  CHECK(pack_with_engine(source, output).ok());
}
