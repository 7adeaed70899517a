#include "engine/sync/exchange/elastic.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace dt;
using namespace dt::sync;

TEST_CASE("elastic rate: learning rate times rho where rho is given, else alpha")
{
  CHECK(elastic_rate({.alpha = 0.25}, 0.5) == 0.25F);
  CHECK(elastic_rate({.alpha = 0.25, .rho = 0.5}, 0.5) == 0.25F);
  CHECK(elastic_rate({.rho = 2}, 0.1) == 0.2F);
}

TEST_CASE("the paper's elastic form holds unless another one is asked for")
{
  CHECK(is_elastic_after({.elastic = dt::ElasticForm::paper}, true));
  CHECK_FALSE(is_elastic_after({.elastic = dt::ElasticForm::paper}, false));
  CHECK(is_elastic_after({.elastic = dt::ElasticForm::after}, false));
  CHECK_FALSE(is_elastic_after({.elastic = dt::ElasticForm::before}, true));
}

TEST_CASE("weights are exchanged at the end of every period")
{
  std::vector<bool> due;
  for (int step = 1; step <= 7; ++step) due.push_back(is_exchange({.period = 3}, step));
  CHECK(due == std::vector<bool>{false, false, true, false, false, true, false});
  CHECK(is_exchange({.period = 1}, 1));
}

// The golden values of the EASGD update: P = 2, centre 0, W = (1, 3), g = (1, -1), eta 0.1, rho 1.
TEST_CASE("two workers and their centre, by hand")
{
  std::vector<float> w{1, 3};
  std::vector<float> c{0, 0};
  const std::vector<float> g{1, -1};
  pull_worker(w, c, 0.1F);
  CHECK(w[0] - 0.1F * g[0] == Approx(0.8));
  CHECK(w[1] - 0.1F * g[1] == Approx(2.8));
  std::vector<float> centre{0}, sum{1 + 3};
  pull_centre(centre, sum, 0.1F, 2);
  CHECK(centre[0] == Approx(0.4));
}

TEST_CASE("an exchange moves both sides by the same difference, however it is spelled")
{
  const std::vector<float> w0{1, -2, 0, 8}, c0{3, 2, 0, 4};
  const std::vector<float> w1{2, 0, 0, 6}, c1{2, 0, 0, 6}, difference{-1, -2, 0, 2};
  auto w = w0, c = c0;
  pull_centre(c, w, 0.5F);
  pull_worker(w, c0, 0.5F);
  CHECK(w == w1);
  CHECK(c == c1);

  w = w0;
  std::vector<float> d(4);
  split_off_difference(d, w, c0, 0.5F);
  CHECK(d == difference);
  CHECK(w == w1);
  take_difference(d, w0, c0, 0.5F);
  CHECK(d == difference);
  w = w0;
  subtract(w, d);
  CHECK(w == w1);
  c = c0;
  add(c, d);
  CHECK(c == c1);
}

TEST_CASE("a buffer is scaled")
{
  std::vector<float> y{4, -3};
  scale(y, 0.5F);
  CHECK(y == std::vector<float>{2, -1.5F});
}

TEST_CASE("buffers of different lengths are an internal error")
{
  std::vector<float> w(3), c(4);
  CHECK_THROWS_WITH(pull_worker(w, c, 1), "elastic averaging of buffers of 3 and 4 floats, which must be equal");
}
