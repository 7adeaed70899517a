#include "engine/data/makers/raster.hpp"

#include <algorithm>
#include <cmath>

namespace dt::data {

Affine turn_by_half_tangent(float half_tangent)
{
  const float square = half_tangent * half_tangent;
  const float cosine = (1 - square) / (1 + square), sine = 2 * half_tangent / (1 + square);
  return {{cosine, sine}, {-sine, cosine}, {0, 0}};
}

Affine compose(const Affine& outer, const Affine& inner)
{
  const Affine turned{outer.x_axis, outer.y_axis, {0, 0}};
  return {turned(inner.x_axis), turned(inner.y_axis), outer(inner.origin)};
}

Affine inverse(const Affine& affine)
{
  const float area = affine.x_axis.x * affine.y_axis.y - affine.y_axis.x * affine.x_axis.y;
  const Affine turned{
      {affine.y_axis.y / area, -affine.x_axis.y / area}, {-affine.y_axis.x / area, affine.x_axis.x / area}, {0, 0}};
  return {turned.x_axis, turned.y_axis, turned({-affine.origin.x, -affine.origin.y})};
}

std::vector<Point> smooth_curve(std::span<const Point> anchors, bool is_loop)
{
  constexpr int pieces = 4;
  const auto count = static_cast<std::ptrdiff_t>(anchors.size());
  const auto anchor = [&](std::ptrdiff_t i) {
    return anchors[static_cast<std::size_t>(is_loop ? (i + count) % count : std::clamp(i, std::ptrdiff_t{0}, count - 1))];
  };
  std::vector<Point> curve{anchors.front()};
  for (std::ptrdiff_t i = 0; i < (is_loop ? count : count - 1); ++i) {
    const Point before = anchor(i - 1), from = anchor(i), to = anchor(i + 1), after = anchor(i + 2);
    for (int piece = 1; piece <= pieces; ++piece) {
      const float t = static_cast<float>(piece) / pieces;
      // ((2 p1) + (p2 - p0) t + (2 p0 - 5 p1 + 4 p2 - p3) t^2 + (3 p1 - p0 - 3 p2 + p3) t^3) / 2
      const Point square = 2 * before - 5 * from + 4 * to - after, cube = 3 * from - before - 3 * to + after;
      curve.push_back(0.5f * (2 * from + t * ((to - before) + t * (square + t * cube))));
    }
  }
  return curve;
}

Pen::Pen(std::int64_t width, std::int64_t height, float half_width)
    : half_width_(half_width), squared_distance_(width, height, 1e9f)
{
}

void Pen::draw(std::span<const Point> polyline)
{
  for (std::size_t i = 1; i < polyline.size(); ++i) draw_segment(polyline[i - 1], polyline[i]);
}

void Pen::draw_segment(Point from, Point to)
{
  const float reach = half_width_ + 0.5f;
  const auto first = [&](float low) { return std::max(std::int64_t{0}, static_cast<std::int64_t>(std::ceil(low - reach))); };
  const auto last = [&](float high, std::int64_t size) {
    return std::min(size - 1, static_cast<std::int64_t>(std::floor(high + reach)));
  };
  const std::int64_t left = first(std::min(from.x, to.x)), right = last(std::max(from.x, to.x), squared_distance_.width());
  const std::int64_t top = first(std::min(from.y, to.y)), bottom = last(std::max(from.y, to.y), squared_distance_.height());
  const Point along = to - from;
  const float length = std::max(dot(along, along), 1e-12f);
  for (std::int64_t y = top; y <= bottom; ++y)
    for (std::int64_t x = left; x <= right; ++x) {
      const Point p = Point{static_cast<float>(x), static_cast<float>(y)} - from;
      const Point off = p - std::clamp(dot(p, along) / length, 0.0f, 1.0f) * along;
      float& nearest = squared_distance_.at(x, y);
      nearest = std::min(nearest, dot(off, off));
    }
}

Plane Pen::coverage() const
{
  Plane result(squared_distance_.width(), squared_distance_.height(), 0);
  const auto squares = squared_distance_.values();
  const float reach = half_width_ + 0.5f;
  for (std::size_t i = 0; i < squares.size(); ++i)
    if (squares[i] < reach * reach) result.values()[i] = std::min(reach - std::sqrt(squares[i]), 1.0f);
  return result;
}

float signed_distance(std::span<const Point> corners, Point p)
{
  float square = 1e30f;
  bool inside = false;
  Point from = corners.back();
  for (const Point to : corners) {
    const Point along = to - from, offset = p - from;
    const Point off = offset - std::clamp(dot(offset, along) / dot(along, along), 0.0f, 1.0f) * along;
    square = std::min(square, dot(off, off));
    // a ray to the right crosses the edge, so p changes between inside and outside
    if ((from.y > p.y) != (to.y > p.y) && offset.x < along.x * offset.y / along.y) inside = !inside;
    from = to;
  }
  return inside ? -std::sqrt(square) : std::sqrt(square);
}

void blend(Plane& plane, const Plane& coverage, float colour, float opacity)
{
  const auto values = plane.values();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += (colour - values[i]) * coverage.values()[i] * opacity;
}

void blur(Plane& plane, float strength)
{
  const Plane sharp = plane;
  const auto pixel = [&](std::int64_t x, std::int64_t y) {
    return sharp.at(std::clamp(x, std::int64_t{0}, sharp.width() - 1), std::clamp(y, std::int64_t{0}, sharp.height() - 1));
  };
  const auto row = [&](std::int64_t x, std::int64_t y) { return pixel(x - 1, y) + 2 * pixel(x, y) + pixel(x + 1, y); };
  for (std::int64_t y = 0; y < sharp.height(); ++y)
    for (std::int64_t x = 0; x < sharp.width(); ++x) {
      const float mean = (row(x, y - 1) + 2 * row(x, y) + row(x, y + 1)) / 16;
      plane.at(x, y) += (mean - sharp.at(x, y)) * strength;
    }
}

std::uint8_t to_byte(float value) { return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255 + 0.5f); }

} // namespace dt::data
