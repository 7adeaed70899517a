#include "engine/train/weights/checkpoint.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/file_at.hpp"
#include "core/hash.hpp"
#include "core/number.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "engine/train/weights/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace dt::train {
namespace {

namespace fs = std::filesystem;

// ---- metadata: the same tables serve writing and reading ----

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
    CountField{"measured_samples", &TrainingProgress::measured_samples},
    CountField{"steps_to_accuracy", &TrainingProgress::steps_to_accuracy},
};

struct NumberField {
  const char* name;
  double& (*member)(TrainingProgress&);
};
template<auto... Members> constexpr auto number_member = &member_of<TrainingProgress, Members...>;
constexpr std::array progress_numbers{
    NumberField{"epoch", number_member<&TrainingProgress::epoch>},
    NumberField{"learning_rate", number_member<&TrainingProgress::learning_rate>},
    NumberField{"wall_s", number_member<&TrainingProgress::wall_s>},
    NumberField{"evaluation_s", number_member<&TrainingProgress::evaluation_s>},
    NumberField{"checkpoint_s", number_member<&TrainingProgress::checkpoint_s>},
    NumberField{"loss", number_member<&TrainingProgress::loss>},
    NumberField{"eval_loss", number_member<&TrainingProgress::eval_loss>},
    NumberField{"accuracy", number_member<&TrainingProgress::accuracy>},
    NumberField{"best_accuracy", number_member<&TrainingProgress::best_accuracy>},
    NumberField{"time_to_accuracy_s", number_member<&TrainingProgress::time_to_accuracy_s>},
    NumberField{"measured_s", number_member<&TrainingProgress::measured_s>},
    NumberField{"communication_s", number_member<&TrainingProgress::communication_s>},
    NumberField{"useful_s", number_member<&TrainingProgress::work, &WorkSums::useful_s>},
    NumberField{"useful_max_s", number_member<&TrainingProgress::work, &WorkSums::useful_max_s>},
    NumberField{"useful_step_max_s", number_member<&TrainingProgress::work, &WorkSums::useful_step_max_s>},
    NumberField{"busy_step_max_s", number_member<&TrainingProgress::work, &WorkSums::busy_step_max_s>},
    NumberField{"useful_fast_s", number_member<&TrainingProgress::work, &WorkSums::useful_fast_s>},
    NumberField{"useful_step_fast_s", number_member<&TrainingProgress::work, &WorkSums::useful_step_fast_s>},
    NumberField{"common_pauses_s", number_member<&TrainingProgress::work, &WorkSums::common_pauses_s>},
    NumberField{"pauses_s", number_member<&TrainingProgress::work, &WorkSums::pauses_s>},
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

// With zeros for the hash. The first two are checkpoint_magic.
Metadata metadata_of(const CheckpointOwner& owner, const TrainingProgress& progress)
{
  Metadata all{{"format", "dtctl checkpoint 1"}, {"xxh3-128", std::string(checkpoint_hash_digits, '0')}};
  for (const auto& [name, member] : owner_texts) all.emplace_back(name, owner.*member);
  all.emplace_back("ranks", std::to_string(owner.ranks));
  for (const auto& [name, member] : progress_counts) all.emplace_back(name, std::to_string(progress.*member));
  auto copy = progress; // the table's functions return references that could be written to
  for (const auto& [name, member] : progress_numbers) all.emplace_back(name, fmt::format("{}", member(copy)));
  return all;
}

// ---- hash ----

// Hash of the whole file with zeros in place of the hash.
std::string hash_of(const InputFile& file)
{
  constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;
  Hasher hasher;
  std::string piece;
  for (std::uint64_t at = 0; at < file.size(); at += piece.size()) {
    piece.resize(std::min(piece_bytes, file.size() - at));
    file.read(at, piece);
    if (at == 0) piece.replace(checkpoint_hash_begin, checkpoint_hash_digits, checkpoint_hash_digits, '0');
    hasher.update(piece);
  }
  return hasher.hex();
}

// Whether the file is or was a checkpoint, by its name or by most of its first bytes; both may have changed.
bool was_checkpoint(const InputFile& file)
{
  if (checkpoint_step(file.path().filename().string())) return true;
  constexpr std::size_t begin = checkpoint_hash_begin - checkpoint_magic.size();
  if (file.size() <= begin) return false;
  const auto found = file.bytes_at(begin, std::min<std::uint64_t>(checkpoint_magic.size(), file.size() - begin));
  std::size_t equal = 0;
  for (std::size_t i = 0; i < found.size(); ++i) equal += found[i] == checkpoint_magic[i] ? 1U : 0U;
  return 2 * equal > found.size();
}

std::unique_ptr<const InputFile> open_whole(const fs::path& path)
{
  auto file = std::make_unique<const InputFile>(path);
  if (!was_checkpoint(*file))
    file->refuse("the file is no checkpoint. A file step-<number>.safetensors is expected, which a run has written into "
                 "attempts/<number>/checkpoints/ of its folder.");
  if (!is_checkpoint(*file) || file->bytes_at(checkpoint_hash_begin, checkpoint_hash_digits) != hash_of(*file))
    file->refuse("the file is torn or was altered: its content does not have the hash in its header.");
  return file;
}

// ---- names ----

constexpr std::string_view prefix = "step-", suffix = ".safetensors", unfinished = ".step-";

fs::path checkpoint_path(const fs::path& folder, std::int64_t step)
{
  return folder / fmt::format("{}{}{}", prefix, step, suffix);
}

// The step in the file's name; -1 for a file that is no checkpoint.
std::int64_t step_of(const fs::path& path) { return checkpoint_step(path.filename().string()).value_or(-1); }

} // namespace

