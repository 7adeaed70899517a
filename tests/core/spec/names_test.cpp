#include "core/spec/names.hpp"

#include "core/spec/choices.hpp"
#include "core/text.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace dt;

namespace {

std::vector<std::span<const Name>> all_lists()
{
  std::vector<std::span<const Name>> lists{model_names(),    data_names(),      optimizer_names(), schedule_names(),
                                           strategy_names(), allreduce_names(), scheduler_names(), launcher_names()};
  for (const auto list :
       {choice_names<Engine>(), choice_names<BatchNormSamples>(), choice_names<Precision>(), choice_names<ElasticForm>(),
        choice_names<ProgressMode>(), choice_names<Wire>(), choice_names<ServerPlacement>(), choice_names<TopologySource>(),
        choice_names<SyncTransport>(), choice_names<EvaluatedModel>(), choice_names<StudyMode>(), choice_names<StudyOrder>(),
        choice_names<StudyLayout>()})
    lists.push_back(list);
  return lists;
}

} // namespace

TEST_CASE(
    "every vocabulary has names, all different, each with a line of help, that need no quoting in a shell, a recipe or a path")
{
  for (const auto& list : all_lists()) {
    CHECK_FALSE(list.empty());
    std::set<std::string_view> seen;
    for (const auto& name : list) {
      INFO(name.name);
      CHECK(seen.insert(name.name).second);
      CHECK(name.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos);
      CHECK_FALSE(name.help.empty());
      CHECK(name.help.find('\n') == std::string_view::npos);
    }
  }
}

TEST_CASE("contains asks for the whole name in its exact case, and lists of names keep their order and drop nothing")
{
  CHECK(contains(model_names(), "lenet"));
  for (const auto* other : {"", "lene", "lenet5", "LeNet"}) CHECK_FALSE(contains(model_names(), other));
  const auto strings = strings_of(data_names());
  REQUIRE(strings.size() == data_names().size());
  for (std::size_t i = 0; i < strings.size(); ++i) CHECK(strings[i] == data_names()[i].name);
  CHECK(strings_of({}).empty());
  CHECK(simulated_allreduces() == "ring, halving-doubling, tree, hierarchical, topology-aware or dynamic");
}
