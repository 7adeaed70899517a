// Arrays in HDF5 files, through libhdf5. The library is not safe against crafted files and not thread-safe: it is called by the
// process that packs only, and under one lock.
#include "core/error.hpp"
#include "core/text.hpp"
#include "engine/data/packing/readers/array_source.hpp"
#include "engine/data/packing/readers/readers.hpp"
#include "engine/data/packing/readers/source_files.hpp"

#include <array>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

std::mutex& library()
{
  static std::mutex mutex;
  return mutex;
}

// Owns an identifier of the library.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle()
  {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }
  bool is_valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

std::string type_name(hid_t type)
{
  const auto bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
  case H5T_INTEGER:
    return fmt::format("{}{}", H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int", bits);
  case H5T_FLOAT:
    return fmt::format("float{}", bits);
  case H5T_STRING:
    return "text";
  case H5T_ENUM: // h5py's truth values
    return H5Tget_nmembers(type) == 2 && H5Tget_size(type) == 1 ? "bool" : "of an enumeration";
  default:
    return "of another type";
  }
}

class Hdf5Arrays final : public ArrayFile {
 public:
  explicit Hdf5Arrays(const fs::path& path) : path_(path), guard_(library()), file_(open(path), H5Fclose)
  {
    if (!file_.is_valid()) throw damaged("it cannot be opened as HDF5");
    const auto visit = [](hid_t, const char* name, const H5L_info_t* info, void* self) -> herr_t {
      constexpr std::size_t most_arrays = 10000;
      auto& arrays = *static_cast<Hdf5Arrays*>(self);
      if (info->type == H5L_TYPE_HARD) arrays.add(name);
      return arrays.arrays_.size() > most_arrays ? 1 : 0;
    };
    if (H5Lvisit(file_.get(), H5_INDEX_NAME, H5_ITER_INC, visit, this) < 0) throw damaged("its groups cannot be read");
    guard_.unlock();
  }
  ~Hdf5Arrays() override
  {
    if (!guard_.owns_lock()) guard_.lock(); // the members close their objects
  }

  void read_rows(const ArrayInfo& array, std::int64_t first, std::int64_t count, std::string& bytes) override
  {
    bytes.resize(static_cast<std::size_t>(count) * array.row_bytes());
    std::vector<hsize_t> begin(array.shape.size()), size(array.shape.begin(), array.shape.end());
    begin[0] = static_cast<hsize_t>(first);
    size[0] = static_cast<hsize_t>(count);
    const std::lock_guard lock(library());
    const Handle set(H5Dopen2(file_.get(), array.name.c_str(), H5P_DEFAULT), H5Dclose), space(H5Dget_space(set.get()), H5Sclose),
        memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose);
    const bool is_read = H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr) >= 0 &&
                         H5Dread(set.get(), H5T_NATIVE_UINT8, memory.get(), space.get(), H5P_DEFAULT, bytes.data()) >= 0;
    if (is_read) return;
    require_filters(set.get(), array.name);
    throw damaged(fmt::format("rows {} to {} of {} cannot be read", first, first + count - 1, printable(array.name)));
  }

  std::vector<std::int64_t> read_integers(const ArrayInfo& array) override
  {
    std::vector<std::int64_t> values(static_cast<std::size_t>(array.shape[0]));
    const std::lock_guard lock(library());
    const Handle set(H5Dopen2(file_.get(), array.name.c_str(), H5P_DEFAULT), H5Dclose);
    if (H5Dread(set.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
      throw damaged(fmt::format("{} cannot be read", printable(array.name)));
    return values;
  }

 private:
  // Throws a usage error if the array is compressed in a way that the library does not know: h5py's lzf, for example.
  void require_filters(hid_t set, const std::string& name) const
  {
    const Handle storage(H5Dget_create_plist(set), H5Pclose);
    for (int i = 0; i < H5Pget_nfilters(storage.get()); ++i) {
      unsigned flags = 0, config = 0;
      std::size_t values = 0;
      std::array<char, 64> text{};
      const auto filter =
          H5Pget_filter2(storage.get(), static_cast<unsigned>(i), &flags, &values, nullptr, text.size(), text.data(), &config);
      if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
        throw source_error(
            path_, fmt::format("{} is compressed with {}, which this machine's HDF5 library does not know. Write it with gzip or "
                               "without compression.",
                               printable(name), text[0] == '\0' ? fmt::format("filter {}", filter) : printable(text.data())));
    }
  }

  static hid_t open(const fs::path& path)
  {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // print nothing
    return H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  }

  // Adds the link's target if it is an array in this file: not one whose values lie in other files.
  void add(const char* name)
  {
    const Handle object(H5Oopen(file_.get(), name, H5P_DEFAULT), H5Oclose);
    if (!object.is_valid() || H5Iget_type(object.get()) != H5I_DATASET) return;
    const Handle type(H5Dget_type(object.get()), H5Tclose), space(H5Dget_space(object.get()), H5Sclose),
        storage(H5Dget_create_plist(object.get()), H5Pclose);
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank < 1 || H5Pget_layout(storage.get()) == H5D_VIRTUAL || H5Pget_external_count(storage.get()) > 0) return;
    std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
    ArrayInfo array{name, {}, type_name(type.get()), false};
    for (const auto size : sizes) array.shape.push_back(static_cast<std::int64_t>(size));
    arrays_.push_back(std::move(array));
  }

  Error damaged(std::string_view what) const
  {
    return source_error(path_, fmt::format("the HDF5 file is damaged: {}. Fetch or make it again.", what));
  }

  fs::path path_;
  std::unique_lock<std::mutex> guard_; // while the object is built and destroyed; declared before what it guards
  Handle file_;
};

} // namespace

std::unique_ptr<SourceReader> read_hdf5_arrays(const SourceOptions& options)
{
  return make_array_source(std::make_unique<Hdf5Arrays>(options.path), options, "hdf5");
}

} // namespace dt::data
