#include "cli/recipe_text/recipe_choices.hpp"

#include "core/error.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace dt;
using namespace dt::cli;

namespace {

using Sizes = std::vector<std::int64_t>;

std::string refusal(const std::function<void()>& what)
{
  try {
    what();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "";
}

RecipeChoices strong(std::vector<std::string> strategies, Sizes sizes)
{
  RecipeChoices choices;
  choices.model = "lenet";
  choices.data = "digits";
  choices.strategies = std::move(strategies);
  choices.study = StudyMode::strong;
  choices.sizes = std::move(sizes);
  return choices;
}

std::string refusal_of(const RecipeChoices& choices)
{
  return refusal([&] { check_choices(choices); });
}

} // namespace

TEST_CASE("sizes are whole numbers with commas between them")
{
  CHECK(parse_sizes("4, 1,2") == Sizes{1, 2, 4});
  CHECK(refusal([] { parse_sizes("1,x"); }) == "\"x\" is not a whole number from 1 to 1000000; write sizes such as 1,2,4");
  for (const auto* text : {"", "1,", "0", "-1", "1.5", "1000001", "99999999999999999999", "1 2"}) {
    INFO(text);
    CHECK(refusal([&] { parse_sizes(text); }).find("is not a whole number") != std::string::npos);
  }
  CHECK(refusal([] { parse_sizes("2,1,2"); }) == "2 is there twice; for several runs of a size give --repeats");
}

TEST_CASE("an unknown strategy and an unknown kind of study name the nearest one")
{
  CHECK(parse_strategies("easgd, sync-sgd") == std::vector<std::string>{"easgd", "sync-sgd"});
  CHECK(refusal([] { parse_strategies("sync-sgdd"); }).starts_with("there is no strategy `sync-sgdd`; did you mean `sync-sgd`?"));
  CHECK(refusal([] { parse_strategies("easgd,easgd"); }) == "easgd is there twice");
  CHECK(refusal([] { parse_study("strng"); }) ==
        "there is no kind of study `strng`; did you mean `strong`? Allowed: strong, weak, partition, scaling, none");
  CHECK_FALSE(parse_study("none"));
}

TEST_CASE("defaults fit each other and the machine")
{
  CHECK(default_data("lenet") == "digits");
  CHECK(default_data("resnet20") == "shapes");
  CHECK(default_data("vgg16") == "synthetic");
  CHECK(default_data("custom") == "digits");
  CHECK(default_model("cifar100") == "resnet20");
  CHECK(default_model("mnist") == "lenet");
  CHECK(default_sizes(strong({"sync-sgd"}, {}), 2) == Sizes{1, 2});
  CHECK(default_sizes(strong({"sync-sgd"}, {}), 16) == Sizes{1, 2, 4});
  CHECK(default_sizes(strong({"sync-sgd", "easgd"}, {}), 16) == Sizes{2, 3, 5});
  CHECK(default_sizes(strong({"easgd"}, {}), 1) == Sizes{2, 3}); // two workers, which share the core
  CHECK(default_sizes(strong({"sync-sgd", "local-sgd", "easgd"}, {}), 2) == Sizes{2, 3});
  CHECK(default_sizes(strong({"sync-sgd", "local-sgd"}, {}), 1) == Sizes{1, 2});
  auto fixed = strong({"sync-sgd", "easgd"}, {});
  fixed.study.reset();
  CHECK(default_sizes(fixed, 2) == Sizes{3});
  CHECK(default_sizes(fixed, 16) == Sizes{5});
  auto nodes = strong({"easgd"}, {});
  nodes.unit = SizeUnit::nodes;
  CHECK(default_sizes(nodes, 1) == Sizes{2, 3, 5});
  nodes.ranks_per_node = 4;
  CHECK(default_sizes(nodes, 1) == Sizes{1, 2, 4});
}

TEST_CASE("the chosen batch can be divided among the workers of all sizes")
{
  auto choices = strong({"sync-sgd", "easgd"}, {2, 4}); // 2, 4 and 1, 3 workers
  choose_batch(choices);
  CHECK(choices.global_batch == 132);
  auto awkward = strong({"sync-sgd"}, {101, 103, 107});
  CHECK(refusal([&] { choose_batch(awkward); }).starts_with("no global batch up to 65536 can be divided"));
  awkward.study = StudyMode::weak;
  choose_batch(awkward);
  CHECK(awkward.batch_per_rank == 32);
}

TEST_CASE("choices that contradict each other are refused with what to give instead")
{
  CHECK(refusal_of(strong({"sync-sgd"}, {1, 2})) == "");
  CHECK(refusal_of(strong({"easgd"}, {1, 2})) ==
        "easgd has a parameter server, which is a rank that does not train, so a size of 1 rank has no rank that trains; give at "
        "least 2 ranks");
  auto batch = strong({"easgd"}, {2, 4});
  batch.global_batch = 128;
  CHECK(refusal_of(batch) ==
        "--global-batch 128 is not a multiple of the 3 ranks that train with easgd on 4 ranks; give a multiple of 3");
  auto weak = strong({"sync-sgd"}, {1, 2});
  weak.study = StudyMode::weak;
  weak.global_batch = 64;
  CHECK(refusal_of(weak).ends_with("give --batch-per-rank instead of --global-batch"));
  auto per_rank = strong({"sync-sgd"}, {1, 2});
  per_rank.batch_per_rank = 64;
  CHECK(refusal_of(per_rank).ends_with("give --global-batch instead of --batch-per-rank"));
  auto single = strong({"sync-sgd"}, {1, 2});
  single.study.reset();
  CHECK(refusal_of(single) == "--study none takes one size; give --study strong or --study weak for several");
  auto parts = strong({"sync-sgd"}, {1, 2});
  parts.unit = SizeUnit::parts;
  CHECK(refusal_of(parts) == "--parts are the sizes of --study partition; give --ranks or --nodes");
}
