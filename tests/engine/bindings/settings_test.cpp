#include "engine/bindings/settings.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace dt;
using namespace dt::bindings;

TEST_CASE("without a recipe the words are the settings, and sums run beside the backward pass where they can")
{
  ::unsetenv("DTCTL_SPEC");
  const auto found = read_settings("sync.strategy=hsgd\n sync.node_period=4 optimizer.momentum=0.5");
  CHECK(found.spec.sync.strategy == "hsgd");
  CHECK(found.spec.sync.node_period == 4);
  CHECK(found.spec.optimizer.momentum == 0.5);
  CHECK(found.spec.sync.progress == ProgressMode::automatic);
}

TEST_CASE("a word that is no setting is refused with what it should be")
{
  ::unsetenv("DTCTL_SPEC");
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(read_settings("sync.strategy"), Contains("`sync.strategy` is no setting; write KEY=VALUE"));
  CHECK_THROWS_WITH(read_settings("sync.stratgy=hsgd"),
                    Contains("there is no setting `sync.stratgy`; did you mean `sync.strategy`?"));
  CHECK_THROWS_WITH(read_settings("sync.strategy=hsdg"), Contains("did you mean `hsgd`?"));
  CHECK_THROWS_WITH(read_settings("sync.period=0"), Contains("sync.period is `0`, but must be a number from 1"));
  CHECK_THROWS_WITH(read_settings("sync.pack=maybe"), Contains("must be true or false"));
  CHECK_THROWS_WITH(read_settings("model.name=lenet"), Contains("there is no setting `model.name`"));
}
