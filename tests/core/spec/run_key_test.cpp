#include "core/spec/run_key.hpp"

#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/hash.hpp"
#include "tests/core/error_of.hpp"
#include "tests/core/put_file.hpp"
#include "tests/core/sample_spec.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace dt;
namespace fs = std::filesystem;
using test::error_of;
using test::TemporaryFolder;

namespace {

constexpr std::string_view build = "0123456789abcdef0123456789abcdef01234567";
constexpr std::string_view data = "00112233445566778899aabbccddeeff";

std::string key_of(const RunSpec& spec) { return run_key(spec, build, data); }

RunSpec lenet_spec()
{
  RunSpec spec;
  spec.name = "quickstart";
  spec.model.name = "lenet";
  spec.data.name = "digits";
  spec.train.global_batch = 64;
  spec.train.epochs = 2.5;
  spec.optimizer.learning_rate = 0.05;
  spec.resources.ranks_per_node = 2;
  spec.resources.env = {{"A", "1"}, {"B", "x\ny"}};
  spec.repeat = 1;
  return spec;
}

} // namespace

TEST_CASE("a change of an identity key makes another run, a change of any other key does not")
{
  const RunSpec spec = lenet_spec();
  for (const auto& key : spec_keys()) {
    if (key.field == nullptr) continue;
    INFO(key.path);
    auto changed = spec;
    set_value(changed, key, test::another_value(key, value_of(spec, key)));
    CHECK((key_of(changed) != key_of(spec)) == key.identity);
    CHECK((canonical_text(changed) != canonical_text(spec)) == key.identity);
  }
}

TEST_CASE("changes of different keys make different runs")
{
  std::set<std::string> seen{key_of(RunSpec{})};
  for (const auto& key : spec_keys()) {
    if (key.field == nullptr || !key.identity) continue;
    INFO(key.path);
    RunSpec changed;
    set_value(changed, key, test::another_value(key, default_of(key), 1));
    CHECK(seen.insert(key_of(changed)).second);
    const auto third = test::another_value(key, default_of(key), 2);
    set_value(changed, key, third);
    if (key.type != KeyType::boolean && third != default_of(key)) CHECK(seen.insert(key_of(changed)).second);
  }
}

TEST_CASE("what decides the training is part of the key, and names, places and accounting are not")
{
  for (const auto* path : {"model.name", "data.name", "train.seed", "train.global_batch", "optimizer.learning_rate",
                           "sync.strategy", "resources.nodes", "resources.threads_per_rank", "resources.env"})
    CHECK(find_key(path)->identity);
  for (const auto* path : {"name", "description", "data.path", "train.start_from", "resources.time_limit", "resources.account",
                           "resources.qos", "study.mode"})
    CHECK_FALSE(find_key(path)->identity);
}

TEST_CASE("another engine build, data set or repeat is another run, and the label is only a name")
{
  const auto spec = lenet_spec();
  auto repeated = spec;
  repeated.repeat = 2;
  CHECK(run_key(spec, "another build", data) != key_of(spec));
  CHECK(run_key(spec, build, "other data") != key_of(spec));
  CHECK(key_of(repeated) != key_of(spec));
  auto labelled = lenet_spec();
  labelled.label = "ranks=2";
  CHECK(key_of(labelled) == key_of(lenet_spec()));
}

TEST_CASE("the canonical text and the key of a spec are frozen: results are found under it by later versions")
{
  CHECK(canonical_text(lenet_spec()) == "model.name=5:lenet\n"
                                        "data.name=6:digits\n"
                                        "train.global_batch=64\n"
                                        "train.epochs=2.5\n"
                                        "optimizer.learning_rate=0.05\n"
                                        "resources.ranks_per_node=2\n"
                                        "resources.env=1:A1:11:B3:x\ny\n"
                                        "repeat=1\n");
  CHECK(canonical_text(RunSpec{}) == "repeat=0\n");
  CHECK(key_of(lenet_spec()) == "457af1f3834d7bc5c0f53280da9b04b2");
}

