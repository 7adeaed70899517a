// Ranks that find the mean of their targets through the training of the C interface.
#include "core/files/file.hpp"
#include "engine/bindings/training.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

using namespace dt;
using namespace dt::bindings;

namespace {

struct Program {
  std::vector<float> weights, gradients;
  float target = 0;
  bool fails = false;
  double step(Training& training) { return training.step(0.25, 0); }

  dtctl_sync_callbacks callbacks()
  {
    return {this,
            [](void* context, int, double* loss, std::int64_t* samples) {
              auto& self = *static_cast<Program*>(context);
              if (self.fails) return 1;
              for (std::size_t i = 0; i < 20; ++i) self.gradients[i] = self.weights[i] - self.target;
              *loss = self.weights[0];
              *samples = 1;
              return 0;
            },
            [](void* context, int, float factor) {
              auto& self = *static_cast<Program*>(context);
              for (std::size_t i = 0; i < 20; ++i) self.weights[i] -= 0.25F * factor * self.gradients[i];
              return 0;
            },
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr};
  }
};

struct Made {
  Training training;
  Program program;
  explicit Made(const std::string& settings, const std::string& model = "numbers")
      : training(read_settings(settings), MPI_COMM_WORLD)
  {
    const std::vector<std::size_t> lengths{20};
    const auto floats = training.lay_out_tensors(lengths).floats;
    program.weights.resize(floats);
    program.gradients.resize(floats);
    program.target = static_cast<float>(training.place().rank);
    training.start(model, program.weights.data(), program.gradients.data(), program.callbacks());
  }
};

int ranks()
{
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

} // namespace

TEST_CASE("sync-sgd makes the step of the mean gradient on every rank")
{
  Made made("sync.strategy=sync-sgd");
  for (int step = 0; step < 2; ++step) made.program.step(made.training);
  const double mean = (ranks() - 1) / 2.0;
  CHECK(made.program.weights[3] == Approx(mean * (1 - 0.75 * 0.75)));
}

TEST_CASE("the noise scale that a program reports is that of its gradients alone")
{
  test::TemporaryFolder folder;
  const auto report = folder.path() / "report";
  REQUIRE(setenv("DTCTL_REPORT", report.c_str(), 1) == 0);
  Made made("sync.strategy=sync-sgd train.noise_scale=1");
  made.program.target = static_cast<float>(made.training.place().rank + 1);
  made.program.step(made.training);
  made.training.finish();
  unsetenv("DTCTL_REPORT");
  if (made.training.place().rank > 0) return;
  // Of two ranks |G_b|^2 = 20 (1 + 4) / 2 and |G_B|^2 = 20 1.5^2: signal 2 45 - 50, noise 2 (50 - 45).
  const auto text = read_file(report);
  INFO(text);
  CHECK((ranks() > 1) == (text.find("noise ") != std::string::npos));
  if (ranks() == 2) CHECK(text.find("noise 0.25 - -\n") != std::string::npos);
}

TEST_CASE("the model that evaluations use is the mean of the workers, or the centre")
{
  for (const std::string settings :
       {"sync.strategy=local-sgd sync.period=64", "sync.strategy=decentralized-easgd sync.period=1"}) {
    Made made(settings);
    for (int step = 0; step < 40; ++step) made.program.step(made.training);
    std::vector<float> evaluated(made.training.floats());
    made.training.copy_evaluated(evaluated);
    CHECK(evaluated[5] == Approx((ranks() - 1) / 2.0).margin(2e-2));
    if (settings.find("local") != std::string::npos) CHECK(made.program.weights[5] == Approx(made.program.target).margin(1e-3));
  }
}

TEST_CASE("a server has no worker number, calls no compute, and answers the workers")
{
  if (ranks() < 3) return;
  Made made("sync.strategy=async-sgd sync.servers=1");
  const auto place = made.training.place();
  CHECK(place.workers == ranks() - 1);
  CHECK((place.worker == -1) == (place.rank == ranks() - 1));
  made.program.fails = place.worker < 0; // it would throw if it were asked to compute
  for (int step = 0; step < 60; ++step) made.program.step(made.training);
  std::vector<float> evaluated(made.training.floats());
  made.training.copy_evaluated(evaluated);
  CHECK(evaluated[5] > 0);
  CHECK(evaluated[5] < static_cast<float>(ranks() - 2));
}

TEST_CASE("different models on two ranks are refused with what differs")
{
  if (ranks() < 2) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK_THROWS_WITH(Made("sync.strategy=sync-sgd", rank == 1 ? "fc (20,)\nmore (3,)" : "fc (20,)\nless (3,)"),
                    Catch::Matchers::Contains("rank 0 has \"less (3,)\", rank 1 has \"more (3,)\" there"));
}

TEST_CASE("after a step that failed no other one is made")
{
  Made made("sync.strategy=local-sgd sync.period=64");
  made.program.fails = true;
  CHECK_THROWS_WITH(made.program.step(made.training), "the program's callback `compute` failed");
  made.program.fails = false;
  CHECK_THROWS_WITH(made.program.step(made.training), Catch::Matchers::Contains("an earlier step of this rank has failed"));
}