// ---- writing ----

struct CheckpointWriter::Impl {
  Impl(const fs::path& folder, std::int64_t step, std::vector<TensorName> names)
      : path(checkpoint_path(folder, step)), temporary(folder / ("." + path.filename().string())), tensors(std::move(names)),
        file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666))
  {
    if (!file.is_open()) throw system_error("create " + temporary.string(), errno);
  }
  ~Impl()
  {
    std::error_code ignored;
    fs::remove(temporary, ignored);
  }

  void append(std::string_view more)
  {
    write_all(file.get(), more, temporary);
    hasher.update(more);
    bytes += more.size();
  }

  fs::path path, temporary;
  std::vector<TensorName> tensors;
  std::size_t written = 0; // of the tensors
  Descriptor file;
  Hasher hasher;
  std::uint64_t bytes = 0;
};

CheckpointWriter::CheckpointWriter(const fs::path& folder, const CheckpointOwner& owner, const TrainingProgress& progress,
                                   std::vector<TensorName> tensors)
{
  make_folder(folder);
  impl_ = std::make_unique<Impl>(folder, progress.step, std::move(tensors));
  impl_->append(safetensors_header(impl_->tensors, metadata_of(owner, progress)));
}

CheckpointWriter::~CheckpointWriter() = default;

void CheckpointWriter::write(const std::string& name, std::span<const float> values)
{
  auto& [path, temporary, tensors, written, file, hasher, bytes] = *impl_;
  if (written == tensors.size() || tensors[written].name != name || element_count(tensors[written].dims) != values.size())
    throw Error(ErrorKind::internal, fmt::format("{}: tensor {} of {} values is not the one that the header has in place {}.",
                                                 temporary.string(), name, values.size(), written));
  impl_->append({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  ++written;
}

CheckpointFile CheckpointWriter::commit()
{
  const auto& [path, temporary, tensors, written, file, hasher, bytes] = *impl_;
  if (written != tensors.size())
    throw Error(ErrorKind::internal,
                fmt::format("{}: {} of {} tensors were written.", temporary.string(), written, tensors.size()));
  write_at(file.get(), hasher.hex(), checkpoint_hash_begin, temporary);
  if (::fsync(file.get()) != 0) throw system_error("sync " + temporary.string(), errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0) throw system_error("rename " + temporary.string(), errno);
  sync_folder(path.parent_path());
  return {path, static_cast<std::int64_t>(bytes)};
}

// ---- reading ----

namespace {

// Reads the owner's and the progress's fields from a file's metadata.
class Fields {
 public:
  explicit Fields(const SafetensorsReader& tensors) : tensors_(tensors) {}
  void get(const char* name, std::string& value) const { value = text(name); }
  void get(const char* name, double& value) const { parse(name, "a number", value); }
  void get(const char* name, std::int64_t& value, std::int64_t least, std::int64_t most) const
  {
    parse(name, "a whole number", value);
    if (value < least || value > most) refuse(name, fmt::format("it is {}; {} to {} are expected.", value, least, most));
  }

 private:
  [[noreturn]] void refuse(const char* name, const std::string& why) const
  {
    tensors_.file().refuse(fmt::format("metadata {}: {}", name, why));
  }
  const std::string& text(const char* name) const
  {
    const auto found = tensors_.metadata().find(name);
    if (found == tensors_.metadata().end()) refuse(name, "it is missing.");
    return found->second;
  }
  template<class Number> void parse(const char* name, const char* what, Number& value) const
  {
    const auto& words = text(name);
    const auto number = number_of<Number>(words);
    if (!number) refuse(name, fmt::format("it is \"{}\"; {} is expected.", printable(words.substr(0, 64)), what));
    value = *number;
  }

  const SafetensorsReader& tensors_;
};

constexpr std::int64_t most_ranks = 1'000'000, most_steps = std::int64_t{1} << 53,
                       most = std::numeric_limits<std::int64_t>::max();

} // namespace

bool is_checkpoint(const InputFile& file)
{
  constexpr std::size_t begin = checkpoint_hash_begin - checkpoint_magic.size();
  return file.size() >= checkpoint_hash_begin + checkpoint_hash_digits &&
         file.bytes_at(begin, checkpoint_magic.size()) == checkpoint_magic;
}

struct CheckpointReader::Impl {
  explicit Impl(const fs::path& path) : file(open_whole(path))
  {
    const Fields fields(file);
    for (const auto& [name, member] : owner_texts) fields.get(name, owner.*member);
    fields.get("ranks", owner.ranks, 1, most_ranks);
    for (const auto& [name, member] : progress_counts) fields.get(name, progress.*member, -most, most);
    for (const auto& [name, member] : progress_numbers) fields.get(name, member(progress));
    fields.get("step", progress.step, 0, most_steps);
    for (std::size_t i = 0; i < file.tensors().size(); ++i) places.emplace(file.tensors()[i].name, i);
  }

  SafetensorsReader file;
  std::map<std::string, std::size_t> places; // index in file.tensors(), by name
  CheckpointOwner owner;
  TrainingProgress progress;
};

CheckpointReader::CheckpointReader(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;
const fs::path& CheckpointReader::path() const { return impl_->file.file().path(); }
const CheckpointOwner& CheckpointReader::owner() const { return impl_->owner; }
const TrainingProgress& CheckpointReader::progress() const { return impl_->progress; }

std::vector<TensorName> CheckpointReader::tensors(const std::string& group) const
{
  std::vector<TensorName> found;
  for (const auto& [name, dims] : impl_->file.tensors())
    if (name.size() > group.size() && name.starts_with(group) && name[group.size()] == '/')
      found.push_back({name.substr(group.size() + 1), dims});
  return found;
}

void CheckpointReader::read(const std::string& name, std::span<const std::int64_t> dims, std::span<float> values) const
{
  const auto& tensors = impl_->file;
  const auto found = impl_->places.find(name);
  if (found == impl_->places.end()) tensors.file().refuse(fmt::format("tensor {} is expected, but is not there.", name));
  const auto& stored = tensors.tensors()[found->second].dims;
  if (!is_same_order(stored, dims) || values.size() != element_count(dims))
    tensors.file().refuse(
        fmt::format("tensor {} is {} in the file; {} is expected.", name, fmt::join(stored, "x"), fmt::join(dims, "x")));
  tensors.read(found->second, values);
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
