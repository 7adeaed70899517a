#include "core/natural_key.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using dt::natural_key;

TEST_CASE("natural keys bring numbers in texts into numerical order, and a minus between words is no sign")
{
  const std::vector<std::string> sorted{"",           "period=-2",         "period=0",           "period=1",
                                        "period=2",   "period=4",          "period=16",          "period=100",
                                        "rate=1e-05", "rate=0.001",        "rate=0.1",           "rate=1",
                                        "rate=1e999", "resnet20",          "resnet20 ranks=2",   "resnet20 ranks=16",
                                        "resnet110",  "resnet110 ranks=1", "sync.strategy=easgd"};
  std::vector<std::string> keys;
  for (const auto& text : sorted) keys.push_back(natural_key(text));
  CHECK(std::is_sorted(keys.begin(), keys.end()));
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
  CHECK(natural_key("sync-2") < natural_key("sync-10"));
  CHECK(natural_key("a=-10") < natural_key("a=-2"));
}
