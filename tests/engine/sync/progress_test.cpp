// Who moves messages on where the recipe leaves that to the engine.
#include "engine/sync/progress.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::sync;

namespace {

dt::RunSpec spec_of(ProgressMode progress, const std::string& allreduce)
{
  dt::RunSpec spec;
  spec.sync.strategy = "sync-easgd";
  spec.sync.progress = progress;
  spec.sync.allreduce = allreduce;
  return spec;
}

const std::vector<comm::RankPlace> apart{{"n1", {0, 1}}, {"n1", {2, 3}}}, crowded{{"n1", {0, 1}}, {"n1", {2}}},
    alone{{"n1", {0, 1}}};

} // namespace

TEST_CASE("progress auto is a thread where every rank has a core to spare, else poll, and none where nothing can be polled")
{
  struct Row {
    const char* allreduce;
    const std::vector<comm::RankPlace>& places;
    ProgressMode mode;
    const char* why;
  };
  for (const auto& [allreduce, places, mode, why] : {Row{"ring", apart, ProgressMode::thread, "every rank has a core"},
                                                     {"mpi", apart, ProgressMode::thread, "every rank has a core"},
                                                     {"ring", crowded, ProgressMode::poll, "not every rank has a core"},
                                                     {"mpi", crowded, ProgressMode::none, "mpi cannot be polled"},
                                                     {"gloo", crowded, ProgressMode::none, "gloo cannot be polled"},
                                                     {"ring", alone, ProgressMode::none, "there is one rank"}}) {
    const auto chosen = choose_progress(spec_of(ProgressMode::automatic, allreduce), places);
    CHECK(chosen.mode == mode);
    CHECK_THAT(chosen.words, Catch::Contains(why));
  }
}

TEST_CASE("threads that compute leave no core to spare, and neither does a sum in the midst of a pass")
{
  auto spec = spec_of(ProgressMode::automatic, "ring");
  spec.resources.threads_per_rank = 2;
  CHECK(choose_progress(spec, apart).mode == ProgressMode::poll);
  spec = spec_of(ProgressMode::automatic, "ring");
  spec.model.batch_norm = BatchNormSamples::synchronized;
  CHECK(choose_progress(spec, apart).words == "poll: batch norm is synchronized");
}

TEST_CASE("what the recipe names is taken, without a word for the record")
{
  for (const auto mode : {ProgressMode::none, ProgressMode::poll, ProgressMode::thread}) {
    const auto progress = choose_progress(spec_of(mode, "ring"), crowded);
    CHECK(progress.mode == mode);
    CHECK(progress.words.empty());
  }
}
