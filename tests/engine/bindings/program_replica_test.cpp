#include "engine/bindings/program_replica.hpp"

#include "core/error.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace dt;
using namespace dt::bindings;

namespace {

// A program whose weights and gradients lie on a device, which counts what it is asked for.
struct Program {
  std::string calls;
  std::vector<std::size_t> announced; // tensors in the order in which compute() announces them
  ProgramReplica* replica = nullptr;
  const std::vector<std::size_t>* told = nullptr; // what the listener has heard
  std::vector<std::size_t> told_after;            // how much of it after each announcement

  static Program& of(void* context) { return *static_cast<Program*>(context); }
  dtctl_sync_callbacks callbacks()
  {
    return {this,
            [](void* context, int announce, double* loss, std::int64_t* samples) {
              of(context).calls += announce != 0 ? "compute announcing, " : "compute, ";
              if (announce != 0)
                for (const auto tensor : of(context).announced) {
                  of(context).replica->announce(tensor);
                  if (of(context).told != nullptr) of(context).told_after.push_back(of(context).told->size());
                }
              *loss = 2;
              *samples = 8;
              return 0;
            },
            [](void* context, int changed, float factor) {
              of(context).calls +=
                  std::string("update ") + (changed != 0 ? "with sums" : "with its own") + (factor == 0.5F ? " by half, " : ", ");
              return 0;
            },
            [](void* context, int what) {
              of(context).calls += what == DTCTL_SYNC_WEIGHTS ? "fetch weights, " : "fetch gradients, ";
              return 0;
            },
            [](void* context, int what, std::size_t begin, std::size_t end) {
              of(context).calls += (what == DTCTL_SYNC_WEIGHTS ? "store weights " : "store gradients ") + std::to_string(begin) +
                                   "-" + std::to_string(end) + ", ";
              return 0;
            }};
  }
  std::string taken() { return std::exchange(calls, {}); }
};

struct Listener : sync::GradientListener {
  std::vector<std::size_t> begins;
  void gradients_ready(Range tensor) override { begins.push_back(tensor.begin); }
};

struct Made {
  std::vector<float> weights = std::vector<float>(80), gradients = std::vector<float>(80);
  Program program;
  ProgramReplica replica;
  Made() : replica({lay_out(std::vector<std::size_t>{20, 3, 17}), weights, gradients, program.callbacks(), nullptr})
  {
    program.replica = &replica;
  }
};

} // namespace

TEST_CASE("each tensor begins at a cache line and has padding behind it")
{
  const auto layout = lay_out(std::vector<std::size_t>{20, 3, 17});
  CHECK(layout.tensors == std::vector<Range>{{0, 20}, {32, 35}, {48, 65}});
  CHECK(layout.floats == 80);
}

TEST_CASE("weights are fetched when a strategy asks for them, and stored before the program goes on")
{
  Made made;
  auto& replica = made.replica;
  CHECK(replica.compute().mean == 2);
  replica.update();
  CHECK(made.program.taken() == "compute, update with its own, "); // nothing was copied
  replica.weights();
  replica.weights();
  CHECK(made.program.taken() == "fetch weights, ");
  replica.compute();
  CHECK(made.program.taken() == "store weights 0-80, compute, ");
  replica.weights(); // the device still has what was stored
  CHECK(made.program.taken().empty());
  replica.update();
  replica.weights();
  CHECK(made.program.taken() == "store weights 0-80, update with its own, fetch weights, ");
}

TEST_CASE("gradients that were announced lie in the mirror, others are fetched")
{
  Made made;
  Listener listener;
  made.program.announced = {2, 1, 0};
  made.replica.compute(&listener);
  made.replica.gradients();
  CHECK(made.program.taken() == "compute announcing, ");
  made.replica.compute();
  made.replica.gradients();
  CHECK(made.program.taken() == "compute, fetch gradients, ");
}

TEST_CASE("the program's rule runs once, when all ranges have their sums")
{
  Made made;
  made.replica.compute();
  made.replica.gradients();
  made.program.taken();
  made.replica.update({48, 80}, 0.5F);
  CHECK(made.program.taken() == "store gradients 48-80, ");
  made.replica.update({0, 48}, 0.5F);
  CHECK(made.program.taken() == "store gradients 0-48, update with sums by half, ");
}

TEST_CASE("the listener hears of tensors from the last to the first, in whatever order they are announced")
{
  Made made;
  Listener listener;
  made.program.announced = {1, 2, 0};
  made.program.told = &listener.begins;
  made.replica.compute(&listener);
  CHECK(made.program.told_after == std::vector<std::size_t>{0, 2, 3}); // none before all behind it are final
  CHECK(listener.begins == std::vector<std::size_t>{48, 32, 0});
  listener.begins.clear();
  made.program.announced = {2}; // the others had no gradient
  made.replica.compute(&listener);
  CHECK(listener.begins == std::vector<std::size_t>{48, 32, 0});
}

TEST_CASE("a tensor that is announced twice, or does not exist, is refused")
{
  Made made;
  Listener listener;
  made.program.announced = {2, 2};
  CHECK_THROWS_WITH(made.replica.compute(&listener), "the gradient of tensor 2 was announced twice in step 0");
  made.program.announced = {7};
  CHECK_THROWS_WITH(made.replica.compute(&listener), "there is no tensor 7: the model has 3");
}
