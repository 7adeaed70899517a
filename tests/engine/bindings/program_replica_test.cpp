#include "engine/bindings/program_replica.hpp"

#include "engine/sync/exchange/elastic.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>

using namespace dt;
using namespace dt::bindings;

namespace {

// A program whose weights and gradients lie on a device, which counts what it is asked for.
struct Program {
  bool sums = false; // the device sums over ranks
  std::string calls{};
  std::vector<std::size_t> announced{}; // tensors in the order in which compute() announces them
  std::vector<std::size_t> absent{};    // of which compute() has no gradient
  ProgramReplica* replica = nullptr;
  const std::vector<std::size_t>* told = nullptr; // what the listener has heard
  std::vector<std::size_t> told_after{};          // how much of it after each announcement
  std::map<int, float*> hosts{};                  // of the vectors, by their numbers
  std::map<int, std::vector<float>> vectors{};    // on the device

  static Program& of(void* context) { return *static_cast<Program*>(context); }
  dtctl_sync_callbacks callbacks()
  {
    return {this,
            [](void* context, int announce, double* loss, std::int64_t* samples) {
              of(context).calls += announce != 0 ? "compute announcing, " : "compute, ";
              for (const auto tensor : of(context).absent) of(context).replica->note_absent(tensor);
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
            [](void* context, int what, std::size_t begin, std::size_t end) {
              auto& self = of(context);
              self.calls += "fetch " + name_of(what) + (begin == 0 && end == 80 ? ", " : " " + words(begin, end));
              if (self.has(what)) std::copy(self.on_device(what) + begin, self.on_device(what) + end, self.hosts[what] + begin);
              return 0;
            },
            [](void* context, int what, std::size_t begin, std::size_t end) {
              auto& self = of(context);
              self.calls += "store " + name_of(what) + " " + words(begin, end);
              if (self.has(what)) std::copy(self.hosts[what] + begin, self.hosts[what] + end, self.on_device(what) + begin);
              return 0;
            },
            [](void* context, int what, float* host, std::size_t floats) {
              of(context).hosts[what] = host;
              of(context).vectors[what].assign(host, host + floats);
              return 0;
            },
            [](void* context, int y, float a, int x, float b, int z, float c, std::size_t begin, std::size_t end) {
              auto& self = of(context);
              self.calls += "combine " + words(begin, end);
              for (auto i = begin; i < end; ++i)
                self.on_device(y)[i] =
                    a * self.on_device(y)[i] + b * self.on_device(x)[i] + (z < 0 ? 0 : c * self.on_device(z)[i]);
              return 0;
            },
            sums ? sum : nullptr};
  }
  // Over four ranks.
  static int sum(void* context, int what, std::size_t begin, std::size_t end, const int* ranks, std::size_t count)
  {
    auto& self = of(context);
    self.calls += "sum " + name_of(what) + " " + words(begin, end);
    for (std::size_t i = 0; i < count; ++i) self.calls += "rank " + std::to_string(ranks[i]) + ", ";
    for (auto i = begin; i < end; ++i) self.on_device(what)[i] *= 4;
    return 0;
  }
  static std::string name_of(int what)
  {
    return what == DTCTL_SYNC_WEIGHTS ? "weights" : what == DTCTL_SYNC_GRADIENTS ? "gradients" : "vector " + std::to_string(what);
  }
  static std::string words(std::size_t begin, std::size_t end)
  {
    return std::to_string(begin) + "-" + std::to_string(end) + ", ";
  }
  bool has(int what) const { return vectors.contains(what); }
  float* on_device(int what) { return vectors.at(what).data(); }
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
  explicit Made(bool sums = false)
      : program{.sums = sums},
        replica({lay_out(std::vector<std::size_t>{20, 3, 17}), weights, gradients, program.callbacks(), nullptr})
  {
    program.replica = &replica;
  }
};

} // namespace

TEST_CASE("each tensor begins at a cache line and has room for its presence behind it")
{
  const auto layout = lay_out(std::vector<std::size_t>{20, 3, 17});
  CHECK(layout.tensors == std::vector<Range>{{0, 21}, {32, 36}, {48, 66}});
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

TEST_CASE("a tensor of which no rank has a gradient is absent, one that another rank has is not")
{
  for (const bool announces : {false, true}) {
    Made made;
    Listener listener;
    made.program.absent = {0, 2};
    made.replica.compute(announces ? &listener : nullptr);
    auto sums = made.replica.gradients();
    CHECK(made.replica.absent() == std::vector<std::size_t>{0, 2});
    sums[65] += 1; // the presence of tensor 2 on another rank
    CHECK(made.replica.absent() == std::vector<std::size_t>{0});
    made.program.absent.clear();
    made.replica.compute(announces ? &listener : nullptr);
    made.replica.gradients();
    CHECK(made.replica.absent().empty());
  }
}

TEST_CASE("a server's rule leaves a tensor alone of which the worker has no gradient")
{
  std::vector<float> weights(80, 1), gradients(80);
  const auto layout = lay_out(std::vector<std::size_t>{20, 3, 17});
  std::vector<optim::Segment> segments;
  for (const auto& tensor : layout.tensors) segments.push_back({{tensor.begin, tensor.end - 1}, true});
  OptimizerSpec spec{.name = "sgd"};
  spec.weight_decay = 0.5;
  Program program;
  ProgramReplica server({layout, weights, gradients, program.callbacks(), optim::make_optimizer(spec, 80, segments)});
  for (const std::size_t present : {20, 65}) gradients[present] = 1; // of tensors 0 and 2
  server.apply({0, 80}, weights, gradients, 0.5);
  CHECK(weights[0] == 0.75F);
  CHECK(weights[34] == 1);
  CHECK(weights[64] == 0.75F);
  CHECK(weights[65] == 1);
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

TEST_CASE("a device that sums gets no copies: what the host has changed goes there before, and the sums come back when asked for")
{
  Made made(true);
  made.program.hosts[DTCTL_SYNC_WEIGHTS] = made.weights.data();
  made.program.vectors[DTCTL_SYNC_WEIGHTS].assign(80, 3.0F);
  sync::Replica& replica = made.replica;
  sync::OwnVector difference(comm::Floats(80), replica);
  for (auto& value : difference.at({16, 32}).host()) value = 2;
  REQUIRE(difference.at({0, 32}).can_sum_on_device());
  CHECK_FALSE(sync::Vector(made.weights).can_sum_on_device());
  difference.at({0, 32}).sum_on_device(std::vector{0, 2, 4, 6});
  CHECK(made.program.taken() == "store vector 2 16-32, sum vector 2 0-32, rank 0, rank 2, rank 4, rank 6, ");
  CHECK(difference.read()[31] == 8);
  CHECK(made.program.taken() == "fetch vector 2 0-32, ");
}

TEST_CASE("a strategy's arithmetic is done on the device, and only what messages touch is copied")
{
  Made made;
  made.program.hosts[DTCTL_SYNC_WEIGHTS] = made.weights.data();
  made.program.vectors[DTCTL_SYNC_WEIGHTS].assign(80, 3.0F);
  sync::Replica& replica = made.replica;
  sync::OwnVector centre(comm::Floats(80), replica), difference(comm::Floats(80), replica);
  std::ranges::fill(made.program.vectors[2], 1.0F);

  split_off_difference(difference, weights_of(replica), centre, 0.5F);
  CHECK(made.program.taken() == "combine 0-80, combine 0-80, ");
  CHECK(made.program.on_device(3)[79] == 1);
  CHECK(made.program.on_device(DTCTL_SYNC_WEIGHTS)[0] == 2);

  for (auto& value : difference.at({16, 32}).host()) value *= 4; // a sum over four ranks
  CHECK(made.program.taken() == "fetch vector 3 16-32, ");
  add(centre.at({0, 48}), difference.at({0, 48}));
  CHECK(made.program.taken() == "store vector 3 16-32, combine 0-48, ");
  CHECK(made.program.on_device(2)[15] == 2);
  CHECK(made.program.on_device(2)[16] == 5);
  CHECK(made.program.on_device(2)[48] == 1);

  CHECK(replica.weights()[5] == 2); // the copy in the host's memory is brought up to date
  CHECK(made.program.taken() == "fetch weights, ");
  CHECK(centre.read()[16] == 5);
  CHECK(made.program.taken() == "fetch vector 2 0-48, "); // the rest of it is as it was made
}

TEST_CASE("a vector on the device and one in the host's memory meet in the host's memory")
{
  Made made;
  made.program.hosts[DTCTL_SYNC_WEIGHTS] = made.weights.data();
  made.program.vectors[DTCTL_SYNC_WEIGHTS].assign(80, 3.0F);
  sync::OwnVector centre((comm::Floats(80)));
  pull_worker(weights_of(made.replica), centre, 0.5F);
  CHECK(made.program.taken() == "fetch weights, ");
  made.replica.hand_back();
  CHECK(made.program.on_device(DTCTL_SYNC_WEIGHTS)[0] == 1.5F);
}

TEST_CASE("a set of ranges joins what touches and cuts what is removed")
{
  RangeSet set;
  set.add({10, 20});
  set.add({30, 40});
  set.add({20, 25});
  CHECK(set.within({0, 100}) == std::vector<Range>{{10, 25}, {30, 40}});
  set.add({24, 31});
  CHECK(set.within({0, 100}) == std::vector<Range>{{10, 40}});
  set.remove({15, 18});
  CHECK(set.within({12, 20}) == std::vector<Range>{{12, 15}, {18, 20}});
  set.remove({0, 100});
  CHECK(set.empty());
}