TEST_CASE(
    "a value that is the default leaves the text as if the key were not there, and none can pretend to be another key's line")
{
  auto spec = lenet_spec();
  for (const auto& key : spec_keys())
    if (key.field != nullptr && value_of(spec, key) == default_of(key)) set_value(spec, key, default_of(key));
  CHECK(canonical_text(spec) == canonical_text(lenet_spec()));
  RunSpec forged, honest;
  forged.resources.partition = "x\nresources.constraint=1:y";
  honest.resources.partition = "x";
  honest.resources.constraint = "y";
  CHECK(canonical_text(forged) != canonical_text(honest));
}

TEST_CASE("no two lists, texts or maps read alike")
{
  std::set<std::string> seen;
  const std::vector<std::vector<std::string>> lists{{"ab", "c"},     {"a", "bc"}, {"abc"},  {"abc", ""}, {"", "abc"},
                                                    {"1:a", "2:bc"}, {"a2:bc"},   {"a,bc"}, {"a\nbc"},   {"a", "b", "c"}};
  for (const auto& modules : lists) {
    RunSpec spec;
    spec.resources.modules = modules;
    CHECK(seen.insert(key_of(spec)).second);
  }
  for (const auto& env : std::vector<std::map<std::string, std::string>>{
           {{"A", "B=C"}}, {{"A=B", "C"}}, {{"A", "B"}, {"C", ""}}, {{"A", ""}, {"B", "C"}}, {{"A", "B1:C0:"}}}) {
    RunSpec spec;
    spec.resources.env = env;
    CHECK(seen.insert(key_of(spec)).second);
  }
}

TEST_CASE("a planned run keeps what its key was made of, and a short key is the first ten digits, or all there are")
{
  const auto run = plan_run(lenet_spec(), std::string(build), std::string(data));
  CHECK(run.key == key_of(lenet_spec()));
  CHECK(run.key.size() == 32);
  CHECK(run.engine_build == build);
  CHECK(run.data_id == data);
  CHECK(run.spec.name == "quickstart");
  CHECK(short_key("0123456789abcdef") == "0123456789");
  CHECK(short_key("abc") == "abc");
  CHECK(short_key("").empty());
}

TEST_CASE(
    "equal runs have no differences, also when only names and places differ, and lists that print alike but differ have one")
{
  auto other = lenet_spec();
  other.name = "another";
  other.data.path = "/scratch";
  CHECK(differences(plan_run(lenet_spec(), "b", "d"), plan_run(other, "b", "d")).empty());
  RunSpec joined, apart;
  joined.resources.modules = {"a, b"};
  apart.resources.modules = {"a", "b"};
  CHECK(differences(plan_run(joined, "b", "d"), plan_run(apart, "b", "d")).size() == 1);
}

TEST_CASE("differences tell each key, then repeat, engine and data, each before and now")
{
  auto other = lenet_spec();
  other.optimizer.learning_rate = 0.1;
  other.optimizer.linear_scaling = true;
  other.resources.modules = {"gcc", "mpi"};
  other.resources.env.clear();
  other.repeat = 3;
  CHECK(differences(plan_run(lenet_spec(), "aaaaaaaaaabbbb", "d1"), plan_run(other, "ccccccccccdddd", "d2")) ==
        std::vector<std::string>{"optimizer.learning_rate: 0.05, now 0.1", "optimizer.linear_scaling: false, now true",
                                 "resources.modules: , now gcc, mpi", "resources.env: A=1, B=x\ny, now ", "repeat: 1, now 3",
                                 "engine build: aaaaaaaaaa, now cccccccccc", "data: d1, now d2"});
}

TEST_CASE("another start is another run, and no start leaves the keys of older runs as they are")
{
  const auto spec = lenet_spec();
  CHECK(run_key(spec, build, data, "") == key_of(spec));
  CHECK(run_key(spec, build, data, "a") != key_of(spec));
  CHECK(run_key(spec, build, data, "a") != run_key(spec, build, data, "b"));
  CHECK(differences(plan_run(spec, "b", "d"), plan_run(spec, "b", "d", "0123456789abc")) ==
        std::vector<std::string>{"start: the seed's weights, now 0123456789"});
}

