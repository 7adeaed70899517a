// How the ten digits are written: several styles each, as strokes through anchor points.
#pragma once

#include "engine/data/raster.hpp"

#include <array>
#include <vector>

namespace dt::engine {

enum class StrokeForm { line, curve, loop };

// Anchors in the unit square, (0, 0) its upper left corner.
struct GlyphStroke {
  StrokeForm form;
  std::vector<Point> anchors;
};

using Glyph = std::vector<GlyphStroke>;

// The styles of each digit.
std::array<std::vector<Glyph>, 10> digit_glyphs();

} // namespace dt::engine
