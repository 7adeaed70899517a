#include "engine/train/weights/safetensors.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace dt::train {
namespace {

using Json = nlohmann::json;

constexpr std::size_t length_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t longest_header = 100'000'000; // as in the reference implementation
constexpr const char* metadata_name = "__metadata__";

const std::map<std::string, const NumberType*> types{
    {"F16", &float16}, {"BF16", &bfloat16}, {"F32", &float32}, {"F64", &float64}};

struct Entry {
  TensorName tensor;
  const NumberType* type;
  std::uint64_t begin, end; // in the data
};

// Reads a header entry by entry, so that a crafted header needs little more memory than its text.
class HeaderParser {
 public:
  HeaderParser(const InputFile& file, std::uint64_t data_bytes) : file_(file), data_bytes_(data_bytes) {}

  // The entries in the order of their values.
  std::vector<Entry> parse(const std::string& text)
  {
    try {
      const auto callback = [this](int depth, Json::parse_event_t event, Json& value) { return on_event(depth, event, value); };
      [[maybe_unused]] const auto rest = Json::parse(text, callback);
    } catch (const Json::exception& error) {
      constexpr std::size_t longest_message = 200; // it quotes the text
      file_.refuse("its header is not JSON: " + printable(std::string(error.what()).substr(0, longest_message)));
    }
    std::ranges::stable_sort(entries_, {}, [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
    require_no_holes();
    return std::move(entries_);
  }
  std::map<std::string, std::string> metadata;

 private:
  // Called by the parser. Returns whether it keeps the value: an entry that was read is dropped.
  bool on_event(int depth, Json::parse_event_t event, Json& value)
  {
    using Event = Json::parse_event_t;
    constexpr int in_header = 1, in_entry = 2, in_list = 3; // depth of names and values there
    const bool begins = event == Event::object_start || event == Event::array_start;
    if (depth >= in_list ? begins : depth == in_entry && event == Event::object_start)
      file_.refuse("its header is nested too deeply.");
    if (depth < in_entry && (event == Event::array_start || event == Event::value))
      file_.refuse("its header is not a JSON object of JSON objects.");
    if (event == Event::key) require_first(depth == in_header ? names_ : members_, value.get<std::string>());
    constexpr std::size_t most_members = 10'000; // of the metadata
    if (members_.size() > most_members) refuse(fmt::format("it has more than {} members.", most_members));
    if (depth == in_header && event == Event::key) name_ = value.get<std::string>(), members_.clear();
    if (depth == in_entry && begins) listed_ = 0;
    constexpr int most_dims = 32;
    if (depth == in_list && event == Event::value && ++listed_ > most_dims)
      refuse(fmt::format("it has more than {} dimensions.", most_dims));
    if (depth != in_header || event != Event::object_end) return true;
    name_ == metadata_name ? take_metadata(value) : take_tensor(value);
    return false;
  }

  void require_first(std::set<std::string>& names, const std::string& name) const
  {
    if (!names.insert(name).second) file_.refuse(fmt::format("\"{}\" is in the header twice.", printable(name.substr(0, 64))));
  }

  [[noreturn]] void refuse(const std::string& why) const { file_.refuse(fmt::format("tensor {}: {}", printable(name_), why)); }

  void take_metadata(const Json& entry)
  {
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) file_.refuse(fmt::format("metadata {}: a text is expected.", printable(key)));
      metadata[key] = value.get<std::string>();
    }
  }

