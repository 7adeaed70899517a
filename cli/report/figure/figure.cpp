#include "cli/report/figure/figure.hpp"

#include "cli/output/scratch_folder.hpp"
#include "cli/report/figure/gnuplot_script.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

constexpr double most_seconds = 120;
constexpr std::string_view in_scratch = "dtctl-figure"; // the name of a figure while gnuplot writes it

std::string how_it_ended(const CommandResult& result)
{
  if (result.timed_out) return fmt::format("did not end within {:.0f} s", most_seconds);
  if (result.signal != 0) return "was ended by " + signal_name(result.signal);
  return fmt::format("ended with exit code {}", result.exit_code);
}

CommandResult run_gnuplot(const fs::path& script)
{
  // -d: without the user's and the machine's start-up files, which may change any default.
  const std::vector<std::string> words{"gnuplot", "-d", script.string()};
  const auto result = [&] {
    try {
      return run_command(words, most_seconds);
    } catch (const SystemError& error) {
      if (error.number() != ENOENT) throw;
      throw Error(ErrorKind::environment,
                  "gnuplot is not installed, and dtctl plot draws with it. Install the package gnuplot-nox. "
                  "--format gnuplot, --format csv and dtctl report work without it.");
    }
  }();
  if (result.ok()) return result;
  throw Error(ErrorKind::environment, fmt::format("{} {}\nstandard error:\n{}standard output:\n{}", shell_join(words),
                                                  how_it_ended(result), result.err, result.out.substr(0, 2000)));
}

// Tells programs that the picture has 300 dots per inch: a pHYs chunk behind the header chunk, which ends at byte 33.
std::string with_resolution(const std::string& png)
{
  constexpr std::size_t header_end = 33;
  // Length 9, "pHYs", 11811 dots per metre in both directions, unit metre, checksum.
  constexpr std::array<unsigned char, 21> chunk{0,    0, 0, 9,    'p',  'H', 'Y',  's',  0,    0,   0x2E,
                                                0x23, 0, 0, 0x2E, 0x23, 1,   0x78, 0xA5, 0x3F, 0x76};
  if (png.size() < header_end) return png;
  return png.substr(0, header_end) + std::string(chunk.begin(), chunk.end()) + png.substr(header_end);
}

std::string replaced(std::string text, std::string_view what, const std::string& by)
{
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::string_view extension_of(FigureFormat format)
{
  switch (format) {
  case FigureFormat::png:
    return ".png";
  case FigureFormat::svg:
    return ".svg";
  case FigureFormat::tex:
    return ".tex";
  case FigureFormat::pdf:
  case FigureFormat::terminal:
    break;
  }
  return ".pdf";
}

} // namespace

Figure write_figure(const Chart& chart, const FigureStyle& style, const fs::path& file)
{
  const ScratchFolder scratch;
  const auto script = scratch / "figure.gp",
             drawn = scratch / (std::string(in_scratch) + std::string(extension_of(style.format)));
  write_file_atomic(script, gnuplot_script(chart, style, drawn.string()));
  Figure figure{.files = {file}, .warnings = run_gnuplot(script).err};
  auto bytes = read_file(drawn);
  if (style.format == FigureFormat::png) bytes = with_resolution(bytes);
  if (style.format == FigureFormat::tex) {
    const auto picture = fs::path(file).replace_extension(".pdf");
    write_file_atomic(picture, read_file(fs::path(drawn).replace_extension(".pdf")), Readers::everybody);
    figure.files.push_back(picture);
    bytes = replaced(bytes, fs::path(drawn).replace_extension("").string(), file.stem().string());
  }
  write_file_atomic(file, bytes, Readers::everybody);
  return figure;
}

Figure draw_figure(const Chart& chart, const FigureStyle& style)
{
  const ScratchFolder scratch;
  const auto script = scratch / "figure.gp";
  write_file_atomic(script, gnuplot_script(chart, style, ""));
  auto result = run_gnuplot(script);
  std::string drawing;
  std::erase_if(result.out, [](char c) { return c == '\f' || c == '\r'; }); // gnuplot begins a page with a form feed
  for (const auto& line : split(result.out, '\n')) {
    const auto end = line.find_last_not_of(' ');
    if (end != std::string::npos) drawing += line.substr(0, end + 1) + "\n";
  }
  return {.files = {}, .drawing = std::move(drawing), .warnings = std::move(result.err)};
}

} // namespace dt::cli
