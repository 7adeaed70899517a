// Student's data about sleep [Student1908]: additional hours of sleep of ten patients under two drugs. The results of the t tests
// are those of R's documentation: t.test(extra ~ group, data = sleep), and the same with paired = TRUE.
#pragma once

#include <cmath>
#include <vector>

namespace dt::store::sleep_data {

inline const std::vector<double> first{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
inline const std::vector<double> second{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

struct Test {
  double difference, t, freedom, p, low, high;
};
inline constexpr Test welch{-1.58, -1.8608, 17.776, 0.07939, -3.3654832, 0.2054832};
inline constexpr Test paired{-1.58, -4.0621, 9, 0.002833, -2.4598858, -0.7001142};

// Positive values with these logarithms.
inline std::vector<double> exponentials(const std::vector<double>& logarithms)
{
  std::vector<double> values;
  for (const double x : logarithms) values.push_back(std::exp(x));
  return values;
}

} // namespace dt::store::sleep_data
