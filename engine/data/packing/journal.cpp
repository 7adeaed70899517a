#include "engine/data/packing/journal.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/hash.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace dt::data {
namespace {

using Json = nlohmann::json;

constexpr std::size_t prefix_bytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);

std::string to_cbor(const Json& json)
{
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

Json binary_of(std::string_view bytes) { return Json::binary({bytes.begin(), bytes.end()}); }

std::string bytes_of(const Json& json)
{
  const auto& binary = json.get_binary();
  return {binary.begin(), binary.end()};
}

std::string encode(const JournalHeader& header)
{
  // names may be any bytes
  return to_cbor({{"source", binary_of(header.source)},
                  {"options", binary_of(header.options)},
                  {"stamp", header.stamp},
                  {"items", header.items},
                  {"parts", header.parts}});
}

JournalHeader decode_header(const Json& json)
{
  return {bytes_of(json.at("source")), bytes_of(json.at("options")), json.at("stamp"), json.at("items"), json.at("parts")};
}

std::string encode(const PartResult& result)
{
  Json corrupt = Json::array();
  for (const auto& [item, cause] : result.corrupt) corrupt.push_back({item, binary_of(cause)});
  const auto& facts = result.facts;
  return to_cbor({{"part", result.part},
                  {"hashes", binary_of({reinterpret_cast<const char*>(result.hashes.data()),
                                        result.hashes.size() * sizeof result.hashes[0]})},
                  {"corrupt", corrupt},
                  {"pixels", result.sums.pixels},
                  {"sums", result.sums.sums},
                  {"squares", result.sums.squares},
                  {"sides", {result.sizes.min_side, result.sizes.max_side, result.sizes.height, result.sizes.width}},
                  {"colours", {facts.transparent, facts.deep, facts.least, facts.greatest, facts.constant}},
                  {"constant", facts.constant_images}});
}

PartResult decode_part(const Json& json)
{
  PartResult result;
  result.part = json.at("part");
  const auto hashes = bytes_of(json.at("hashes"));
  result.hashes.resize(hashes.size() / sizeof(std::uint64_t));
  std::memcpy(result.hashes.data(), hashes.data(), result.hashes.size() * sizeof(std::uint64_t));
  for (const auto& corrupt : json.at("corrupt")) result.corrupt.push_back({corrupt.at(0), bytes_of(corrupt.at(1))});
  result.sums = {json.at("pixels"), json.at("sums"), json.at("squares")};
  const auto sides = json.at("sides").get<std::array<std::int64_t, 4>>();
  result.sizes = {sides[0], sides[1], sides[2], sides[3]};
  const auto& colours = json.at("colours");
  result.facts = {colours.at(0), colours.at(1), colours.at(2), colours.at(3), colours.at(4), json.at("constant")};
  return result;
}

// Takes the next complete frame off `rest`.
std::optional<Json> next_frame(std::string_view& rest)
{
  if (rest.size() < prefix_bytes) return std::nullopt;
  std::uint32_t bytes = 0;
  std::uint64_t hash = 0;
  std::memcpy(&bytes, rest.data(), sizeof bytes);
  std::memcpy(&hash, rest.data() + sizeof bytes, sizeof hash);
  if (rest.size() - prefix_bytes < bytes) return std::nullopt;
  const auto content = rest.substr(prefix_bytes, bytes);
  if (hash64(content) != hash) return std::nullopt;
  rest.remove_prefix(prefix_bytes + bytes);
  return Json::from_cbor(content);
}

Descriptor open_journal(const std::filesystem::path& path, std::uint64_t keep)
{
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.is_open()) throw system_error("open " + path.string(), errno);
  if (::ftruncate(file.get(), static_cast<off_t>(keep)) != 0) throw system_error("truncate " + path.string(), errno);
  return file;
}

} // namespace

std::optional<JournalContent> read_journal(const std::filesystem::path& path)
{
  const auto bytes = read_file_if_exists(path);
  if (!bytes) return std::nullopt;
  std::string_view rest = *bytes;
  JournalContent content;
  try {
    const auto header = next_frame(rest);
    if (!header) return std::nullopt;
    content.header = decode_header(*header);
    for (content.bytes = bytes->size() - rest.size(); const auto frame = next_frame(rest);
         content.bytes = bytes->size() - rest.size())
      content.parts.push_back(decode_part(*frame));
  } catch (const Json::exception&) { // written by another version
    return std::nullopt;
  }
  return content;
}

PackJournal::PackJournal(const std::filesystem::path& path, const JournalHeader& header,
                         const std::optional<JournalContent>& content)
    : path_(path), file_(open_journal(path, content ? content->bytes : 0))
{
  if (content) return;
  append_frame(encode(header));
  if (::fdatasync(file_.get()) != 0) throw system_error("sync " + path_.string(), errno);
}

void PackJournal::append(const std::vector<PartResult>& results)
{
  for (const auto& result : results) append_frame(encode(result));
  if (::fdatasync(file_.get()) != 0) throw system_error("sync " + path_.string(), errno);
}

void PackJournal::append_frame(const std::string& content)
{
  const auto bytes = static_cast<std::uint32_t>(content.size());
  const auto hash = hash64(content);
  std::string frame(prefix_bytes, '\0');
  std::memcpy(frame.data(), &bytes, sizeof bytes);
  std::memcpy(frame.data() + sizeof bytes, &hash, sizeof hash);
  write_all(file_.get(), frame + content, path_);
}

} // namespace dt::data
