// The format tensorboard: event files. A file is a sequence of records
//
//   length (8 bytes), masked CRC-32C of these 8 bytes, a message Event of `length` bytes, masked CRC-32C of the message
//
// with all numbers little-endian. The messages' fields are those of TensorBoard's event.proto and summary.proto.
#include "cli/export/crc32c.hpp"
#include "cli/export/curve.hpp"
#include "cli/export/exports.hpp"
#include "cli/export/flat_rows.hpp"
#include "cli/export/protobuf.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

// Numbers of the fields, by message.
namespace field {
namespace event {
constexpr int wall_time = 1, step = 2, file_version = 3, summary = 5;
}
namespace summary {
constexpr int value = 1;
}
namespace value {
constexpr int tag = 1, simple_value = 2, metadata = 9;
}
namespace metadata {
constexpr int plugin_data = 1;
}
namespace plugin_data {
constexpr int plugin_name = 1;
}
} // namespace field

constexpr std::string_view file_prefix = "events.out.tfevents.", file_suffix = ".dtctl";

std::string record(const Message& message)
{
  const auto length = little_endian(message.bytes().size(), 8);
  return length + little_endian(masked_crc32c(length), 4) + message.bytes() + little_endian(masked_crc32c(message.bytes()), 4);
}

// TensorBoard expects the name of the plugin that shows a curve in the curve's first value only.
Message value_of(std::string_view tag, double number, bool is_first)
{
  Message message;
  message.add_bytes(field::value::tag, tag).add_float(field::value::simple_value, static_cast<float>(number));
  if (is_first)
    message.add_message(
        field::value::metadata,
        Message().add_message(field::metadata::plugin_data, Message().add_bytes(field::plugin_data::plugin_name, "scalars")));
  return message;
}

std::string event_file(const store::Course& course, const std::vector<CurvePoint>& points)
{
  auto bytes = record(
      Message().add_double(field::event::wall_time, course.begin_unix_s).add_bytes(field::event::file_version, "brain.Event:2"));
  std::set<std::string_view> known;
  for (const auto& point : points) {
    Message values;
    for (const auto& [tag, number] : point.values)
      values.add_message(field::summary::value, value_of(tag, number, known.insert(tag).second));
    bytes += record(Message()
                        .add_double(field::event::wall_time, point.unix_s)
                        .add_integer(field::event::step, point.step)
                        .add_message(field::event::summary, values));
  }
  return bytes;
}

// Letters, digits and a few signs; any other byte becomes "_". Never empty, hidden or an option.
std::string safe_name(const std::string& name)
{
  constexpr std::size_t longest = 150;
  std::string safe;
  for (const char c : name.substr(0, longest))
    safe += std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("=,+.-_").find(c) != std::string_view::npos
                ? c
                : '_';
  if (safe.empty() || safe.front() == '.' || safe.front() == '-') safe.insert(0, 1, '_');
  return safe;
}

// The key tells runs of equal names apart.
class FolderNames {
 public:
  std::string name_of(const std::string& run_name, const std::string& key)
  {
    const auto short_name = safe_name(run_name) + "-" + short_key(key);
    const auto& owner = owners_.try_emplace(short_name, key).first->second;
    return owner == key ? short_name : safe_name(run_name) + "-" + key;
  }

 private:
  std::map<std::string, std::string> owners_; // keys by name
};

// dtctl begins a run's name with its study's name.
std::string full_name(const FlatRows& rows, std::size_t row)
{
  const auto study = rows.text(row, "study"), name = rows.text(row, "name");
  return name.starts_with(study) ? name : study + "/" + name;
}

std::string file_name(const store::Course& course)
{
  const auto seconds = std::clamp(std::floor(course.begin_unix_s), 0.0, 9999999999.0);
  return fmt::format("{}{:010}{}", file_prefix, static_cast<std::int64_t>(seconds), file_suffix);
}

// TensorBoard would read an earlier export, too.
void remove_other_exports(const fs::path& folder, const std::string& kept)
{
  for (const auto& name : names_in(folder))
    if (name != kept && name.starts_with(file_prefix) && name.ends_with(file_suffix))
      if (std::error_code failed; !fs::remove(folder / name, failed) && failed)
        throw system_error("remove " + (folder / name).string(), failed.value());
}

} // namespace

void export_tensorboard(Context& context, ResultsStore& results, const Selection& selection, const fs::path& folder)
{
  const auto rows = flat_rows(results, selection);
  make_folders(folder, Readers::everybody);
  FolderNames names;
  std::int64_t written = 0, without_curve = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto course = store::course_of_run(results.database(), rows.text(i, "key"));
    const auto points = curve_of(course, samples_of_step(rows, i));
    if (points.empty()) {
      ++without_curve;
      continue;
    }
    const auto own = folder / names.name_of(full_name(rows, i), rows.text(i, "key"));
    make_folders(own, Readers::everybody);
    write_file_atomic(own / file_name(course), event_file(course, points), Readers::everybody);
    remove_other_exports(own, file_name(course));
    ++written;
  }
  context.out.field("folder", "written to", text_cell(folder.string()));
  context.out.field("runs", "runs", count_cell(written));
  if (without_curve > 0) context.out.field("runs_without_steps", "without steps", count_cell(without_curve));
}

} // namespace dt::cli