TEST_CASE("another Python environment is another run, and none leaves the keys of older runs as they are")
{
  const auto before = plan_run(RunSpec{}, "build", "data", "", "0123456789abcdef"),
             now = plan_run(RunSpec{}, "build", "data", "", "fedc");
  CHECK(before.key != now.key);
  CHECK(before.key != plan_run(RunSpec{}, "build", "data", "0123456789abcdef").key);
  const auto unknown = plan_run(RunSpec{}, "build", "data", "", "");
  CHECK(unknown.key == plan_run(RunSpec{}, "build", "data").key);
  CHECK(differences(before, now) == std::vector<std::string>{"Python environment: 0123456789, now fedc"});
  CHECK(differences(unknown, now) == std::vector<std::string>{"Python environment: not part of the key, now fedc"});
}

TEST_CASE("a start is known by the hash in a checkpoint's header, or by all bytes of another file of weights")
{
  const TemporaryFolder folder;
  const std::string hash = "0123456789abcdef0123456789abcdef";
  const auto checkpoint = folder.path() / "step-3.safetensors", archive = folder.path() / "w.npz",
             text = folder.path() / "notes.txt", other = folder.path() / "w.safetensors";
  test::put_file(checkpoint, "8 bytes:" + std::string(checkpoint_magic) + hash + "\"and so on");
  test::put_file(archive, "bytes");
  test::put_file(text, "notes");
  test::put_file(other, "other bytes");
  CHECK(start_id("").empty());
  CHECK(start_id(checkpoint) == hash);
  CHECK(start_id(archive) == hash_hex("bytes"));
  CHECK(start_id(other) == hash_hex("other bytes"));
  CHECK_THROWS_WITH(start_id(text), Catch::Contains(text.string() + " is not a file of weights"));
  const auto missing = error_of([&] { start_id(folder.path() / "none.safetensors"); });
  CHECK_THAT(missing.what(), Catch::Contains("none.safetensors: there is no such file"));
  CHECK(missing.kind() == ErrorKind::recipe);
}

TEST_CASE("our own program has a build id of 40 hexadecimal digits, the same wherever it lies")
{
  const TemporaryFolder folder;
  const auto id = read_build_id(own_program());
  CHECK(id.size() == 40);
  CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  fs::copy_file(own_program(), folder.path() / "copy");
  CHECK(read_build_id(folder.path() / "copy") == id);
}

TEST_CASE("a file without a build id is refused by name")
{
  const TemporaryFolder folder;
  const auto path = (folder.path() / "dtengine").string();
  const std::string elf = "\x7F"
                          "ELF";
  for (const auto& text : {std::string("#!/bin/sh\nexit 0\n"), std::string(), elf, elf + std::string(200, '\xFF')}) {
    test::put_file(path, text);
    const auto error = error_of([&] { read_build_id(path); });
    CHECK(error.kind() == ErrorKind::environment);
    CHECK_THAT(error.what(), Catch::StartsWith(path + " has no GNU build id"));
  }
  CHECK_THROWS_WITH(read_build_id(path + "x"), Catch::Contains("No such file"));
}

TEST_CASE("a program cut off anywhere in its head is refused or read, never a crash")
{
  const TemporaryFolder folder;
  const auto path = folder.path() / "dtengine";
  const auto whole = read_file(own_program());
  const auto id = read_build_id(own_program());
  for (std::size_t size = 0; size < 1200; size += 7) {
    test::put_file(path, std::string_view(whole).substr(0, size));
    std::string seen = id;
    try {
      seen = read_build_id(path);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::environment);
    }
    CHECK(seen == id);
  }
}

