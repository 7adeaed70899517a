#include "store/analysis/statistics/batch_rule.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt::store;

namespace {

using Sizes = std::vector<StepSamples>;

} // namespace

TEST_CASE("the recorded samples decide whether a study is strong or weak, whatever it is called")
{
  const Sizes stays{{1, 64}, {2, 64}, {4, 64}}, grows{{1, 40}, {2, 80}, {4, 160}};
  for (const auto* kind : {"strong", "weak", "scaling", "sweep", "partition"}) {
    CAPTURE(kind);
    CHECK(batch_rule(kind, stays).is_strong());
    CHECK(batch_rule(kind, grows).is_weak());
  }
  CHECK(contradicts(batch_rule("strong", grows), "strong"));
  CHECK(contradicts(batch_rule("weak", stays), "weak"));
  CHECK(contradicts(batch_rule("partition", grows), "partition"));
  CHECK_FALSE(contradicts(batch_rule("strong", stays), "strong"));
  CHECK_FALSE(contradicts(batch_rule("sweep", grows), "sweep")); // its author chose none of them
}

TEST_CASE("one size tells nothing, so the kind decides, and a shorter last batch of an epoch is no contradiction")
{
  CHECK(batch_rule("weak", Sizes{{2, 80}}).is_weak());
  CHECK(batch_rule("strong", Sizes{{2, 80}, {4, NAN}}).is_strong());
  CHECK_FALSE(batch_rule("strong", Sizes{{2, 80}, {4, NAN}}).is_recorded);
  CHECK_FALSE(contradicts(batch_rule("strong", Sizes{{2, 80}}), "strong"));
  CHECK(std::isnan(batch_rule("strong", Sizes{}).samples_at(2)));
  const auto rule = batch_rule("strong", Sizes{{1, 62.5}, {2, 63}, {4, 58}});
  CHECK(rule.is_strong());
  CHECK_FALSE(contradicts(rule, "strong"));
  CHECK(rule.samples_at(2) == 63);
  CHECK(rule.samples_at(8) == 58);
}

TEST_CASE("samples that are neither strong nor weak follow the measured sizes, and their power beyond")
{
  const auto rule = batch_rule("strong", Sizes{{1, 32}, {4, 64}});
  CHECK(contradicts(rule, "strong"));
  CHECK(rule.growth == Approx(0.5));
  CHECK(rule.samples_at(1) == 32);
  CHECK(rule.samples_at(2) == Approx(32 * std::sqrt(2)));
  CHECK(rule.samples_at(16) == Approx(128));
  CHECK(rule.samples_at(0.25) == Approx(16));
}
