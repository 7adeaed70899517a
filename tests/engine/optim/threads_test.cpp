// A team of threads leaves the same bits as one.
#include "engine/optim/passes.hpp"
#include "tests/engine/optim/buffers.hpp"

#include <catch2/catch.hpp>

#include <omp.h>

using namespace dt;
using namespace dt::optim;
using namespace dt::optim::test;

namespace {

// Restores the calling thread's team at the end of a test.
struct Team {
  explicit Team(int threads) { omp_set_num_threads(threads); }
  ~Team() { omp_set_num_threads(before); }
  int before = omp_get_max_threads();
};

constexpr std::size_t size = 3 * smallest_shared + 1234;

// Long and short ones, of every kind, with padding between.
const std::vector<Segment> segments{{{0, smallest_shared + 77}, true, true},
                                    {{smallest_shared + 80, smallest_shared + 113}, false},
                                    {{smallest_shared + 128, smallest_shared + 192}, false, false, true},
                                    {{smallest_shared + 192, 3 * smallest_shared + 1192}, true, true}};

std::vector<std::vector<float>> after_steps(const OptimizerSpec& spec, int threads)
{
  const Team team(threads);
  std::vector<std::vector<float>> life{wave(size, 1)};
  const auto optimizer = make_optimizer(spec, size, segments);
  for (int step = 0; step < 3; ++step) optimizer->step(life[0], wave(size, 2 + step), 0.1);
  for (const auto& state : optimizer->state()) life.emplace_back(state.values.begin(), state.values.end());
  return life;
}

} // namespace

TEST_CASE("every rule leaves the same bits with one thread, two and three, clipped or not")
{
  for (const auto& name : registered_optimizers())
    for (const double clip : {0.0, 0.5}) {
      CAPTURE(name, clip);
      auto spec = rule_of(name);
      spec.clip_norm = clip;
      const auto alone = after_steps(spec, 1);
      CHECK((after_steps(spec, 2) == alone));
      CHECK((after_steps(spec, 3) == alone));
    }
}

TEST_CASE("a sum of squares has the same bits with one thread and with three")
{
  const auto values = wave(1'000'003, 1);
  const auto sum = [&](int threads) {
    const Team team(threads);
    return sum_of_squares(values.data(), values.size());
  };
  CHECK(sum(3) == sum(1));
}
