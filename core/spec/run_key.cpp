#include "core/spec/run_key.hpp"

#include "core/data/packed_file.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/hash.hpp"
#include "core/spec/compute_profile.hpp"
#include "core/spec/secrets.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>

#include <elf.h>

namespace dt {
namespace {

// Appends `value` so that different values give different text: text is prefixed by its length.
void append_canonical(std::string& text, const FieldValue& value)
{
  struct Writer {
    std::string& text;
    void put(const std::string& v) const { (text += std::to_string(v.size()) += ':') += v; }
    void operator()(std::int64_t v) const { text += std::to_string(v); }
    void operator()(double v) const { text += format_shortest(v); }
    void operator()(bool v) const { text += v ? "true" : "false"; }
    void operator()(const std::string& v) const { put(v); }
    void operator()(const std::vector<std::int64_t>& v) const
    {
      for (const auto e : v) (text += std::to_string(e)) += ',';
    }
    void operator()(const std::vector<std::string>& v) const
    {
      for (const auto& e : v) put(e);
    }
    void operator()(const std::map<std::string, std::string>& v) const
    {
      for (const auto& [k, e] : v) put(k), put(e);
    }
  };
  std::visit(Writer{text}, value);
}

struct IdentityKey {
  const Key* key;
  FieldValue default_value;
};

const std::vector<IdentityKey>& identity_keys()
{
  static const auto keys = [] {
    std::vector<IdentityKey> found;
    for (const auto& key : spec_keys())
      if (key.identity) found.push_back({&key, default_of(key)});
    return found;
  }();
  return keys;
}

// Whether a field has this value.
struct EqualTo {
  const FieldValue& value;
  bool operator()(const ChoiceField& field) const { return field.word() == std::get<std::string>(value); }
  template<class Type> bool operator()(const Type* field) const { return *field == std::get<Type>(value); }
};

// Whether the field equals its default. Compares without copying the value.
bool is_default(const RunSpec& spec, const IdentityKey& identity)
{
  return std::visit(EqualTo{identity.default_value}, identity.key->field(const_cast<RunSpec&>(spec)));
}

// Returns a copy, because offsets in the file need not be aligned.
template<class Header> std::optional<Header> header_at(const std::string& bytes, std::size_t offset)
{
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Header)) return {};
  Header header;
  std::memcpy(&header, bytes.data() + offset, sizeof header);
  return header;
}

std::string find_build_id(const std::string& bytes)
{
  const auto elf = header_at<Elf64_Ehdr>(bytes, 0);
  if (!elf || std::memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) return {};
  for (unsigned i = 0; i < elf->e_phnum; ++i) {
    const auto segment = header_at<Elf64_Phdr>(bytes, elf->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_NOTE) continue;
    for (std::size_t at = segment->p_offset; at < segment->p_offset + segment->p_filesz;) {
      const auto note = header_at<Elf64_Nhdr>(bytes, at);
      if (!note) break;
      const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
      const std::size_t content = at + sizeof(Elf64_Nhdr) + padded(note->n_namesz);
      if (note->n_type == NT_GNU_BUILD_ID && content + note->n_descsz <= bytes.size()) {
        std::string hex;
        for (std::size_t b = 0; b < note->n_descsz; ++b) {
          constexpr std::string_view digits = "0123456789abcdef";
          const auto byte = static_cast<unsigned char>(bytes[content + b]);
          hex += {digits[byte >> 4], digits[byte & 15]};
        }
        return hex;
      }
      at = content + padded(note->n_descsz);
    }
  }
  return {};
}

// Regular files in a folder and below, without hidden files and folders. Returns none if the folder does not exist. Links count
// as the files they lead to; broken links are ignored.
std::vector<std::filesystem::path> data_files(const std::filesystem::path& folder)
{
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code broken;
    if (it->path().filename().string().starts_with('.'))
      it.disable_recursion_pending();
    else if (it->is_regular_file(broken))
      files.push_back(it->path());
    if (broken && broken != std::errc::no_such_file_or_directory && broken != std::errc::too_many_symbolic_link_levels)
      throw system_error("look at " + it->path().string(), broken.value());
  }
  if (error && error != std::errc::no_such_file_or_directory) throw system_error("read folder " + folder.string(), error.value());
  return files;
}

} // namespace

std::string canonical_text(const RunSpec& spec)
{
  std::string text;
  text.reserve(512);
  for (const auto& identity : identity_keys()) {
    if (is_default(spec, identity)) continue;
    (text += identity.key->path) += '=';
    append_canonical(text, value_of(spec, *identity.key));
    text += '\n';
  }
  return text += "repeat=" + std::to_string(spec.repeat) + "\n";
}

std::string run_key(const RunSpec& spec, std::string_view engine_build, std::string_view data_id, std::string_view start_id,
                    std::string_view environment_id)
{
  std::string text = canonical_text(spec);
  text.append("engine_build=").append(engine_build).append("\ndata_id=").append(data_id).append("\n");
  if (!start_id.empty()) text.append("start_id=").append(start_id).append("\n");
  if (!environment_id.empty()) text.append("environment_id=").append(environment_id).append("\n");
  return hash_hex(text);
}

