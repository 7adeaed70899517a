// The only file that includes Boost: its headers are slow to compile.
#include "store/analysis/statistics/distributions.hpp"

#include "core/error.hpp"

#include <cmath>
#include <string>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace dt::store {
namespace {

// Double precision throughout, because long double is several times slower; no exception of Boost's, because the arguments are
// checked here.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>,
                                             boost::math::policies::domain_error<boost::math::policies::ignore_error>,
                                             boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
                                             boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;
using Distribution = boost::math::students_t_distribution<double, Policy>;

void require(bool condition, const char* what, double value)
{
  if (!condition) throw Error(ErrorKind::internal, std::string(what) + ", not " + std::to_string(value));
}

} // namespace

double student_t_quantile(double share, double freedom)
{
  if (std::isnan(share) || std::isnan(freedom)) return share + freedom;
  require(share > 0 && share < 1, "Student's t: the share must be between 0 and 1", share);
  require(freedom >= 1, "Student's t: the degrees of freedom must be at least 1", freedom);
  return boost::math::quantile(Distribution(freedom), share);
}

double student_t_two_sided_p(double t, double freedom)
{
  if (std::isnan(t) || std::isnan(freedom)) return t + freedom;
  require(freedom >= 1, "Student's t: the degrees of freedom must be at least 1", freedom);
  if (std::isinf(t)) return 0;
  return 2 * boost::math::cdf(Distribution(freedom), -std::abs(t));
}

double student_t_upper_p(double t, double freedom)
{
  if (std::isnan(t) || std::isnan(freedom)) return t + freedom;
  require(freedom >= 1, "Student's t: the degrees of freedom must be at least 1", freedom);
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  return boost::math::cdf(Distribution(freedom), -t);
}

double noncentral_t_lower_p(double t, double freedom, double noncentrality)
{
  if (std::isnan(t) || std::isnan(freedom) || std::isnan(noncentrality)) return t + freedom + noncentrality;
  require(freedom >= 1, "noncentral t: the degrees of freedom must be at least 1", freedom);
  constexpr double farthest = 37; // beyond it the probability is 0 or 1 in double precision
  if (noncentrality > farthest) return 0;
  if (noncentrality < -farthest) return 1;
  return boost::math::cdf(boost::math::non_central_t_distribution<double, Policy>(freedom, noncentrality), t);
}

double chi_square_upper_p(double value, double freedom)
{
  if (std::isnan(value) || std::isnan(freedom)) return value + freedom;
  require(freedom > 0, "chi-square: the degrees of freedom must be above 0", freedom);
  if (std::isinf(value)) return 0;
  return boost::math::cdf(boost::math::complement(boost::math::chi_squared_distribution<double, Policy>(freedom), value));
}

} // namespace dt::store
