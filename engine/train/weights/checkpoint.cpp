#include "engine/train/weights/checkpoint.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/hash.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "engine/train/weights/hdf5_content.hpp"
#include "engine/train/weights/input_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>
#include <unistd.h>

namespace dt::train {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t header_bytes = 512;

// ---- HDF5 handles and errors ----

// The deepest entry of HDF5's error stack: the text of the system error, if there was one.
std::string hdf5_words()
{
  std::string words;
  const auto keep = [](unsigned depth, const H5E_error2_t* entry, void* text) -> herr_t {
    if (depth == 0 && entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep, &words);
  const std::string mark = "error message = '";
  const auto begin = words.find(mark);
  if (begin == std::string::npos) return words;
  words.erase(0, begin + mark.size());
  return words.substr(0, words.find('\''));
}

Error hdf5_error(const std::string& verb, const fs::path& path)
{
  return {ErrorKind::environment, fmt::format("{} {}: {}", verb, path.string(), hdf5_words())};
}

// An HDF5 identifier. Closing may write data, so writers call close(), which reports errors.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close closer, const std::string& verb, const fs::path& path) : id_(id), close_(closer)
  {
    if (id_ < 0) throw hdf5_error(verb, path);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle()
  {
    if (id_ >= 0) close_(id_);
  }
  hid_t id() const { return id_; }
  void close(const std::string& verb, const fs::path& path)
  {
    if (close_(std::exchange(id_, -1)) < 0) throw hdf5_error(verb, path);
  }

 private:
  hid_t id_;
  Close close_;
};

// Stops HDF5 from printing errors to stderr, and from retrying failed writes at the program's end, for example on a full disk.
void quieten_hdf5()
{
  H5dont_atexit();
  H5open();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

// Access properties for files: closing a file closes all objects in it, and files are not locked, because some parallel file
// systems refuse locks.
Handle access_rules(const fs::path& path)
{
  Handle rules(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "open", path);
  H5Pset_fclose_degree(rules.id(), H5F_CLOSE_STRONG);
  H5Pset_file_locking(rules.id(), 0, 1);
  return rules;
}

std::vector<hsize_t> extents_of(std::span<const std::int64_t> dims) { return {dims.begin(), dims.end()}; }

std::size_t element_count(std::span<const std::int64_t> dims)
{
  std::size_t count = 1;
  for (const auto dim : dims) count *= static_cast<std::size_t>(dim);
  return count;
}

// ---- attributes: the same tables serve writing and reading ----

struct TextField {
  const char* name;
  std::string CheckpointOwner::*member;
};
constexpr std::array owner_texts{
    TextField{"run_key", &CheckpointOwner::run_key},   TextField{"engine_build", &CheckpointOwner::engine_build},
    TextField{"data_id", &CheckpointOwner::data_id},   TextField{"model", &CheckpointOwner::model},
    TextField{"strategy", &CheckpointOwner::strategy}, TextField{"optimizer", &CheckpointOwner::optimizer},
};

struct CountField {
  const char* name;
  std::int64_t TrainingProgress::*member;
};
constexpr std::array progress_counts{
    CountField{"step", &TrainingProgress::step},
    CountField{"seed", &TrainingProgress::seed},
};
// Fields that files of earlier versions do not have.
constexpr std::array later_counts{
    CountField{"measured_samples", &TrainingProgress::measured_samples},
    CountField{"steps_to_accuracy", &TrainingProgress::steps_to_accuracy},
};

struct NumberField {
  const char* name;
  double& (*member)(TrainingProgress&);
};
template<auto... Members> constexpr auto number = &member_of<TrainingProgress, Members...>;
constexpr std::array progress_numbers{
    NumberField{"epoch", number<&TrainingProgress::epoch>},
    NumberField{"learning_rate", number<&TrainingProgress::learning_rate>},
    NumberField{"wall_s", number<&TrainingProgress::wall_s>},
    NumberField{"evaluation_s", number<&TrainingProgress::evaluation_s>},
    NumberField{"checkpoint_s", number<&TrainingProgress::checkpoint_s>},
    NumberField{"loss", number<&TrainingProgress::loss>},
    NumberField{"eval_loss", number<&TrainingProgress::eval_loss>},
    NumberField{"accuracy", number<&TrainingProgress::accuracy>},
    NumberField{"best_accuracy", number<&TrainingProgress::best_accuracy>},
    NumberField{"time_to_accuracy_s", number<&TrainingProgress::time_to_accuracy_s>},
};
constexpr std::array later_numbers{
    NumberField{"measured_s", number<&TrainingProgress::measured_s>},
    NumberField{"communication_s", number<&TrainingProgress::communication_s>},
    NumberField{"useful_s", number<&TrainingProgress::work, &WorkSums::useful_s>},
    NumberField{"useful_max_s", number<&TrainingProgress::work, &WorkSums::useful_max_s>},
    NumberField{"useful_step_max_s", number<&TrainingProgress::work, &WorkSums::useful_step_max_s>},
    NumberField{"busy_step_max_s", number<&TrainingProgress::work, &WorkSums::busy_step_max_s>},
    NumberField{"useful_fast_s", number<&TrainingProgress::work, &WorkSums::useful_fast_s>},
    NumberField{"useful_step_fast_s", number<&TrainingProgress::work, &WorkSums::useful_step_fast_s>},
};

// The attributes of one group.
class Attributes {
 public:
  Attributes(hid_t group, const fs::path& path) : group_(group), path_(path) {}
  void put(const char* name, std::int64_t value) const { put_scalar(name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value); }
  void put(const char* name, double value) const { put_scalar(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value); }
  void put(const char* name, const std::string& value) const
  {
    const auto type = text_type(value.size() + 1); // includes the terminating zero
    put_scalar(name, type.id(), type.id(), value.c_str());
  }

 private:
  Handle text_type(std::size_t bytes) const
  {
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "write", path_);
    if (H5Tset_size(type.id(), bytes) < 0) throw hdf5_error("write", path_);
    return type;
  }
  void put_scalar(const char* name, hid_t stored, hid_t native, const void* value) const
  {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "write", path_);
    Handle attribute(H5Acreate2(group_, name, stored, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "write", path_);
    if (H5Awrite(attribute.id(), native, value) < 0) throw hdf5_error("write", path_);
    attribute.close("write", path_);
  }

  hid_t group_;
  const fs::path& path_;
};

// ---- header and hash ----

std::string header_with(const std::string& hash)
{
  auto header = fmt::format("{}{}\n", checkpoint_magic, hash);
  header.resize(header_bytes, '\0');
  return header;
}

// Hash of everything after the header.
std::string hash_of_rest(const InputFile& file)
{
  constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;
  Hasher hasher;
  for (std::uint64_t at = header_bytes; at < file.size(); at += piece_bytes)
    hasher.update(file.bytes_at(at, std::min(piece_bytes, file.size() - at)));
  return hasher.hex();
}

const InputFile& require_whole(const InputFile& file)
{
  if (file.bytes_at(0, std::min<std::uint64_t>(file.size(), header_bytes)) != header_with(hash_of_rest(file)))
    file.refuse("the file is torn or was altered: its content does not have the hash in its header.");
  return file;
}

Descriptor open_file(const fs::path& path, int flags)
{
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file.is_open()) throw system_error("open " + path.string(), errno);
  return file;
}

void sync(const Descriptor& file, const fs::path& path)
{
  if (::fsync(file.get()) != 0) throw system_error("sync " + path.string(), errno);
}

void sync_folder(const fs::path& folder) { sync(open_file(folder, O_RDONLY | O_DIRECTORY), folder); }

// ---- names ----

constexpr std::string_view prefix = "step-", suffix = ".h5", unfinished = ".step-";

fs::path checkpoint_path(const fs::path& folder, std::int64_t step)
{
  return folder / fmt::format("{}{}{}", prefix, step, suffix);
}

// The step in the file's name; -1 for a file that is no checkpoint.
std::int64_t step_of(const fs::path& path) { return checkpoint_step(path.filename().string()).value_or(-1); }

} // namespace

