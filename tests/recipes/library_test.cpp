#include "recipes/recipe.hpp"

#include "core/files/file.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace dt;
using namespace dt::recipes;
namespace fs = std::filesystem;

namespace {

const fs::path library = fs::path(DTCTL_SOURCE_DIR) / "recipes" / "library";

Plan shipped(const std::string& name) { return load_plan(library / name, {}); }

} // namespace

TEST_CASE("every shipped recipe loads, is called as its file and says what it shows and how to run it")
{
  int count = 0;
  for (const auto& entry : fs::directory_iterator(library)) {
    if (entry.is_directory()) continue;
    INFO(entry.path());
    const auto plan = load_plan(entry.path(), {});
    CHECK(plan.name == entry.path().stem().string());
    CHECK_FALSE(plan.description.empty());
    const std::string verb = plan.kind == PlanKind::single ? "submit " : "sweep ";
    CHECK(plan.text.starts_with("# "));
    CHECK(plan.text.find("#   dtctl " + verb + entry.path().filename().string()) != std::string::npos);
    ++count;
  }
  CHECK(count >= 7);
}

TEST_CASE("every recipe of a paper's study loads, names the paper and says how to run it, and its page in docs/papers names it")
{
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(library / "papers")) {
    if (entry.is_directory()) continue;
    INFO(entry.path());
    const auto name = entry.path().stem().string(), group = entry.path().parent_path().filename().string();
    const auto plan = load_plan(entry.path(), {});
    CHECK(plan.name == name);
    CHECK_FALSE(plan.description.empty());
    CHECK(plan.text.find("#   dtctl sweep " + name + " ") != std::string::npos);
    const bool is_simulated = plan.runs.front().is_simulated();
    CHECK(plan.description.find(is_simulated ? "(simulated)" : "(real") != std::string::npos);
    CHECK(read_file(fs::path(DTCTL_SOURCE_DIR) / "docs" / "papers" / (group + ".md")).find(name) != std::string::npos);
    CHECK(plan.notes.empty()); // each network gets the images of its paper
    ++count;
  }
  CHECK(count >= 10);
}

TEST_CASE("the quickstart is a strong-scaling study over one and two ranks, three times, and the others are what their names say")
{
  const auto plan = shipped("quickstart.yaml");
  CHECK(plan.kind == PlanKind::strong);
  CHECK(plan.runs.size() == 6);
  CHECK(plan.runs[0].model.name == "lenet");
  CHECK(plan.runs[0].data.name == "digits");
  CHECK(plan.runs[0].train.target_accuracy > 0);
  CHECK(shipped("lenet-weak-scaling.yaml").kind == PlanKind::weak);
  CHECK(shipped("hosts-weak-scaling.yaml").kind == PlanKind::weak);
  CHECK(shipped("lenet-learning-rate-sweep.yaml").kind == PlanKind::sweep);
  CHECK(shipped("lenet-mnist.yaml").runs.at(0).data.name == "mnist");
  CHECK(shipped("lenet-shapes.yaml").runs.at(0).data.name == "shapes");
  CHECK(shipped("alexnet-shapes.yaml").runs.at(0).model.name == "alexnet-cifar");
  CHECK(shipped("vgg11-shapes.yaml").runs.at(0).model.name == "vgg11-cifar");
  CHECK(shipped("resnet20-shapes.yaml").runs.at(0).model.name == "resnet20");
  CHECK(shipped("resnet50-throughput.yaml").runs.size() == 2);
  CHECK(shipped("custom-network.yaml").runs.at(0).model.name == "custom");
  CHECK(shipped("synthetic-throughput.yaml").runs.at(0).data.name == "synthetic");
}
