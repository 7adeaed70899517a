#include "core/error.hpp"
#include "core/names.hpp"
#include "engine/data/source.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace dt::engine {

TEST_CASE("the registry offers exactly the data sets of the vocabulary")
{
  auto registered = registered_data(), named = strings_of(data_names());
  std::sort(registered.begin(), registered.end());
  std::sort(named.begin(), named.end());
  CHECK(registered == named);
}

TEST_CASE("an unknown data set is refused with the known ones")
{
  DataSpec spec;
  spec.name = "imagenet";
  CHECK_THROWS_WITH(open_sources(spec, ".", 1),
                    "data.name: there is no data set imagenet; there are digits, shapes, mnist, cifar10, cifar100, synthetic.");
}

} // namespace dt::engine
