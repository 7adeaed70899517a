#include "engine/data/makers/makers.hpp"
#include "engine/data/makers/raster.hpp"
#include "engine/data/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace dt::data {
namespace {

constexpr std::int64_t image_side = 32, planes = 3;
using Picture = std::array<Plane, planes>;
using Colour = std::array<float, planes>;

// Corners of the shapes that are polygons, approximately within the unit circle.
using Outlines = std::array<std::vector<Point>, made_classes>;

enum Shape : std::uint8_t { circle, square, triangle, star, ring, cross, pentagon, crescent, heart, arrow };

Outlines outlines()
{
  constexpr float a = 0.3f, b = 0.95f; // of the cross: half the width and half the length of a bar
  Outlines result;
  result[square] = {{-.8f, -.8f}, {.8f, -.8f}, {.8f, .8f}, {-.8f, .8f}};
  result[triangle] = {{0, -1}, {.866f, .5f}, {-.866f, .5f}};
  result[star] = {{0, -1},    {.2245f, -.309f}, {.9511f, -.309f}, {.3633f, .118f},   {.5878f, .809f},
                  {0, .382f}, {-.5878f, .809f}, {-.3633f, .118f}, {-.9511f, -.309f}, {-.2245f, -.309f}};
  result[cross] = {{-a, -b}, {a, -b}, {a, -a}, {b, -a}, {b, a}, {a, a}, {a, b}, {-a, b}, {-a, a}, {-b, a}, {-b, -a}, {-a, -a}};
  result[pentagon] = {{0, -1}, {.9511f, -.309f}, {.5878f, .809f}, {-.5878f, .809f}, {-.9511f, -.309f}};
  result[heart] = {{0, -.45f}, {.2f, -.72f},  {.48f, -.82f},  {.78f, -.7f},  {.92f, -.4f},  {.84f, -.05f},  {.55f, .38f},
                   {0, .92f},  {-.55f, .38f}, {-.84f, -.05f}, {-.92f, -.4f}, {-.78f, -.7f}, {-.48f, -.82f}, {-.2f, -.72f}};
  result[arrow] = {{0, -1}, {.7f, -.1f}, {.26f, -.1f}, {.26f, .95f}, {-.26f, .95f}, {-.26f, -.1f}, {-.7f, -.1f}};
  return result;
}

float length(Point p) { return std::sqrt(dot(p, p)); }

// Distance of p from the shape's edge; negative inside.
float distance_to(std::uint8_t shape, const Outlines& corners, Point p)
{
  switch (shape) {
  case circle:
    return length(p) - 0.9f;
  case ring:
    return std::abs(length(p) - 0.7f) - 0.24f;
  case crescent:
    return std::max(length(p) - 0.95f, 0.75f - length(p - Point{0.45f, 0}));
  default:
    return signed_distance(corners[shape], p);
  }
}

// The covered share of each pixel, for the shape at a random place.
Plane draw_shape(std::uint8_t shape, const Outlines& corners, Random& random)
{
  const float size = random.between(7.5f, 13), stretch = random.between(0.8f, 1.25f);
  const Affine to_size{{size * stretch, 0}, {size * random.between(-0.2f, 0.2f), size / stretch}, {0, 0}};
  Affine placement = compose(turn_by_half_tangent(random.between(-0.3f, 0.3f)), to_size); // up to 33 degrees in either direction
  const float centre = 0.5f * static_cast<float>(image_side - 1), room = 15 - size;
  placement.origin = {centre + random.between(-room, room), centre + random.between(-room, room)};
  const Affine to_shape = inverse(placement);
  Plane coverage(image_side, image_side, 0);
  for (std::int64_t y = 0; y < image_side; ++y)
    for (std::int64_t x = 0; x < image_side; ++x) {
      const float outside = size * distance_to(shape, corners, to_shape({static_cast<float>(x), static_cast<float>(y)}));
      coverage.at(x, y) = std::clamp(0.5f - outside, 0.0f, 1.0f);
    }
  return coverage;
}

Colour draw_colour(Random& random) { return {random.unit(), random.unit(), random.unit()}; }

float contrast(const Colour& a, const Colour& b) { return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]) + std::abs(a[2] - b[2]); }

// A random colour that differs visibly from `other`.
Colour draw_colour_unlike(const Colour& other, Random& random)
{
  Colour colour = draw_colour(random);
  while (contrast(colour, other) < 0.8f) colour = draw_colour(random);
  return colour;
}