// ---- writing ----

struct CheckpointWriter::Impl {
  Impl(const fs::path& folder, std::int64_t step)
      : path(checkpoint_path(folder, step)), temporary(folder / ("." + path.filename().string())), file(create())
  {
  }
  ~Impl()
  {
    std::error_code ignored;
    fs::remove(temporary, ignored);
  }

  Handle create() const
  {
    quieten_hdf5();
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "create", temporary);
    H5Pset_userblock(creation.id(), header_bytes);
    return {H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, creation.id(), access_rules(temporary).id()), H5Fclose, "create",
            temporary};
  }

  void describe(const CheckpointOwner& owner, const TrainingProgress& progress) const
  {
    const Attributes root(file.id(), temporary);
    for (const auto& [name, member] : owner_texts) root.put(name, owner.*member);
    root.put("ranks", owner.ranks);
    Handle group(H5Gcreate2(file.id(), "progress", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "write", temporary);
    const Attributes attributes(group.id(), temporary);
    auto copy = progress; // the tables' functions return references that could be written to
    for (const auto& [name, member] : progress_counts) attributes.put(name, progress.*member);
    for (const auto& [name, member] : later_counts) attributes.put(name, progress.*member);
    for (const auto& [name, member] : progress_numbers) attributes.put(name, member(copy));
    for (const auto& [name, member] : later_numbers) attributes.put(name, member(copy));
    group.close("write", temporary);
  }

  // Creates the groups in the tensor's name. They record the order in which their members are created.
  void make_groups(const std::string& name) const
  {
    const Handle rules(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, "write", temporary);
    H5Pset_link_creation_order(rules.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    for (auto slash = name.find('/'); slash != name.npos; slash = name.find('/', slash + 1)) {
      const auto group = name.substr(0, slash);
      if (H5Lexists(file.id(), group.c_str(), H5P_DEFAULT) > 0) continue;
      Handle made(H5Gcreate2(file.id(), group.c_str(), H5P_DEFAULT, rules.id(), H5P_DEFAULT), H5Gclose, "write", temporary);
      made.close("write", temporary);
    }
  }

  // Computes the hash from the file as read back, so that it covers what the file system holds, and writes the header.
  void seal() const
  {
    const auto header = header_with(hash_of_rest(InputFile(temporary)));
    const auto written = open_file(temporary, O_WRONLY);
    write_all(written.get(), header, temporary);
    sync(written, temporary);
  }

  fs::path path, temporary;
  Handle file;
};

CheckpointWriter::CheckpointWriter(const fs::path& folder, const CheckpointOwner& owner, const TrainingProgress& progress)
{
  make_folder(folder);
  impl_ = std::make_unique<Impl>(folder, progress.step);
  impl_->describe(owner, progress);
}

CheckpointWriter::~CheckpointWriter() = default;

void CheckpointWriter::write(const std::string& name, std::span<const std::int64_t> dims, std::span<const float> values)
{
  if (values.size() != element_count(dims))
    throw Error(ErrorKind::internal,
                fmt::format("Tensor {} of {} floats was given {}.", name, element_count(dims), values.size()));
  const auto& path = impl_->temporary;
  const auto extents = extents_of(dims);
  const Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose, "write", path);
  impl_->make_groups(name);
  Handle tensor(H5Dcreate2(impl_->file.id(), name.c_str(), H5T_IEEE_F32LE, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                H5Dclose, "write", path);
  if (H5Dwrite(tensor.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) throw hdf5_error("write", path);
  tensor.close("write", path);
}

CheckpointFile CheckpointWriter::commit()
{
  const auto& [path, temporary, file] = *impl_;
  impl_->file.close("write", temporary);
  impl_->seal();
  const auto bytes = static_cast<std::int64_t>(fs::file_size(temporary));
  if (::rename(temporary.c_str(), path.c_str()) != 0) throw system_error("rename " + temporary.string(), errno);
  sync_folder(path.parent_path());
  return {path, bytes};
}

// ---- reading ----

namespace {

// The attributes of one group, by name.
class Values {
 public:
  Values(const InputFile& file, const Hdf5Content& content, const std::string& group) : file_(file), group_(group)
  {
    const auto found = content.attributes.find(group);
    if (found != content.attributes.end()) values_ = &found->second;
  }
  void get(const char* name, std::int64_t& value) const { get_number(name, AttributeKind::integer, "a 64-bit integer", value); }
  void get(const char* name, double& value) const { get_number(name, AttributeKind::number, "a 64-bit float", value); }
  // Leaves `value` unchanged if the file lacks the attribute, because the file is older than the field.
  void get(const char* name, std::string& value) const
  {
    if (const auto* stored = find(name)) value = of_kind(name, *stored, AttributeKind::text, "a text").bytes;
  }
  bool has(const char* name) const { return find(name) != nullptr; }
  [[noreturn]] void refuse(const char* name, const std::string& why) const
  {
    file_.refuse(fmt::format("attribute {} of /{}: {}", name, group_, why));
  }

 private:
  const StoredAttribute* find(const char* name) const
  {
    if (values_ == nullptr || !values_->contains(name)) return nullptr;
    return &values_->at(name);
  }
  const StoredAttribute& of_kind(const char* name, const StoredAttribute& stored, AttributeKind kind, const char* what) const
  {
    if (stored.kind != kind) refuse(name, fmt::format("{} is expected.", what));
    return stored;
  }
  template<class Number> void get_number(const char* name, AttributeKind kind, const char* what, Number& value) const
  {
    const auto* stored = find(name);
    if (stored == nullptr) refuse(name, fmt::format("it is missing; {} is expected.", what));
    static_assert(sizeof value == 8);
    std::memcpy(&value, of_kind(name, *stored, kind, what).bytes.data(), sizeof value);
  }

  const InputFile& file_;
  const std::string group_;
  const std::map<std::string, StoredAttribute>* values_ = nullptr;
};

constexpr std::int64_t most_ranks = 1'000'000, most_steps = std::int64_t{1} << 53;

} // namespace

struct CheckpointReader::Impl {
  explicit Impl(const fs::path& path) : file(path), content(read_hdf5(require_whole(file), header_bytes))
  {
    const Values root(file, content, ""), attributes(file, content, "progress");
    for (const auto& [name, member] : owner_texts) root.get(name, owner.*member);
    root.get("ranks", owner.ranks);
    if (owner.ranks < 1 || owner.ranks > most_ranks)
      root.refuse("ranks", fmt::format("it is {}; 1 to {} are expected.", owner.ranks, most_ranks));
    for (const auto& [name, member] : progress_counts) attributes.get(name, progress.*member);
    for (const auto& [name, member] : progress_numbers) attributes.get(name, member(progress));
    for (const auto& [name, member] : later_counts)
      if (attributes.has(name)) attributes.get(name, progress.*member);
    for (const auto& [name, member] : later_numbers)
      if (attributes.has(name)) attributes.get(name, member(progress));
    if (progress.step < 0 || progress.step > most_steps)
      attributes.refuse("step", fmt::format("it is {}; 0 to {} are expected.", progress.step, most_steps));
    for (std::size_t i = 0; i < content.tensors.size(); ++i) places.emplace(content.tensors[i].name, i);
  }

  const StoredTensor& tensor(const std::string& name) const
  {
    const auto found = places.find(name);
    if (found == places.end()) file.refuse(fmt::format("tensor {} is expected, but is not there.", name));
    return content.tensors[found->second];
  }

  InputFile file;
  Hdf5Content content;
  std::map<std::string, std::size_t> places; // index in content.tensors, by name
  CheckpointOwner owner;
  TrainingProgress progress;
};

CheckpointReader::CheckpointReader(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;
const fs::path& CheckpointReader::path() const { return impl_->file.path(); }
const CheckpointOwner& CheckpointReader::owner() const { return impl_->owner; }
const TrainingProgress& CheckpointReader::progress() const { return impl_->progress; }

std::vector<TensorName> CheckpointReader::tensors(const std::string& group) const
{
  std::vector<TensorName> found;
  for (const auto& [name, dims, offset] : impl_->content.tensors)
    if (name.size() > group.size() && name.starts_with(group) && name[group.size()] == '/')
      found.push_back({name.substr(group.size() + 1), dims});
  return found;
}

void CheckpointReader::read(const std::string& name, std::span<const std::int64_t> dims, std::span<float> values) const
{
  const auto& tensor = impl_->tensor(name);
  if (!is_same_order(tensor.dims, dims) || values.size() != element_count(dims))
    impl_->file.refuse(
        fmt::format("tensor {} is {} in the file; {} is expected.", name, fmt::join(tensor.dims, "x"), fmt::join(dims, "x")));
  static_assert(std::endian::native == std::endian::little, "values lie in the file as in memory");
  impl_->file.read(tensor.offset, {reinterpret_cast<char*>(values.data()), values.size_bytes()});
}

std::string model_group(const CheckpointReader& reader)
{
  for (const std::string group : {"weights", "strategy/centre", "model"})
    if (!reader.tensors(group).empty()) return group;
  throw Error(ErrorKind::usage,
              fmt::format("read {}: it holds each rank's own weights and no model of them all.", reader.path().string()));
}

// ---- folders of checkpoints ----

std::vector<fs::path> list_checkpoints(const fs::path& folder)
{
  std::vector<fs::path> found;
  for (const auto& name : names_in(folder))
    if (step_of(folder / name) >= 0) found.push_back(folder / name);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return step_of(a) > step_of(b); });
  return found;
}

std::optional<CheckpointReader> find_checkpoint(const AttemptFolder& attempt, const CheckpointOwner& owner,
                                                std::vector<std::string>& refused)
{
  std::vector<fs::path> candidates;
  for (int number = attempt.number() - 1; number > 0; --number)
    for (const auto& path : list_checkpoints(AttemptFolder(attempt.run_folder(), number).checkpoints()))
      candidates.push_back(path);
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return step_of(a) > step_of(b); });
  for (const auto& path : candidates) {
    try {
      CheckpointReader reader(path);
      if (reader.owner() == owner) return reader;
      refused.push_back(fmt::format("{} belongs to another run ({}).", path.string(), printable(reader.owner().run_key)));
    } catch (const Error& error) {
      refused.emplace_back(error.what());
    }
  }
  return std::nullopt;
}

void prune_checkpoints(const fs::path& folder, std::size_t count)
{
  const auto all = list_checkpoints(folder);
  std::error_code ignored;
  for (std::size_t i = count; i < all.size(); ++i) fs::remove(all[i], ignored);
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(unfinished)) fs::remove(entry.path(), ignored);
}

} // namespace dt::train
