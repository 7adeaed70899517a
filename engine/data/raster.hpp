// A small anti-aliased rasteriser: strokes and filled shapes on planes of floats. It uses +, -, *, / and sqrt only, which every
// machine rounds alike, so equal drawings are equal bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dt::engine {

// Pixels or drawing units, x to the right and y down. The centre of the first pixel is (0, 0).
struct Point {
  float x = 0, y = 0;
  friend Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  friend Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
  friend Point operator*(float factor, Point p) { return {factor * p.x, factor * p.y}; }
};

inline float dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }

// p -> (x_axis.x p.x + y_axis.x p.y, x_axis.y p.x + y_axis.y p.y) + origin.
struct Affine {
  Point x_axis{1, 0}, y_axis{0, 1}, origin{0, 0};
  Point operator()(Point p) const { return p.x * x_axis + p.y * y_axis + origin; }
};

// The turn by the angle whose half has this tangent: all angles are had without a sine.
Affine turn_by_half_tangent(float half_tangent);
// First `inner`, then `outer`.
Affine compose(const Affine& outer, const Affine& inner);
// The transformation that undoes `affine`, which must not be flat.
Affine inverse(const Affine& affine);

// The smooth curve through the anchors (Catmull and Rom's), as a polyline; a loop ends where it begins.
std::vector<Point> smooth_curve(std::span<const Point> anchors, bool is_loop);

// One value a pixel, row by row.
class Plane {
 public:
  Plane(std::int64_t width, std::int64_t height, float value)
      : width_(width), height_(height), values_(static_cast<std::size_t>(width * height), value)
  {
  }
  std::int64_t width() const { return width_; }
  std::int64_t height() const { return height_; }
  float& at(std::int64_t x, std::int64_t y) { return values_[static_cast<std::size_t>(y * width_ + x)]; }
  float at(std::int64_t x, std::int64_t y) const { return values_[static_cast<std::size_t>(y * width_ + x)]; }
  std::span<float> values() { return values_; }
  std::span<const float> values() const { return values_; }

 private:
  std::int64_t width_, height_;
  std::vector<float> values_;
};

// Draws polylines with round ends. Overlapping strokes of one pen are one blot: they don't add up.
class Pen {
 public:
  // half_width in pixels; at least 0.5 covers a pixel whole.
  Pen(std::int64_t width, std::int64_t height, float half_width);
  void draw(std::span<const Point> polyline);
  // The share of each pixel that is covered, 0 to 1, falling off over one pixel at the edge.
  Plane coverage() const;

 private:
  void draw_segment(Point from, Point to);
  float half_width_;
  Plane squared_distance_; // to the nearest stroke, as far as it matters
};

// How far p lies outside the polygon, in its units: negative inside. At least two corners.
float signed_distance(std::span<const Point> corners, Point p);

// Each pixel towards `colour` by its coverage times opacity.
void blend(Plane& plane, const Plane& coverage, float colour, float opacity = 1);

// Each pixel towards the weighted mean (1 2 1; 2 4 2; 1 2 1)/16 of its surroundings, by `strength` from 0 to 1.
void blur(Plane& plane, float strength);

// 0 … 1 to 0 … 255, rounded; beyond is cut off.
std::uint8_t to_byte(float value);

} // namespace dt::engine
