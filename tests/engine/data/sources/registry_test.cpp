#include "core/spec/input_shape.hpp"
#include "core/spec/names.hpp"
#include "engine/data/makers/make.hpp"
#include "engine/data/source.hpp"
#include "tests/engine/data/bytes.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

namespace dt::data {

TEST_CASE("the registry offers exactly the data sets of the vocabulary")
{
  auto registered = registered_data(), named = strings_of(data_names());
  std::sort(registered.begin(), registered.end());
  std::sort(named.begin(), named.end());
  CHECK(registered == named);
}

TEST_CASE("every data set has the image shape and the classes that dtctl checks models with")
{
  const test::TemporaryFolder folder;
  const auto digits = folder.path() / "digits", shapes = folder.path() / "shapes", fine = folder.path() / "cifar100";
  make_data({"digits", digits, 10, 10, 1});
  make_data({"shapes", shapes, 10, 10, 1});
  std::filesystem::create_directory(fine);
  for (const auto* file : {"train.bin", "test.bin"}) test::write(fine / file, std::string(2, '\1') + test::counting(3072, 0));
  const std::map<std::string_view, std::filesystem::path> folders{{"digits", digits},  {"mnist", digits},  {"shapes", shapes},
                                                                  {"cifar10", shapes}, {"cifar100", fine}, {"synthetic", ""}};
  for (const auto& name : data_names()) {
    if (name.name == "packed") continue; // its file tells the shape
    INFO(name.name);
    DataSpec spec;
    spec.name = name.name;
    spec.channels = 2;
    const auto sources = open_sources(spec, folders.at(name.name), 1);
    const auto& train = *sources.train;
    CHECK(input_shape_of(spec) == InputShape{train.channels(), train.height(), train.width(), train.classes()});
  }
}

TEST_CASE("an unknown data set is refused with the known ones")
{
  DataSpec spec;
  spec.name = "imagenet";
  CHECK_THROWS_WITH(open_sources(spec, ".", 1),
                    "there is no data set `imagenet`; allowed: digits, shapes, mnist, cifar10, cifar100, packed, synthetic");
}

} // namespace dt::data
