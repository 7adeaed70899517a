// Student's t [Student1908] and chi-square distributions, for any real degrees of freedom. Computed by Boost.Math.
#pragma once

namespace dt::store {

// The t below which the share `share` of the distribution lies; 0 < share < 1. Infinite degrees of freedom: the normal
// distribution. NaN if an argument is NaN; Error (internal) if one is out of its range.
double student_t_quantile(double share, double freedom);

// The probability of a value at least as far from 0 as t. t may be infinite: 0. NaN and errors as above.
double student_t_two_sided_p(double t, double freedom);

// The probability that Student's t is above t. NaN and errors as above.
double student_t_upper_p(double t, double freedom);

// The probability that noncentral t, (Z + noncentrality) / sqrt(chi-square / freedom), is below t. NaN and errors as above.
double noncentral_t_lower_p(double t, double freedom, double noncentrality);

// The probability that chi-square is above the value. NaN if an argument is NaN. The degrees of freedom are above 0.
double chi_square_upper_p(double value, double freedom);

} // namespace dt::store
