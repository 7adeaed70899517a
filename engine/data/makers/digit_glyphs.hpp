// The shapes of the ten digits: several styles each, as strokes through anchor points.
#pragma once

#include "engine/data/makers/raster.hpp"

#include <array>
#include <vector>

namespace dt::data {

enum class StrokeForm { line, curve, loop };

// Anchors lie in the unit square; (0, 0) is its upper left corner.
struct GlyphStroke {
  StrokeForm form;
  std::vector<Point> anchors;
};

using Glyph = std::vector<GlyphStroke>;

// The styles of each digit.
std::array<std::vector<Glyph>, 10> digit_glyphs();

} // namespace dt::data
