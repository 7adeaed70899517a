#include "core/spec/spec_schema.hpp"

#include "tests/core/error_of.hpp"
#include "tests/core/sample_spec.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace dt;

namespace {

struct Address {
  const void* operator()(const ChoiceField& field) const { return field.address(); }
  template<class Type> const void* operator()(const Type* field) const { return field; }
};

const void* address_of(RunSpec& spec, const Key& key) { return std::visit(Address{}, key.field(spec)); }

// The type of field a key of this type must have.
bool fits(KeyType type, const FieldValue& value)
{
  switch (type) {
  case KeyType::integer:
  case KeyType::duration:
    return std::holds_alternative<std::int64_t>(value);
  case KeyType::real:
  case KeyType::rate:
  case KeyType::moment:
    return std::holds_alternative<double>(value);
  case KeyType::boolean:
    return std::holds_alternative<bool>(value);
  case KeyType::text:
  case KeyType::choice:
    return std::holds_alternative<std::string>(value);
  case KeyType::integer_list:
    return std::holds_alternative<std::vector<std::int64_t>>(value);
  case KeyType::text_list:
    return std::holds_alternative<std::vector<std::string>>(value);
  case KeyType::text_map:
    return std::holds_alternative<std::map<std::string, std::string>>(value);
  case KeyType::structure:
    return false;
  }
  return false;
}

bool is_number(const Key& key)
{
  return key.type == KeyType::integer || key.type == KeyType::real || key.type == KeyType::duration;
}

double number_in(const FieldValue& value)
{
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

} // namespace

TEST_CASE(
    "every path is there once and leads to its own row, and no row answers to a part of a path, to nothing, or to another case")
{
  std::set<std::string_view> seen;
  for (const auto& key : spec_keys()) {
    INFO(key.path);
    CHECK(seen.insert(key.path).second);
    CHECK(find_key(key.path) == &key);
    CHECK(key.path.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string_view::npos);
  }
  for (const auto* path : {"", "train", "train.", ".seed", "seed", "Train.seed", "train.seed "}) CHECK(find_key(path) == nullptr);
}

TEST_CASE("exactly the structure keys have no field, every field has the type of its row, and no two rows write to the same one")
{
  RunSpec spec;
  std::set<const void*> seen;
  for (const auto& key : spec_keys()) {
    INFO(key.path);
    CHECK((key.field == nullptr) == (key.type == KeyType::structure));
    if (key.field == nullptr) continue;
    CHECK(fits(key.type, default_of(key)));
    CHECK(seen.insert(address_of(spec, key)).second);
  }
}

TEST_CASE("every row has a help of one line, says its unit in a word, and a number has a range that is not empty")
{
  for (const auto& key : spec_keys()) {
    INFO(key.path);
    CHECK_FALSE(key.help.empty());
    CHECK(key.help.find('\n') == std::string_view::npos);
    CHECK(key.unit.find(' ') == std::string_view::npos);
    if (key.type == KeyType::duration) CHECK(key.unit == "s");
    if (is_number(key) || key.type == KeyType::integer_list) CHECK(key.min < key.max);
  }
}

TEST_CASE("every default lies in its range, and only the keys of which one of two is given start below it, as not given")
{
  std::set<std::string_view> not_given;
  for (const auto& key : spec_keys()) {
    if (!is_number(key)) continue;
    INFO(key.path);
    const double value = number_in(default_of(key));
    CHECK(value <= key.max);
    if (value < key.min) {
      CHECK(value == 0);
      not_given.insert(key.path);
    }
  }
  CHECK(not_given == std::set<std::string_view>{"train.batch_per_rank", "train.global_batch", "train.epochs", "train.steps"});
}

TEST_CASE("exactly the choices have names to choose from, and their default is one of them unless it must be given")
{
  for (const auto& key : spec_keys()) {
    INFO(key.path);
    CHECK((key.type == KeyType::choice) == !key.choices.empty());
    if (key.type != KeyType::choice) continue;
    const auto name = std::get<std::string>(default_of(key));
    // No mode: no study; no model: model.layers.
    const bool may_be_empty = key.required || key.path == "study.mode" || key.path == "model.name";
    CHECK((contains(key.choices, name) || (name.empty() && may_be_empty)));
  }
}

TEST_CASE("what must be given is the version and the data, and the model has a name or layers")
{
  std::set<std::string_view> required;
  for (const auto& key : spec_keys())
    if (key.required) required.insert(key.path);
  CHECK(required == std::set<std::string_view>{"version", "data.name"});
}

TEST_CASE("keys of a block stand together, in the order of the reference")
{
  std::vector<std::string> blocks;
  for (const auto& key : spec_keys()) {
    const auto dot = key.path.find('.');
    const std::string block(dot == std::string_view::npos ? "" : key.path.substr(0, dot));
    if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
  }
  CHECK(blocks == std::vector<std::string>{"", "model", "data", "program", "train", "optimizer", "sync", "resources", "platform",
                                           "study", "sweep"});
}

TEST_CASE("a set value is read back, and touches no other key")
{
  for (const auto& key : spec_keys()) {
    if (key.field == nullptr) continue;
    RunSpec spec;
    const auto value = test::another_value(key, default_of(key));
    set_value(spec, key, value);
    for (const auto& other : spec_keys()) {
      if (other.field == nullptr) continue;
      INFO(key.path << " set, " << other.path << " read");
      CHECK((value_of(spec, other) == (&other == &key ? value : default_of(other))));
    }
  }
}

TEST_CASE("a value of another type is our own mistake, and changes nothing")
{
  RunSpec spec;
  const auto& key = *find_key("train.seed");
  const auto error = test::error_of([&] { set_value(spec, key, std::string("7")); });
  CHECK(error.kind() == ErrorKind::internal);
  CHECK(std::string(error.what()) == "value of another type for key train.seed");
  CHECK(spec.train.seed == 1);
}

TEST_CASE("values are shown as people read them")
{
  CHECK(to_text(std::int64_t{-7}) == "-7");
  CHECK(to_text(0.1) == "0.1");
  CHECK(to_text(1e-5) == "1e-05");
  CHECK(to_text(true) == "true");
  CHECK(to_text(false) == "false");
  CHECK(to_text(std::string("as it is")) == "as it is");
  CHECK(to_text(std::vector<std::int64_t>{1, 2, 4}) == "1, 2, 4");
  CHECK(to_text(std::vector<std::string>{"a", "b"}) == "a, b");
  CHECK(to_text(std::map<std::string, std::string>{{"b", "2"}, {"a", "1"}}) == "a=1, b=2");
  CHECK(to_text(std::vector<std::string>{}).empty());
}

TEST_CASE("every type has a name of its own")
{
  std::set<std::string_view> seen;
  for (int type = 0; type <= static_cast<int>(KeyType::structure); ++type)
    CHECK(seen.insert(name_of(static_cast<KeyType>(type))).second);
  CHECK(name_of(KeyType::real) == "number");
  CHECK(name_of(KeyType::integer_list) == "list of integers");
}

TEST_CASE("a spec's derived sizes: ranks, cores, and the batch whichever way it is given")
{
  RunSpec spec;
  spec.resources.nodes = 3;
  spec.resources.ranks_per_node = 4;
  spec.resources.threads_per_rank = 2;
  CHECK(spec.ranks() == 12);
  CHECK(spec.cores() == 24);
  CHECK(spec.cores_per_node() == 8);
  spec.train.batch_per_rank = 5;
  CHECK(spec.effective_batch_per_rank() == 5);
  CHECK(spec.effective_global_batch() == 60);
  spec.train.batch_per_rank = 0;
  spec.train.global_batch = 240;
  CHECK(spec.effective_batch_per_rank() == 20);
  CHECK(spec.effective_global_batch() == 240);
}
