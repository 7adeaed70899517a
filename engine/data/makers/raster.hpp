// A small anti-aliasing rasteriser for strokes and filled shapes on planes of floats. It uses only +, -, *, / and sqrt, which
// every machine rounds alike, so equal drawings have equal bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dt::data {

// A point in pixels or drawing units; x points right and y down. The centre of the first pixel is (0, 0).
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

// Rotation by an angle that is given by the tangent of its half, so that no sine function is needed.
Affine turn_by_half_tangent(float half_tangent);
// Applies first `inner`, then `outer`.
Affine compose(const Affine& outer, const Affine& inner);
// The inverse of `affine`, whose determinant must not be zero.
Affine inverse(const Affine& affine);

// The Catmull-Rom spline through the anchors, as a polyline. A loop ends at its first anchor.
std::vector<Point> smooth_curve(std::span<const Point> anchors, bool is_loop);

// One value per pixel, row by row.
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

// Draws polylines with round ends. Overlapping strokes of one pen do not add up.
class Pen {
 public:
  // half_width is in pixels; from 0.5 up a stroke covers a pixel completely.
  Pen(std::int64_t width, std::int64_t height, float half_width);
  void draw(std::span<const Point> polyline);
  // The covered share of each pixel, 0 to 1; it falls to 0 over one pixel at the edge.
  Plane coverage() const;

 private:
  void draw_segment(Point from, Point to);
  float half_width_;
  Plane squared_distance_; // to the nearest stroke; exact only near strokes
};

// Distance of p from the polygon's edge, in the polygon's units; negative inside. The polygon needs at least two corners.
float signed_distance(std::span<const Point> corners, Point p);

// Moves each pixel towards `colour` by its coverage times opacity.
void blend(Plane& plane, const Plane& coverage, float colour, float opacity = 1);

// Moves each pixel towards the weighted mean (1 2 1; 2 4 2; 1 2 1)/16 of its neighbourhood; strength: 0 to 1.
void blur(Plane& plane, float strength);

// Maps 0 … 1 to 0 … 255 with rounding; values outside are clamped.
std::uint8_t to_byte(float value);

} // namespace dt::data
