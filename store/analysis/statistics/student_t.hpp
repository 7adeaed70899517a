// Student's t distribution [Student1908], for any real degrees of freedom of at least 1. Computed by Boost.Math.
#pragma once

namespace dt::store {

// The t below which the share `share` of the distribution lies; 0 < share < 1. Infinite degrees of freedom: the normal
// distribution. NaN if an argument is NaN; Error (internal) if one is out of its range.
double student_t_quantile(double share, double freedom);

// The probability of a value at least as far from 0 as t. t may be infinite: 0. NaN and errors as above.
double student_t_two_sided_p(double t, double freedom);

} // namespace dt::store
