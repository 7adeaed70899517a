#include "core/spec/point_label.hpp"

#include <catch2/catch.hpp>

using namespace dt;

TEST_CASE("a series is a label without its size")
{
  CHECK(series_of("sync.strategy=hsgd ranks=2") == "sync.strategy=hsgd");
  CHECK(series_of("nodes=16") == "");
  CHECK(series_of("resources.nodes=2 resources.ranks_per_node=4 train.seed=3") == "resources.ranks_per_node=4 train.seed=3");
  CHECK(series_of("ranks_per_node=4 nodes=2") == "ranks_per_node=4");
  CHECK(series_of("seed=1 ranks_per_node=4") == "seed=1");
  CHECK(series_of("data.path=ranks=x") == "data.path=ranks=x");
  CHECK(series_of("ranks=two") == "ranks=two");
  CHECK(series_of("") == "");
}

TEST_CASE("a label is read as keys with their values, and a value goes on until the next key")
{
  const auto read = [](std::string_view label) {
    std::string text;
    for (const auto& word : label_words(label)) text += word.key + "<" + word.value + ">";
    return text;
  };
  CHECK(read("learning_rate=0.1 sync.strategy=easgd") == "learning_rate<0.1>sync.strategy<easgd>");
  CHECK(read("command=[python3, a.py, --lr=1] seed=2") == "command<[python3, a.py, --lr=1]>seed<2>");
  CHECK(read("simulated strategy=ring") == "<simulated>strategy<ring>");
  CHECK(read("platform=") == "platform<>");
  CHECK(read("") == "");
}