  void take_tensor(const Json& entry)
  {
    require_plain_name(file_, name_);
    for (const auto* member : {"dtype", "shape", "data_offsets"})
      if (!entry.contains(member)) refuse(fmt::format("{} is missing.", member));
    const auto type = entry["dtype"].is_string() ? types.find(entry["dtype"].get<std::string>()) : types.end();
    if (type == types.end()) refuse("its dtype is none of F16, BF16, F32 and F64.");
    std::vector<std::int64_t> dims;
    for (const auto dim : whole_numbers(entry["shape"], "shape")) {
      if (dim > std::numeric_limits<std::int64_t>::max()) refuse(fmt::format("{} is too large for a dimension.", dim));
      dims.push_back(static_cast<std::int64_t>(dim));
    }
    const auto offsets = whole_numbers(entry["data_offsets"], "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes_)
      refuse(fmt::format("its data_offsets are not a beginning and an end within the {} bytes of data.", data_bytes_));
    const auto bytes = offsets[1] - offsets[0], number_bytes = std::uint64_t{type->second->bytes};
    if (checked_elements(file_, name_, dims, bytes, number_bytes) * number_bytes != bytes)
      refuse("it holds another number of bytes than its shape says.");
    entries_.push_back({{name_, std::move(dims)}, type->second, offsets[0], offsets[1]});
  }

  std::vector<std::uint64_t> whole_numbers(const Json& list, const char* member) const
  {
    const bool are_whole =
        list.is_array() && std::ranges::all_of(list, [](const Json& number) { return number.is_number_unsigned(); });
    if (!are_whole) refuse(fmt::format("its {} must be a list of whole numbers that are not negative.", member));
    return list.get<std::vector<std::uint64_t>>();
  }

  void require_no_holes() const
  {
    std::uint64_t end = 0;
    for (const auto& entry : entries_) {
      if (entry.begin != end)
        file_.refuse(fmt::format("tensor {} begins at byte {} of the data, but the one before it ends at byte {}.",
                                 entry.tensor.name, entry.begin, end));
      end = entry.end;
    }
    if (end != data_bytes_)
      file_.refuse(fmt::format("its tensors end at byte {} of the data, which has {} bytes.", end, data_bytes_));
  }

  const InputFile& file_;
  const std::uint64_t data_bytes_;
  std::vector<Entry> entries_;
  std::string name_;                      // of the entry that is being read
  std::set<std::string> names_, members_; // seen in the header, and in this entry
  int listed_ = 0;                        // numbers in the list that is being read
};

std::uint64_t header_length(const InputFile& file)
{
  std::uint64_t length = 0;
  std::memcpy(&length, file.bytes_at(0, length_bytes).data(), length_bytes);
  const auto longest = std::min(longest_header, file.size() - length_bytes);
  if (length > longest)
    file.refuse(
        fmt::format("this is not a safetensors file, or it is cut short: its header has {} bytes; at most {} are expected.",
                    length, longest));
  return length;
}

std::string quoted(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

} // namespace

std::string safetensors_header(std::span<const TensorName> tensors, std::span<const std::pair<std::string, std::string>> metadata)
{
  std::vector<std::string> texts, entries;
  for (const auto& [key, value] : metadata) texts.push_back(quoted(key) + ":" + quoted(value));
  if (!texts.empty()) entries.push_back(fmt::format("\"{}\":{{{}}}", metadata_name, fmt::join(texts, ",")));
  std::uint64_t begin = 0, end = 0;
  for (const auto& [name, dims] : tensors) {
    end = begin + element_count(dims) * sizeof(float);
    entries.push_back(fmt::format(R"({}:{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})", quoted(name),
                                  fmt::join(dims, ","), begin, end));
    begin = end;
  }
  auto header = fmt::format("{{{}}}", fmt::join(entries, ","));
  constexpr std::uint64_t alignment = 8; // of the data, as the reference implementation writes it
  header.resize((header.size() + alignment - 1) / alignment * alignment, ' ');
  if (header.size() > longest_header)
    throw Error(ErrorKind::environment,
                fmt::format("The names of {} tensors need {} bytes, but the header of a safetensors file has at most {}.",
                            tensors.size(), header.size(), longest_header));
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), length_bytes) + header;
}

SafetensorsReader::SafetensorsReader(std::unique_ptr<const InputFile> file) : file_(std::move(file))
{
  const auto length = header_length(*file_), data = length_bytes + length;
  HeaderParser parser(*file_, file_->size() - data);
  for (auto& entry : parser.parse(file_->bytes_at(length_bytes, length))) {
    tensors_.push_back(std::move(entry.tensor));
    places_.push_back({data + entry.begin, entry.type});
  }
  metadata_ = std::move(parser.metadata);
}

void SafetensorsReader::read(std::size_t index, std::span<float> values) const
{
  auto [offset, type] = places_.at(index);
  if (type == &float32) return file_->read(offset, {reinterpret_cast<char*>(values.data()), values.size_bytes()});
  read_numbers(*type, values, [&](std::string& block) {
    file_->read(offset, block);
    offset += block.size();
  });
}

} // namespace dt::train