// A smooth random field from 0 to 1: random values on a coarse grid, interpolated linearly.
Plane draw_clouds(Random& random)
{
  constexpr std::int64_t cell = 8, knots = image_side / cell + 1;
  Plane grid(knots, knots, 0), field(image_side, image_side, 0);
  for (float& value : grid.values()) value = random.unit();
  for (std::int64_t y = 0; y < image_side; ++y)
    for (std::int64_t x = 0; x < image_side; ++x) {
      const std::int64_t left = x / cell, top = y / cell;
      const float right = static_cast<float>(x % cell) / cell, down = static_cast<float>(y % cell) / cell;
      const float upper = grid.at(left, top) + (grid.at(left + 1, top) - grid.at(left, top)) * right;
      const float lower = grid.at(left, top + 1) + (grid.at(left + 1, top + 1) - grid.at(left, top + 1)) * right;
      field.at(x, y) = upper + (lower - upper) * down;
    }
  return field;
}

// Stripes with random direction and width; their edges are linear ramps.
Plane draw_stripes(Random& random)
{
  const Affine turn = turn_by_half_tangent(random.between(-1, 1));
  const float period = random.between(4, 10), phase = random.unit();
  Plane field(image_side, image_side, 0);
  for (std::int64_t y = 0; y < image_side; ++y)
    for (std::int64_t x = 0; x < image_side; ++x) {
      const float along = dot(turn.x_axis, {static_cast<float>(x), static_cast<float>(y)}) / period + phase;
      const float saw = along - std::floor(along);
      field.at(x, y) = std::clamp(0.5f + 2 * (std::abs(2 * saw - 1) - 0.5f), 0.0f, 1.0f);
    }
  return field;
}

Plane draw_texture(Random& random) { return random.chance(0.5f) ? draw_clouds(random) : draw_stripes(random); }

// Random draws below are separate statements: in an argument list the order of evaluation is not defined.
void paint(Picture& picture, const Plane& coverage, const Colour& colour, float opacity = 1)
{
  for (std::size_t i = 0; i < picture.size(); ++i) blend(picture[i], coverage, colour[i], opacity);
}

// Draws a thin line of a random colour across the image.
void scratch(Picture& picture, Random& random)
{
  const auto anywhere = [&] { return random.between(0, static_cast<float>(image_side - 1)); };
  Pen pen(image_side, image_side, random.between(0.4f, 1.2f));
  const std::array ends{Point{anywhere(), anywhere()}, Point{anywhere(), anywhere()}};
  pen.draw(ends);
  paint(picture, pen.coverage(), draw_colour(random));
}

// Adds a texture with a random colour and an opacity of up to `most`, multiplied by `where`.
void texture(Picture& picture, const Plane& where, float most, Random& random)
{
  Plane coverage = draw_texture(random);
  for (std::size_t i = 0; i < where.values().size(); ++i) coverage.values()[i] *= where.values()[i];
  const Colour colour = draw_colour(random);
  paint(picture, coverage, colour, random.between(0, most));
}

void finish(const Picture& picture, Random& random, std::uint8_t* pixels)
{
  const float softness = random.between(0, 0.8f), noise = random.between(0.01f, 0.1f);
  for (Plane plane : picture) {
    blur(plane, softness);
    for (const float value : plane.values()) *pixels++ = to_byte(value + noise * random.normal());
  }
}

void draw_picture(std::uint8_t shape, const Outlines& corners, Random& random, std::uint8_t* pixels)
{
  const Colour paper = draw_colour(random), ink = draw_colour_unlike(paper, random);
  Picture picture{Plane(image_side, image_side, paper[0]), Plane(image_side, image_side, paper[1]),
                  Plane(image_side, image_side, paper[2])};
  texture(picture, Plane(image_side, image_side, 1), 0.35f, random);
  if (random.chance(0.5f)) scratch(picture, random);
  const Plane inside = draw_shape(shape, corners, random);
  paint(picture, inside, ink);
  texture(picture, inside, 0.25f, random);
  if (random.chance(0.3f)) scratch(picture, random);
  finish(picture, random, pixels);
}

// Records for the samples in `range`: a label byte and three planes each.
std::string records(const MadePart& part, SampleRange range, ImageCount& made)
{
  constexpr std::int64_t image_bytes = planes * image_side * image_side;
  const Outlines corners = outlines();
  std::string bytes(static_cast<std::size_t>((range.end - range.begin) * (1 + image_bytes)), '\0');
  auto* record = reinterpret_cast<std::uint8_t*>(bytes.data());
  for (auto i = range.begin; i < range.end; ++i, record += 1 + image_bytes) {
    Random random = part.random(i);
    record[0] = part.label(i);
    draw_picture(record[0], corners, random, record + 1);
    made.add_one();
  }
  return bytes;
}

} // namespace

void make_shapes(const MakeOptions& options, const FileSink& sink)
{
  constexpr int batches = 5;
  const MadePart train(options.seed, false), test(options.seed, true);
  ImageCount made(options);
  for (int i = 0; i < batches; ++i)
    sink(fmt::format("data_batch_{}.bin", i + 1), records(train, shard(options.train, i, batches), made));
  sink("test_batch.bin", records(test, {0, options.test}, made));
}

} // namespace dt::data
