#include "engine/data/makers/makers.hpp"
#include "engine/data/makers/raster.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace dt::data {
namespace {

// The shapes of the ten digits: several styles each, as strokes through anchor points.

enum class StrokeForm { line, curve, loop };

// Anchors lie in the unit square; (0, 0) is its upper left corner.
struct GlyphStroke {
  StrokeForm form;
  std::vector<Point> anchors;
};

using Glyph = std::vector<GlyphStroke>;

using enum StrokeForm;

std::vector<Glyph> zeros()
{
  return {
      {{loop, {{.5f, 0}, {.86f, .14f}, {1, .5f}, {.86f, .86f}, {.5f, 1}, {.14f, .86f}, {0, .5f}, {.14f, .14f}}}},
      {{loop, {{.5f, 0}, {.76f, .16f}, {.8f, .5f}, {.76f, .84f}, {.5f, 1}, {.24f, .84f}, {.2f, .5f}, {.24f, .16f}}}},
      // starts at the top and is not quite closed
      {{curve,
        {{.6f, .04f}, {.25f, .06f}, {.03f, .42f}, {.12f, .84f}, {.5f, 1}, {.88f, .82f}, {.97f, .4f}, {.75f, .08f}, {.45f, 0}}}},
  };
}

std::vector<Glyph> ones()
{
  return {
      {{line, {{.5f, 0}, {.5f, 1}}}},
      {{line, {{.2f, .26f}, {.58f, 0}, {.58f, 1}}}},
      {{line, {{.2f, .22f}, {.52f, 0}, {.52f, 1}}}, {line, {{.15f, 1}, {.9f, 1}}}},
  };
}

std::vector<Glyph> twos()
{
  return {
      {{curve, {{.04f, .26f}, {.2f, .05f}, {.52f, 0}, {.86f, .1f}, {.92f, .32f}, {.7f, .6f}, {.36f, .82f}, {0, 1}}},
       {line, {{0, 1}, {1, 1}}}},
      // with a loop at the bottom
      {{curve,
        {{.06f, .2f},
         {.4f, 0},
         {.8f, .08f},
         {.86f, .34f},
         {.58f, .7f},
         {.24f, .96f},
         {.04f, .9f},
         {.16f, .78f},
         {.5f, .9f},
         {1, .98f}}}},
      {{curve, {{.06f, .14f}, {.4f, 0}, {.84f, .06f}, {.88f, .28f}}}, {line, {{.88f, .28f}, {.04f, 1}, {.96f, 1}}}},
  };
}

std::vector<Glyph> threes()
{
  const GlyphStroke lower{curve, {{.42f, .46f}, {.8f, .53f}, {.97f, .73f}, {.8f, .94f}, {.42f, 1}, {.03f, .88f}}};
  return {
      {{curve, {{.06f, .12f}, {.42f, 0}, {.8f, .08f}, {.86f, .27f}, {.7f, .42f}, {.42f, .46f}}}, lower},
      // with a flat top
      {{line, {{.06f, 0}, {.92f, 0}, {.42f, .4f}}},
       {curve, {{.42f, .4f}, {.8f, .5f}, {.97f, .72f}, {.8f, .94f}, {.42f, 1}, {.03f, .88f}}}},
  };
}

std::vector<Glyph> fours()
{
  return {
      {{line, {{.18f, 0}, {.04f, .6f}, {.98f, .6f}}}, {line, {{.72f, .2f}, {.68f, 1}}}},
      // closed form
      {{line, {{.72f, 1}, {.72f, 0}, {0, .68f}, {1, .68f}}}},
      // with two vertical strokes
      {{line, {{.1f, .02f}, {.1f, .52f}, {.86f, .52f}}}, {line, {{.86f, 0}, {.86f, 1}}}},
  };
}

std::vector<Glyph> fives()
{
  return {
      {{line, {{.92f, 0}, {.16f, 0}, {.1f, .44f}}},
       {curve, {{.1f, .44f}, {.5f, .36f}, {.92f, .54f}, {.92f, .82f}, {.5f, 1}, {.03f, .88f}}}},
      // with a separate top bar
      {{curve, {{.2f, .1f}, {.16f, .42f}, {.6f, .44f}, {.9f, .64f}, {.76f, .92f}, {.36f, 1}, {.02f, .94f}}},
       {line, {{.2f, .06f}, {.96f, 0}}}},
  };
}

std::vector<Glyph> sixes()
{
  return {
      {{curve,
        {{.82f, .02f},
         {.42f, .14f},
         {.08f, .48f},
         {.08f, .82f},
         {.45f, 1},
         {.88f, .88f},
         {.9f, .62f},
         {.55f, .48f},
         {.14f, .62f}}}},
      // with a straight left side
      {{curve, {{.5f, 0}, {.2f, .36f}, {.03f, .7f}, {.2f, .95f}, {.55f, 1}, {.92f, .84f}, {.86f, .6f}, {.5f, .52f}, {.1f, .7f}}}},
  };
}

std::vector<Glyph> sevens()
{
  return {
      {{line, {{0, 0}, {1, 0}, {.36f, 1}}}},
      // with a bar
      {{line, {{0, .02f}, {1, 0}, {.4f, 1}}}, {line, {{.3f, .5f}, {.92f, .48f}}}},
      // with a serif and a bent leg
      {{line, {{.02f, .2f}, {.02f, 0}, {.98f, 0}}}, {curve, {{.98f, 0}, {.66f, .38f}, {.46f, 1}}}},
  };
}

std::vector<Glyph> eights()
{
  return {
      {{loop, {{.5f, 0}, {.82f, .1f}, {.82f, .36f}, {.5f, .46f}, {.18f, .36f}, {.18f, .1f}}},
       {loop, {{.5f, .46f}, {.94f, .6f}, {.94f, .9f}, {.5f, 1}, {.06f, .9f}, {.06f, .6f}}}},
      // in a single stroke
      {{loop,
        {{.5f, .48f},
         {.12f, .28f},
         {.16f, .08f},
         {.5f, 0},
         {.84f, .08f},
         {.88f, .28f},
         {.5f, .48f},
         {.06f, .72f},
         {.12f, .93f},
         {.5f, 1},
         {.88f, .93f},
         {.94f, .72f}}}},
  };
}

std::vector<Glyph> nines()
{
  const GlyphStroke head{loop, {{.9f, .26f}, {.7f, .46f}, {.3f, .5f}, {.06f, .3f}, {.2f, .06f}, {.6f, 0}}};
  return {
      {head, {curve, {{.9f, .26f}, {.84f, .68f}, {.56f, 1}}}},
      {head, {line, {{.92f, .06f}, {.88f, 1}}}},
      // with a hook
      {head, {curve, {{.9f, .26f}, {.92f, .72f}, {.62f, 1}, {.12f, .92f}}}},
  };
}

// The styles of each digit.
std::array<std::vector<Glyph>, 10> digit_glyphs()
{
  return {zeros(), ones(), twos(), threes(), fours(), fives(), sixes(), sevens(), eights(), nines()};
}

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
