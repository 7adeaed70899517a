#include "store/analysis/verdict/point_labels.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt::store;
using Texts = std::vector<std::string>;

namespace {

Texts shown(const Texts& labels, const std::map<std::string, std::string>& of_recipe = {})
{
  const PointLabels all(labels, of_recipe);
  Texts texts;
  for (const auto& label : labels) texts.push_back(all.shown(label));
  return texts;
}

// Three strategies at two rates: period and optimizer follow from the strategy.
const Texts swept{"learning_rate=0.05 strategy=decentralized-easgd period=4 optimizer=sgd",
                  "learning_rate=0.05 strategy=local-sgd period=8 optimizer=sgd",
                  "learning_rate=0.05 strategy=sync-sgd period=1 optimizer=momentum",
                  "learning_rate=0.1 strategy=decentralized-easgd period=4 optimizer=sgd",
                  "learning_rate=0.1 strategy=local-sgd period=8 optimizer=sgd",
                  "learning_rate=0.1 strategy=sync-sgd period=1 optimizer=momentum"};

} // namespace

TEST_CASE("a shown label has the values that differ, words first, without what follows from another key, whose column is marked")
{
  CHECK(shown(swept) == Texts{"decentralized-easgd · 0.05", "local-sgd · 0.05", "sync-sgd · 0.05", "decentralized-easgd · 0.1",
                              "local-sgd · 0.1", "sync-sgd · 0.1"});
  const PointLabels labels(swept);
  REQUIRE(labels.keys().size() == 4);
  Texts implied;
  for (const auto& key : labels.keys())
    if (key.is_implied) implied.push_back(key.key);
  CHECK(implied == Texts{"period", "optimizer"});
  CHECK(labels.value(swept[1], "period") == "8");
  CHECK(labels.value(swept[1], "alpha") == "");
}

TEST_CASE("a number alone says which key it is of, and of keys that follow from each other the words stay, or else the first")
{
  CHECK(shown({"period=4", "period=16"}) == Texts{"period 4", "period 16"});
  CHECK(shown({"rate=0.1 momentum=0.9", "rate=0.1 momentum=0.8", "rate=0.2 momentum=0.9"}) ==
        Texts{"rate 0.1 · momentum 0.9", "rate 0.1 · momentum 0.8", "rate 0.2 · momentum 0.9"});
  CHECK(shown({"nesterov=true", "nesterov=false"}) == Texts{"nesterov true", "nesterov false"});
  CHECK(shown({"alpha=-1 s=a", "alpha=-2 s=a", "alpha=-1 s=b"}) == Texts{"a · alpha -1", "a · alpha -2", "b"});
  CHECK(shown({"period=1 strategy=a", "period=2 strategy=b"}) == Texts{"a", "b"});
  CHECK(shown({"strategy=a parts=1", "strategy=b parts=1", "strategy=b parts=2"}) == Texts{"a", "b · parts 1", "b · parts 2"});
  CHECK(shown({"rate=0.1 decay=1", "rate=0.2 decay=2"}) == Texts{"rate 0.1", "rate 0.2"});
}

TEST_CASE("no two labels look the same, whatever points were added to the sweep")
{
  for (const auto& labels : {Texts{"a=1", "b=1"}, Texts{"a=x", "b=x"}, Texts{"a=x", "a=x b=2"}, Texts{"a=x b=", "a=x b=y"},
                             Texts{"a=x · y b=z", "a=x b=y · z"}, Texts{"", "a=1"}}) {
    const auto texts = shown(labels);
    INFO(labels[0] + " | " + labels[1]);
    CHECK(texts[0] != texts[1]);
  }
}

TEST_CASE("a label is shown with all of its values, or what it lacks, simulated ones are told from measured ones, and blanks are "
          "part of a value")
{
  CHECK(shown({"strategy=easgd period=4"}) == Texts{"easgd · 4"});
  CHECK(shown({""}) == Texts{""});
  CHECK(PointLabels(Texts{"strategy=easgd period=4"}).keys().empty());
  CHECK(PointLabels().shown("x=1") == "x=1");
  CHECK(shown({"strategy=sync-sgd", "strategy=hsgd", "simulated"}) == Texts{"sync-sgd", "hsgd", "simulated"});
  CHECK(shown({"platform=", "simulated platform=fat-tree"}) == Texts{"no platform", "fat-tree"});
  CHECK(shown({"simulated ring", "easgd"}) == Texts{"simulated ring", "easgd"});
  CHECK(shown({"", "simulated"}) == Texts{"", "simulated"});
  CHECK(shown({"simulated strategy=a", "simulated strategy=b"}) == Texts{"a", "b"});
  CHECK(shown({"simulated s=a", "s=a", "simulated s=b", "s=b"}) == Texts{"simulated · a", "a", "simulated · b", "b"});
  CHECK(shown({"command=[python3, a.py] seed=1", "command=[python3, b.py] seed=1"}) ==
        Texts{"[python3, a.py]", "[python3, b.py]"});
}

TEST_CASE("the recipe's own labels replace the others")
{
  const std::map<std::string, std::string> own{{"strategy=a rate=0.1", "a lr 0.1"}, {"strategy=gone", "gone"}};
  CHECK(shown({"strategy=a rate=0.1", "strategy=b rate=0.2"}, own) == Texts{"a lr 0.1", "b"});
  CHECK(PointLabels({"strategy=a rate=0.1"}, own).has_own());
  CHECK_FALSE(PointLabels({"strategy=b"}, own).has_own());
}