PlannedRun plan_run(RunSpec spec, std::string engine_build, std::string data_id, std::string start_id, std::string environment_id)
{
  auto key = run_key(spec, engine_build, data_id, start_id, environment_id);
  return {std::move(key),  std::move(engine_build), std::move(data_id),
          std::move(spec), std::move(start_id),     std::move(environment_id)};
}

std::string short_key(std::string_view key) { return std::string(key.substr(0, 10)); }

std::vector<std::string> differences(const PlannedRun& before, const PlannedRun& now)
{
  std::vector<std::string> lines;
  const auto compare = [&](std::string_view what, const std::string& old_text, const std::string& new_text) {
    if (old_text != new_text) lines.push_back(std::string(what) + ": " + old_text + ", now " + new_text);
  };
  for (const auto& identity : identity_keys()) {
    const auto old_value = value_of(before.spec, *identity.key), new_value = value_of(now.spec, *identity.key);
    if (old_value != new_value) // different lists can have the same text
      lines.push_back(std::string(identity.key->path) + ": " + text_without_secrets(old_value) + ", now " +
                      text_without_secrets(new_value));
  }
  compare("repeat", std::to_string(before.spec.repeat), std::to_string(now.spec.repeat));
  compare("engine build", short_key(before.engine_build), short_key(now.engine_build));
  compare("data", short_key(before.data_id), short_key(now.data_id));
  const auto start = [](const PlannedRun& run) { return run.start_id.empty() ? "the seed's weights" : short_key(run.start_id); };
  compare("start", start(before), start(now));
  const auto environment = [](const PlannedRun& run) {
    return run.environment_id.empty() ? "not part of the key" : short_key(run.environment_id);
  };
  compare("Python environment", environment(before), environment(now));
  return lines;
}

std::string read_build_id(const std::filesystem::path& program)
{
  auto id = find_build_id(read_file(program));
  if (id.empty())
    throw Error(ErrorKind::environment, program.string() + " has no GNU build id; is it the dtengine program of this build?");
  return id;
}

std::string how_to_get(const DataSpec& data, const std::filesystem::path& place)
{
  if (data.name == "packed") return "make it with: dtctl data pack SOURCE -o " + shell_quote(place.string());
  const bool makeable = data.name == "digits" || data.name == "shapes";
  if (!makeable) return "put its files there, or name their folder in data.path";
  const bool elsewhere = !data.path.empty();
  return "make it with: dtctl data make " + data.name + (elsewhere ? " --out " + shell_quote(place.string()) : "");
}

std::string data_id(const DataSpec& data, const std::filesystem::path& place)
{
  namespace fs = std::filesystem;
  if (data.name == "synthetic") return "synthetic";
  if (data.name == "packed") return packed_id(place);
  auto files = data_files(place);
  if (files.empty()) {
    throw Error(ErrorKind::environment,
                "data set " + data.name + ": no files in " + place.string() + "; " + how_to_get(data, place));
  }
  std::sort(files.begin(), files.end());
  Hasher hasher;
  for (const auto& file : files) {
    const auto bytes = read_file(file);
    // Use the file's name in this folder: fs::relative would follow a link to the place of the bytes.
    hasher.update(file.lexically_relative(place).string() + '\0' + std::to_string(bytes.size()) + '\0');
    hasher.update(bytes);
  }
  return hasher.hex();
}

std::string simulation_input(const RunSpec& run)
{
  const auto& profile = run.train.compute_profile;
  if (profile.empty()) return "simulated";
  return "profile-" + hash_hex(to_json(read_compute_profile(profile)));
}

std::string start_id(const std::filesystem::path& file)
{
  const auto refuse = [&](const std::string& why) { throw Error(ErrorKind::recipe, "train.start_from: " + file.string() + why); };
  if (file.empty()) return {};
  if (!is_there(file) || !std::filesystem::is_regular_file(file))
    refuse(": there is no such file. Give a run's key, `last`, or the path of a run's folder, a checkpoint or a file of weights "
           "(.safetensors, .npz)");
  if (file.extension() != ".safetensors" && file.extension() != ".npz")
    refuse(" is not a file of weights: checkpoints and other files of weights end in .safetensors or .npz");
  std::string begin(checkpoint_hash_begin + checkpoint_hash_digits, '\0');
  std::ifstream stream(file, std::ios::binary);
  const bool is_long_enough = static_cast<bool>(stream.read(begin.data(), static_cast<std::streamsize>(begin.size())));
  const bool is_checkpoint = is_long_enough && begin.substr(0, checkpoint_hash_begin).ends_with(checkpoint_magic);
  return is_checkpoint ? begin.substr(checkpoint_hash_begin) : hash_hex(read_file(file));
}

} // namespace dt
