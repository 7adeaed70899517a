#include "cli/report/chart/chart.hpp"

#include <array>

namespace dt::cli {

std::string_view name_of(Mark mark)
{
  constexpr std::array<std::string_view, 5> names{"line", "band", "points", "bar", "floating"};
  return names.at(static_cast<std::size_t>(mark));
}

std::string_view name_of(Origin origin)
{
  constexpr std::array<std::string_view, 4> names{"measured", "simulated", "predicted", "ideal"};
  return names.at(static_cast<std::size_t>(origin));
}

std::string_view name_of(AxisScale scale)
{
  constexpr std::array<std::string_view, 3> names{"linear", "log2", "log10"};
  return names.at(static_cast<std::size_t>(scale));
}

} // namespace dt::cli
