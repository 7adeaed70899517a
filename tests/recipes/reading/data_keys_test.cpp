#include "recipes/reading/data_keys.hpp"

#include "core/spec/names.hpp"
#include "core/spec/run_key.hpp"
#include "core/spec/spec_schema.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

std::string recipe(const std::string& data, const std::string& more = "")
{
  return "version: 1\nmodel: { name: lenet }\ndata: " + data + "\ntrain: { global_batch: 64, epochs: 2 }\n" + more;
}

} // namespace

TEST_CASE("the table of data keys names keys that exist, each used by a data set and not by another")
{
  for (const auto& key : data_keys()) {
    INFO(key.path);
    CHECK(find_key(key.path) != nullptr);
    int users = 0;
    for (const auto& name : data_names()) users += uses(name.name, key) ? 1 : 0;
    CHECK(users > 0);
    CHECK(users < static_cast<int>(data_names().size()));
    CHECK(uses("", key));
  }
}

TEST_CASE("a key that the data set does not look at is refused, also with its default")
{
  const std::string classes = "`data.classes` has no effect, because `mnist` has as many classes as its files contain; remove it",
                    shape = "has images of the shape that its files contain";
  check_refused(
      [](const std::string& data) { return errors_of(recipe(data)); },
      {{"{ name: mnist, classes: 26 }", "r.yaml:3:31: " + classes},
       {"{ classes: 10, name: mnist }", "r.yaml:3:18: " + classes},
       {"{ name: cifar10, height: 224 }", "r.yaml:3:32: `data.height` has no effect, because `cifar10` " + shape},
       {"{ name: synthetic, path: images }", "r.yaml:3:32: `data.path` has no effect, because `synthetic` is made in memory"}});
  CHECK_THAT(errors_of(recipe("{ name: digits }"), with_set({"data.width=3"})),
             Catch::StartsWith("--set: `data.width` has no effect"));
  CHECK(places_of(recipe("{ name: digits }", "sweep: { matrix: { data.classes: [3, 4] } }\n")) == "5:35 5:38");
  for (const auto* good :
       {"{ name: synthetic, classes: 26, height: 8, width: 9, channels: 2 }",
        "{ name: mnist, path: images, train_samples: 5000, test_samples: 5, shuffle: false, prefetch_batches: 1 }"})
    CHECK(errors_of(recipe(good)) == "");
}

TEST_CASE("a stronger layer that names another data set takes away what it does not look at")
{
  const auto synthetic = recipe("{ name: synthetic, classes: 26, train_samples: 512 }");
  const auto plain = plan_of(recipe("{ name: digits, train_samples: 512 }"));
  const auto by_set = plan_of(synthetic, with_set({"data.name=digits"}));
  CHECK(canonical_text(by_set.runs.at(0)) == canonical_text(plain.runs.at(0)));
  const auto swept = plan_of(synthetic + "sweep: { matrix: { data.name: [synthetic, digits] } }\n");
  CHECK(swept.runs.at(0).data.classes == 26);
  CHECK(canonical_text(swept.runs.at(1)) == canonical_text(plain.runs.at(0)));
}

TEST_CASE("a packed set is named by data.set or data.path, and is no path where it is a name")
{
  check_refused(
      [](const std::string& data) { return errors_of(recipe(data)); },
      {{"{ name: packed }", "r.yaml:3:15: data set `packed` needs `data.set`, a name that `dtctl data list` shows, or"},
       {"{ name: packed, set: flowers, path: flowers.pack }", "r.yaml:3:28: give either `data.set` or `data.path`, not both"},
       {"{ name: packed, set: sets/flowers }", "r.yaml:3:28: `data.set` is the name of a set in the home"},
       {"{ name: digits, set: flowers }", "r.yaml:3:28: `data.set` has no effect, because `digits` is no packed set"}});
  CHECK(plan_of(recipe("{ name: packed, set: flowers }")).runs.at(0).data.set == "flowers");
  const auto swept = plan_of(recipe("{ name: packed, set: flowers }", "sweep: { matrix: { data.set: [flowers, cars] } }\n"));
  CHECK(swept.runs.at(1).data.set == "cars");
}

TEST_CASE("decoding threads take cores beside the compute threads")
{
  const auto run = plan_of(recipe("{ name: packed, set: flowers, decode_threads: 2 }",
                                  "resources: { ranks_per_node: 4, threads_per_rank: 8 }\n"))
                       .runs.at(0);
  CHECK(run.cores_per_rank() == 10);
  CHECK(run.cores_per_node() == 40);
}

TEST_CASE("how images are read is part of a run's identity, where the set lies is not")
{
  const auto text = [](const std::string& data) { return canonical_text(plan_of(recipe(data)).runs.at(0)); };
  const auto plain = text("{ name: packed, set: flowers }");
  CHECK(text("{ name: packed, set: cars }") == plain);
  CHECK(text("{ name: packed, path: flowers.pack }") == plain);
  for (const auto* key : {"order: file", "block_bytes: 100", "direct_io: true", "decode_threads: 1", "image_size: 32",
                          "crop: pad", "flip: true", "corrupt: skip"})
    CHECK(text("{ name: packed, set: flowers, " + std::string(key) + " }") != plain);
}

TEST_CASE("the plan says when a model gets images of another size than in its paper, once for each model and size")
{
  const auto notes_of = [](const std::string& text) { return plan_of(text).notes; };
  const std::string train = "train: { global_batch: 64, epochs: 2 }\n";
  const auto alexnet = [&](const std::string& side) {
    return "version: 1\nmodel: { name: alexnet }\ndata: { name: synthetic, channels: 3, height: " + side + ", width: " + side +
           ", classes: 1000 }\n" + train;
  };
  CHECK(notes_of(alexnet("227")).empty());
  const std::string other = " gets images of 3x224x224, not of 3x227x227 as in its paper";
  const auto notes =
      notes_of(alexnet("224") + "sweep: { matrix: { model.name: [alexnet, alexnet-2012, vgg16], train.seed: [1, 2] } }\n");
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], Catch::StartsWith("alexnet" + other));
  CHECK_THAT(notes[1], Catch::StartsWith("alexnet-2012" + other));
  CHECK(notes_of(recipe("{ name: digits }")).empty());
  CHECK(notes_of(recipe("{ name: cifar10 }")).size() == 1);
  CHECK(notes_of(recipe("{ name: packed, path: any.dtpack }")).empty()); // its file tells the size
}
