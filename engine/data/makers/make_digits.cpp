#include "engine/data/makers/digit_glyphs.hpp"
#include "engine/data/makers/makers.hpp"
#include "engine/data/makers/raster.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace dt::data {
namespace {

constexpr std::int64_t side = 28;

// Position and size of a digit: a map from a glyph's unit square to pixels.
Affine draw_placement(Random& random)
{
  const float height = random.between(14, 21), width = height * random.between(0.45f, 0.85f);
  const Affine to_size{{width, 0}, {0, height}, {-0.5f * width, -0.5f * height}};
  const Affine shear{{1, 0}, {random.between(-0.3f, 0.3f), 1}, {0, 0}};
  Affine turned = compose(turn_by_half_tangent(0.09f * random.normal()), compose(shear, to_size));
  const float centre = 0.5f * static_cast<float>(side - 1), room = 0.5f * (24 - height);
  turned.origin = turned.origin + Point{centre + random.between(-room, room), centre + random.between(-room, room)};
  return turned;
}

std::vector<Point> outline(const GlyphStroke& stroke, const Affine& placement, float shake, Random& random)
{
  std::vector<Point> anchors;
  for (const Point anchor : stroke.anchors)
    anchors.push_back(placement(anchor + shake * Point{random.normal(), random.normal()}));
  return stroke.form == StrokeForm::line ? anchors : smooth_curve(anchors, stroke.form == StrokeForm::loop);
}

Plane draw_glyph(const Glyph& glyph, Random& random)
{
  const Affine placement = draw_placement(random);
  const float shake = random.between(0.01f, 0.05f);
  Pen pen(side, side, random.between(0.7f, 1.8f));
  for (const auto& stroke : glyph) pen.draw(outline(stroke, placement, shake, random));
  return pen.coverage();
}

// Draws a short line of `colour` at a random place: ink of a neighbour, or a gap in the digit.
void scratch(Plane& image, float colour, Random& random)
{
  const auto anywhere = [&] { return random.between(0, static_cast<float>(side - 1)); };
  const auto stretch = [&] { return random.between(-6, 6); };
  const Point from{anywhere(), anywhere()};
  const Point to = from + Point{stretch(), stretch()};
  Pen pen(side, side, random.between(0.4f, 1.1f));
  pen.draw(std::array{from, to});
  blend(image, pen.coverage(), colour, random.between(0.4f, 1));
}

// Random draws are separate statements: in an argument list the order of evaluation is not defined.
void draw_digit(const Glyph& glyph, Random& random, std::uint8_t* pixels)
{
  Plane image(side, side, 0);
  const float ink = random.between(0.65f, 1), noise = random.between(0.02f, 0.1f);
  blend(image, draw_glyph(glyph, random), ink);
  for (auto gaps = random.below(2); gaps > 0; --gaps) scratch(image, 0, random);
  for (auto specks = random.below(3); specks > 0; --specks) scratch(image, ink, random);
  blur(image, random.unit());
  for (const float value : image.values()) *pixels++ = to_byte(value + noise * random.normal());
}

void append_big_endian(std::string& bytes, std::int64_t value)
{
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(value >> shift & 0xff));
}

// Writes 0x00 0x00, 0x08 for unsigned bytes, the number of dimensions, then the sizes.
std::string idx_header(std::initializer_list<std::int64_t> sizes)
{
  std::string header{0, 0, 8, static_cast<char>(sizes.size())};
  for (const auto size : sizes) append_big_endian(header, size);
  return header;
}

void make_part(const std::string& name, const MadePart& part, std::int64_t count, ImageCount& made, const FileSink& sink)
{
  const auto glyphs = digit_glyphs();
  std::string images = idx_header({count, side, side}), labels = idx_header({count});
  const auto image_header = images.size();
  images.resize(image_header + static_cast<std::size_t>(count * side * side));
  auto* pixels = reinterpret_cast<std::uint8_t*>(images.data() + image_header);
  for (std::int64_t i = 0; i < count; ++i, pixels += side * side) {
    const auto label = part.label(i);
    labels.push_back(static_cast<char>(label));
    Random random = part.random(i);
    const auto& styles = glyphs[label];
    draw_digit(styles[random.below(styles.size())], random, pixels);
    made.add_one();
  }
  sink(name + "-images-idx3-ubyte", images);
  sink(name + "-labels-idx1-ubyte", labels);
}

} // namespace

void make_digits(const MakeOptions& options, const FileSink& sink)
{
  ImageCount made(options);
  make_part("train", MadePart(options.seed, false), options.train, made, sink);
  make_part("t10k", MadePart(options.seed, true), options.test, made, sink);
}

} // namespace dt::data
