// The recipe's own labels for the points of its sweep.
#include "recipes/expansion/expand.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt::recipes;
using namespace dt::recipes::test;
using Catch::Contains;
using Labels = std::map<std::string, std::string>;

namespace {

const std::string matrix = "sweep: { matrix: { sync.strategy: [local-sgd, sync-sgd], optimizer.learning_rate: [0.1, 0.2] } }\n";

Labels labels(const std::string& text) { return plan_of(minimal(text)).labels; }

} // namespace

TEST_CASE("a recipe's label names the points of its sweep by values of keys, at every size, and not in the runs' names or keys")
{
  const std::string template_line = "label: \"{sync.strategy} lr {optimizer.learning_rate}\"\n";
  CHECK(labels(template_line + matrix) == Labels{{"strategy=local-sgd learning_rate=0.1", "local-sgd lr 0.1"},
                                                 {"strategy=local-sgd learning_rate=0.2", "local-sgd lr 0.2"},
                                                 {"strategy=sync-sgd learning_rate=0.1", "sync-sgd lr 0.1"},
                                                 {"strategy=sync-sgd learning_rate=0.2", "sync-sgd lr 0.2"}});
  const std::string sizes = "study: { mode: strong, ranks: [1, 2] }\n";
  CHECK(labels(template_line + sizes + matrix).size() == 4);
  CHECK(names_of(plan_of(minimal(template_line + matrix))) == names_of(plan_of(minimal(matrix))));
  CHECK(labels(matrix).empty());
}

TEST_CASE("a label with an unknown key, one that two points would share, or a size, which dtctl adds, is refused at its place")
{
  check_refused(
      [](const std::string& label) { return errors_of(minimal("label: " + label + "\n" + matrix)); },
      {{"\"lr {optimizer.learning_rat}\"", "r.yaml:5:8: `label` names the unknown key `{optimizer.learning_rat}`; did you mean"},
       {"\"{sync.strategy}\"", "r.yaml:5:8: `label` gives `local-sgd` to two points of the sweep"},
       {"one", "r.yaml:5:8: `label` gives `one` to two points of the sweep"},
       {"\"{sync.strategy\"", "r.yaml:5:8: `label` has a `{` without its partner"},
       {"[a]", "r.yaml:5:8: `label` must be a name"}});
  CHECK_THAT(errors_of(minimal("label: \"{sync.strategy}\"\n" + matrix)),
             Contains("add a key that differs between them, such as `{optimizer.learning_rate}`"));
  CHECK_THAT(errors_of(minimal("label: \"{resources.nodes} nodes\"\nsweep: { matrix: { resources.nodes: [1, 2] } }\n")),
             Contains("to points that differ only in their size"));
}
