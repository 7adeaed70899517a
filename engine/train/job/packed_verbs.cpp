#include "core/data/packed_description.hpp"
#include "core/data/packed_file.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "engine/data/images/png.hpp"
#include "engine/data/packing/check.hpp"
#include "engine/data/packing/pack.hpp"
#include "engine/data/viewing/samples.hpp"
#include "engine/train/job/data_verbs.hpp"
#include "engine/train/job/progress_lines.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace dt::train {
namespace {

using Json = nlohmann::ordered_json;

void print(const Json& json) { fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

// ---- pack ----

struct PackWords {
  data::PackOptions options{};
  std::string encoding, size, background, range, order = "shuffled", corrupt = "refuse";
};

void add_source(CLI::App& pack, data::SourceOptions& source)
{
  pack.add_option("source", source.path, "Folder or file to pack")->required();
  pack.add_option("--format", source.format, "Format of the source; recognised when left out")
      ->check(CLI::IsMember(data::source_formats()));
  pack.add_option("--images", source.images, "HDF5 and npz: name of the images; tar: their extension");
  pack.add_option("--labels", source.labels, "HDF5 and npz: name of the labels; tar: their extension");
  pack.add_option("--layout", source.layout, "HDF5 and npz: order of four dimensions")->check(CLI::IsMember({"nhwc", "nchw"}));
  pack.add_option("--test-folder", source.test_folder, "Folder: sub-folder with the test set");
}

CLI::App* add_pack(CLI::App& data, PackWords& words)
{
  auto* pack = data.add_subcommand("pack", "Pack labelled images into one file");
  auto& options = words.options;
  options.least_classes = 2; // as a network needs
  add_source(*pack, options.source);
  pack->add_option("-o,--out", options.output, "The file")->required();
  pack->add_option("--encoding", words.encoding, "Records")->check(CLI::IsMember({"pixels", "jpeg"}));
  pack->add_option("--size", words.size, "Size of the images: N or HxW");
  pack->add_option("--channels", options.channels, "Convert to this many channels")->check(CLI::IsMember({1, 3}));
  pack->add_option("--background", words.background, "Colour behind transparent pixels: white, black, grey or #rrggbb");
  pack->add_option("--range", words.range, "Values of 16 bits that become black and white: LOW..HIGH");
  pack->add_option("--test-fraction", options.split.test_fraction, "Share of the test set")->check(CLI::Range(0.0, 0.999999));
  pack->add_option("--seed", options.split.seed, "Seed of test set and order")->capture_default_str();
  pack->add_option("--order", words.order, "Order of the records")->check(CLI::IsMember({"shuffled", "source"}));
  pack->add_option("--corrupt", words.corrupt, "Images that cannot be decoded")->check(CLI::IsMember({"refuse", "skip"}));
  pack->add_flag("--allow-empty-classes", options.allow_empty_classes, "Accept classes without images");
  pack->add_flag("--restart", options.restart, "Discard what an interrupted call left");
  pack->add_flag("--force", options.force, "Replace a finished set");
  pack->add_option("--threads", options.threads, "Threads; 0: one per core")->check(CLI::Range(0, 4096));
  return pack;
}

// Reads "32" or "32x48".
std::pair<std::int64_t, std::int64_t> parse_size(const std::string& text)
{
  constexpr std::int64_t longest = 65535;
  const auto words = split(text, 'x');
  const auto number = [&](const std::string& word) {
    const auto value = number_of<std::int64_t>(word).value_or(0);
    if (value < 1 || value > longest || words.size() > 2)
      throw Error(ErrorKind::usage,
                  fmt::format("--size {}: give a side such as 224, or height x width such as 240x320.", printable(text)));
    return value;
  };
  return {number(words.front()), number(words.back())};
}

// The whole text as a number up to `most`; nothing if it is none.
std::optional<std::uint32_t> number_in(std::string_view text, int base, std::uint32_t most)
{
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

// Reads "white" or "#ff8000".
std::array<std::uint8_t, 3> parse_background(const std::string& text)
{
  constexpr std::uint8_t grey = 128;
  if (text == "white") return {255, 255, 255};
  if (text == "black") return {0, 0, 0};
  if (text == "grey" || text == "gray") return {grey, grey, grey};
  const auto colour =
      text.size() == 7 && text[0] == '#' ? number_in(std::string_view(text).substr(1), 16, 0xffffff) : std::nullopt;
  if (!colour)
    throw Error(ErrorKind::usage,
                fmt::format("--background {}: give white, black, grey, or a colour such as '#ff8000' (red, green "
                            "and blue in hexadecimal).",
                            printable(text)));
  return {static_cast<std::uint8_t>(*colour >> 16), static_cast<std::uint8_t>(*colour >> 8), static_cast<std::uint8_t>(*colour)};
}

// Reads "0..4095".
std::pair<std::uint16_t, std::uint16_t> parse_range(const std::string& text)
{
  constexpr std::uint32_t most = 65535;
  const auto dots = std::min(text.find(".."), text.size());
  const auto low = number_in(std::string_view(text).substr(0, dots), 10, most),
             high = number_in(std::string_view(text).substr(std::min(dots + 2, text.size())), 10, most);
  if (!low || !high || *low >= *high)
    throw Error(ErrorKind::usage,
                fmt::format("--range {}: give the values that become black and white, such as 0..4095; the first "
                            "is lower, and the second is at most {}.",
                            printable(text), most));
  return {static_cast<std::uint16_t>(*low), static_cast<std::uint16_t>(*high)};
}

Json to_json(const data::PackResult& result)
{
  return {{"id", result.id},
          {"bytes", result.file_bytes},
          {"was_there", result.was_there},
          {"resumed", result.resumed},
          {"remarks", result.remarks},
          {"set", Json::parse(packed_description_text(result.description))}};
}

int pack(const PackWords& words, bool with_progress, bool json)
{
  auto options = words.options;
  if (!words.encoding.empty()) options.encoding = words.encoding == "jpeg" ? PackedEncoding::jpeg : PackedEncoding::pixels;
  if (!words.size.empty()) std::tie(options.height, options.width) = parse_size(words.size);
  if (!words.background.empty()) options.background = parse_background(words.background);
  if (!words.range.empty()) options.range = parse_range(words.range);
  options.split.shuffle = words.order == "shuffled";
  options.skip_corrupt = words.corrupt == "skip";
  if (with_progress) options.progress = report_images;
  const auto result = data::pack_data(options);
  const auto& set = result.description;
  if (json)
    print(to_json(result));
  else
    fmt::print("{}: {} training and {} test images in {} classes {}\n", options.output.string(), set.train_samples,
               set.test_samples, set.classes.size(), result.was_there ? "are there already" : "packed");
  return 0;
}

// ---- check ----

CLI::App* add_check(CLI::App& data, data::CheckOptions& options)
{
  auto* check = data.add_subcommand("check", "Read a packed set and compare it with its hashes");
  check->add_option("file", options.path, "The file")->required();
  check->add_flag("--decode", options.decode, "Also decode the images");
  check->add_option("--threads", options.threads, "Threads; 0: one per core")->check(CLI::Range(0, 4096));
  return check;
}

int check(data::CheckOptions options, bool with_progress, bool json)
{
  if (with_progress) options.progress = report_images;
  const auto result = data::check_packed(options);
  Json bad = Json::array();
  for (const auto& [record, name, cause] : result.bad) bad.push_back({{"record", record}, {"name", name}, {"cause", cause}});
  if (json)
    print({{"records", result.records}, {"bad", bad}, {"remarks", result.remarks}});
  else
    for (const auto& [record, name, cause] : result.bad)
      fmt::print("record {}, {}: {}\n", record, printable(name), printable(cause));
  return static_cast<int>(result.bad.empty() || json ? ExitCode::ok : ExitCode::runs_failed);
}

// ---- show ----

struct ShowWords {
  std::filesystem::path file, sheet;
  data::SampleChoice choice{};
  data::TerminalPicture terminal{};
};

CLI::App* add_show(CLI::App& data, ShowWords& words)
{
  auto* show = data.add_subcommand("show", "Show samples of a packed set");
  show->add_option("file", words.file, "The file")->required();
  show->add_option("-n,--count", words.choice.count, "Number of samples")->check(CLI::Range(std::int64_t{1}, most_shown_samples));
  show->add_option("--split", words.choice.split, "train or test")->check(CLI::IsMember({"train", "test"}));
  show->add_option("--class", words.choice.class_name, "Name or number of a class");
  show->add_option("--seed", words.choice.seed, "Seed of the choice");
  show->add_option("--columns", words.terminal.columns, "Width of the terminal")->check(CLI::PositiveNumber);
  show->add_flag("--colour", words.terminal.colour, "The terminal has colours");
  show->add_option("-o,--output", words.sheet, "Write the samples as a PNG instead");
  return show;
}

int show(const ShowWords& words, bool json)
{
  const PackedFile file(words.file);
  file.require_intact_index();
  const auto samples = data::read_samples(file, data::choose_samples(file, words.choice));
  if (!words.sheet.empty()) write_file_atomic(words.sheet, data::encode_png(data::contact_sheet(samples)), Readers::everybody);
  const auto picture = words.sheet.empty() ? data::text_picture(samples, words.terminal) : "";
  if (!json) {
    fmt::print("{}", picture);
    return 0;
  }
  Json list = Json::array();
  for (const auto& sample : samples)
    list.push_back({{"record", sample.record},
                    {"name", sample.name},
                    {"class", sample.class_name},
                    {"height", sample.image.height},
                    {"width", sample.image.width}});
  print({{"samples", list}, {"picture", picture}});
  return 0;
}

} // namespace

// What the command lines of the three verbs say.
struct PackedVerbs::Options {
  CLI::App* data = nullptr;
  PackWords pack{};
  data::CheckOptions check{};
  ShowWords show{};
  bool with_progress = false, json = false;
};

PackedVerbs::PackedVerbs(CLI::App& data) : options_(std::make_unique<Options>())
{
  auto& options = *options_;
  options.data = &data;
  for (auto* verb : {add_pack(data, options.pack), add_check(data, options.check), add_show(data, options.show)})
    verb->add_flag("--json", options.json, "Print the result as one JSON object");
  for (const auto* verb : {"pack", "check"})
    data.get_subcommand(verb)->add_flag("--progress", options.with_progress, "Print lines \"images DONE ALL\" meanwhile");
}

PackedVerbs::~PackedVerbs() = default;

int PackedVerbs::run() const
{
  const auto& options = *options_;
  if (options.with_progress) follow_reader();
  if (options.data->got_subcommand("check")) return check(options.check, options.with_progress, options.json);
  if (options.data->got_subcommand("show")) return show(options.show, options.json);
  return pack(options.pack, options.with_progress, options.json);
}

} // namespace dt::train
