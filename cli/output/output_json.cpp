#include "cli/output/output.hpp"
#include "cli/output/standard_out.hpp"
#include "recipes/recipe.hpp"

#include <utility>

#include <unistd.h>

namespace dt::cli {
namespace {

Json to_json(const recipes::Diagnostic& diagnostic)
{
  return {{"file", diagnostic.file}, {"line", diagnostic.line}, {"column", diagnostic.column}, {"message", diagnostic.message}};
}

Json to_json(const Error& error)
{
  Json json{{"kind", name_of(error.kind())}, {"message", error.what()}};
  if (const auto* recipe = dynamic_cast<const recipes::RecipeError*>(&error)) {
    auto& list = json["diagnostics"] = Json::array();
    for (const auto& diagnostic : recipe->diagnostics()) list.push_back(to_json(diagnostic));
  }
  return json;
}

class JsonOutput : public Output {
 public:
  explicit JsonOutput(std::string verb) : verb_(std::move(verb)) {}

  void heading(std::string_view) override {}
  void field(const std::string& name, const std::string&, const Cell& cell) override { data(name, cell.value); }
  void table(const Table& table) override { members_[table.name] = cli::to_json(table); }
  void block(const std::string& name, std::string_view text) override { data(name, text); }
  void drawing(std::string_view) override {}

  void data(const std::string& name, Json value) override
  {
    if (!name.empty()) members_[name] = std::move(value);
  }

  void finish(ExitCode code) override { print(std::exchange(members_, Json::object()), code); }

  // Results collected before the error are incomplete and are not printed.
  void fail(const Error& error, ExitCode code) override { print(Json{{"error", to_json(error)}}, code); }

 private:
  void print(Json members, ExitCode code) const
  {
    Json value{{"schema", json_schema_version}, {"verb", verb_}, {"exit_code", static_cast<int>(code)}};
    value.update(members);
    // On a terminal, escape everything except ASCII, because a terminal would obey control characters and direction marks from
    // files. Programs get the text unchanged.
    const bool only_ascii = describe_terminal(STDOUT_FILENO).is_terminal;
    write_out(value.dump(1, ' ', only_ascii, Json::error_handler_t::replace) + "\n");
    flush_out();
  }

  std::string verb_;
  Json members_ = Json::object();
};

} // namespace

std::unique_ptr<Output> make_json_output(const std::string& verb) { return std::make_unique<JsonOutput>(verb); }

} // namespace dt::cli