namespace {

DataSpec named(const char* name)
{
  DataSpec spec;
  spec.name = name;
  return spec;
}

void fill(const fs::path& folder)
{
  make_folders(folder / "sub");
  test::put_file(folder / "train", "images");
  test::put_file(folder / "test", "labels");
  test::put_file(folder / "sub" / "more", "bytes");
}

} // namespace

TEST_CASE("a data set's id comes from names and bytes, not from the place")
{
  const TemporaryFolder first, second;
  fill(first.path() / "a");
  fill(second.path() / "some" / "where" / "else");
  const auto id = data_id(named("mnist"), first.path() / "a");
  CHECK(id.size() == 32);
  CHECK(data_id(named("mnist"), second.path() / "some" / "where" / "else") == id);
  CHECK(data_id(named("mnist"), first.path() / "a" / "") == id);
  CHECK(data_id(named("mnist"), first.path() / "." / "a") == id);
}

TEST_CASE("a changed byte, a changed name, a moved border and a further file each make other data")
{
  const TemporaryFolder folder;
  auto id_after = [&, round = 0](auto change) mutable {
    const auto place = folder.path() / std::to_string(round++);
    fill(place);
    change(place);
    return data_id(named("mnist"), place);
  };
  std::set<std::string> seen{id_after([](const fs::path&) {})};
  CHECK(seen.insert(id_after([](const fs::path& p) { test::put_file(p / "train", "imagez"); })).second);
  CHECK(seen.insert(id_after([](const fs::path& p) { fs::rename(p / "train", p / "trains"); })).second);
  CHECK(seen.insert(id_after([](const fs::path& p) { fs::rename(p / "sub" / "more", p / "more"); })).second);
  CHECK(seen.insert(id_after([](const fs::path& p) { test::put_file(p / "zero", ""); })).second);
  CHECK(seen.insert(
                id_after([](const fs::path& p) { test::put_file(p / "test", "bels"), test::put_file(p / "train", "imagesla"); }))
            .second);
}

TEST_CASE("hidden files and folders, and links that lead nowhere or in a circle, do not count, but data in a hidden folder does")
{
  const TemporaryFolder folder;
  const auto plain = folder.path() / "plain", hidden = folder.path() / ".hidden";
  for (const auto& place : {plain, hidden}) fill(place);
  const auto id = data_id(named("mnist"), plain);
  CHECK(data_id(named("mnist"), hidden) == id); // only what lies below the data folder is judged by its name
  test::put_file(plain / ".DS_Store", "junk");
  make_folders(plain / ".git");
  test::put_file(plain / ".git" / "config", "junk");
  fs::create_symlink("nowhere", plain / "dangling");
  fs::create_symlink("circle", plain / "circle");
  CHECK(data_id(named("mnist"), plain) == id);
}

TEST_CASE("a linked file counts by its own name and the bytes behind it, wherever these lie")
{
  const TemporaryFolder real, linked, elsewhere;
  fill(real.path());
  fill(linked.path());
  fs::rename(linked.path() / "train", elsewhere.path() / "shared-copy");
  fs::create_symlink(elsewhere.path() / "shared-copy", linked.path() / "train");
  CHECK(data_id(named("mnist"), linked.path()) == data_id(named("mnist"), real.path()));
}

TEST_CASE("missing data, also with hidden files only, says how to get it: what dtctl can make, it tells how to make, and "
          "synthetic data needs none")
{
  const TemporaryFolder folder;
  test::put_file(folder.path() / ".partial", "x");
  const auto place = folder.path().string();
  const auto error = error_of([&] { data_id(named("digits"), place + "/none"); });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK(error.what() == "data set digits: no files in " + place + "/none; make it with: dtctl data make digits");
  CHECK_THROWS_WITH(data_id(named("shapes"), place), Catch::EndsWith("dtctl data make shapes"));
  CHECK_THROWS_WITH(data_id(named("mnist"), place), Catch::EndsWith("put its files there, or name their folder in data.path"));
  CHECK(data_id(named("synthetic"), "/none/such") == "synthetic");
}
