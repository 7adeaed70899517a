#include "recipes/reading/network.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

std::string error_in(const std::string& block) { return error_in_profile("network: " + block); }

} // namespace

TEST_CASE("a network is a latency, a bandwidth and a rate of additions if it is given, and an extending profile has it, too")
{
  const auto network =
      profiles_in("profiles: { a: { network: { latency: 50us, bandwidth: 1 Gbit/s, reduce: 5 GB/s } } }\n")[0].network;
  REQUIRE(network);
  CHECK(network->alpha_s == Approx(50e-6));
  CHECK(network->beta_s == Approx(8e-9));
  CHECK(network->gamma_s == Approx(0.2e-9));
  const auto profiles = profiles_in("profiles:\n  base: { network: { latency: 1ms, bandwidth: 1 MB/s } }\n"
                                    "  heir: { extends: base, resources: { qos: c } }\n"
                                    "  own: { extends: base, network: { latency: 2ms, bandwidth: 1 MB/s } }\n  none: {}\n");
  REQUIRE(profiles.size() == 4);
  CHECK(profiles[1].network->alpha_s == Approx(1e-3));
  CHECK_FALSE(profiles[2].network);
  CHECK(profiles[3].network->alpha_s == Approx(2e-3));
}

TEST_CASE("the block that a fitted network prints is read again as the same network")
{
  const dt::CostModel model{.alpha_s = 52.3e-6, .beta_s = 8.25e-9, .gamma_s = 0.05e-9};
  auto block = network_block(model);
  for (auto at = block.find("\n  "); at != std::string::npos; at = block.find("\n  ", at + 7)) block.replace(at, 3, "\n      ");
  const auto network = profiles_in("profiles:\n  a:\n    " + block)[0].network;
  REQUIRE(network);
  CHECK(network->alpha_s == Approx(model.alpha_s).epsilon(1e-3));
  CHECK(network->beta_s == Approx(model.beta_s).epsilon(1e-3));
  CHECK(network->gamma_s == Approx(model.gamma_s).epsilon(1e-3));
}

TEST_CASE("mistakes in a network have their place and say what is right")
{
  check_refused(error_in,
                {{"5", "3:14: `network` must be a map of keys, not `5`"},
                 {"{ latency: 50us }", "3:14: `network` needs `latency` (such as `50us`) and `bandwidth`"},
                 {"{ latency: 50, bandwidth: 1 Gbit/s }", "3:25: `network.latency` must be a time such as `50us`, not `50`"},
                 {"{ latency: 50us, bandwidth: fast }", "3:42: `network.bandwidth` must be a rate such as `1 Gbit/s`"},
                 {"{ latency: 50us, bandwith: 1 Gbit/s }", "3:31: unknown key `bandwith` in `network`; did you mean"}});
}
