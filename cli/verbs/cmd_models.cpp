// dtctl recipe models, dtctl recipe strategies: the names that recipes can use.
#include "cli/checks/engine_model.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/lookup.hpp"
#include "core/spec/layer_schema.hpp"
#include "core/spec/names.hpp"
#include "core/text.hpp"

#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct ModelsOptions {
  std::string model, image;
  std::int64_t classes = 0, batch = 0;
  bool layers = false;
};

Cell name_cell(std::string_view name) { return text_cell(std::string(name), Style::strong); }
Cell none() { return {nullptr, "-", Style::dim}; }

// data: the number; text: "62.4 M"
Cell large_cell(double number, const char* unit = "")
{
  const auto text = number >= 1e9   ? fmt::format("{:.2f} G{}", number / 1e9, unit)
                    : number >= 1e6 ? fmt::format("{:.1f} M{}", number / 1e6, unit)
                    : number >= 1e3 ? fmt::format("{:.1f} k{}", number / 1e3, unit)
                                    : fmt::format("{:.0f} {}", number, unit);
  return {number, text, Style::plain};
}

// Like large_cell, but the data stays a whole number.
Cell count_of(const Json& count)
{
  auto cell = large_cell(count.get<double>());
  cell.value = count;
  return cell;
}

Table names_table(const std::string& name, const std::string& title, std::span<const Name> names)
{
  Table table{name, {{"name", title}, {"help", "what it is"}}, {}, "none"};
  for (const auto& entry : names) table.rows.push_back({name_cell(entry.name), text_cell(std::string(entry.help))});
  return table;
}

Table models_table()
{
  Table table{"models",
              {{"name", "model"},
               {"image", "images", Align::left, 2},
               {"classes", ""},
               {"parameters", "parameters", Align::right, 1},
               {"help", "what it is"}},
              {},
              "none"};
  for (const auto& entry : model_names()) {
    const auto* facts = find_model_facts(entry.name);
    table.rows.push_back({name_cell(entry.name), facts ? text_cell(image_text(facts->natural)) : none(),
                          facts ? count_cell(facts->natural.classes) : none(), facts ? count_of(facts->parameters) : none(),
                          text_cell(std::string(entry.help))});
  }
  return table;
}

Table layer_kinds_table()
{
  Table table{
      "layers",
      {{"layer", "layer"}, {"attribute", "attribute"}, {"value", "value"}, {"default", "default"}, {"help", "what it is"}},
      {},
      "none"};
  for (const auto& kind : layer_kinds()) {
    table.rows.push_back({name_cell(kind.name), text_cell(""), text_cell(""), text_cell(""), text_cell(std::string(kind.help))});
    for (const auto& attribute : kind.attributes)
      table.rows.push_back({{std::string(kind.name), "", Style::plain},
                            text_cell(std::string(attribute.name)),
                            text_cell(allowed_text(attribute)),
                            text_cell(attribute.required ? "required" : std::string(attribute.default_text)),
                            text_cell(std::string(attribute.help))});
  }
  return table;
}

std::string listed(const Json& texts) { return join(texts.get<std::vector<std::string>>(), ", "); }

Table layers_table(const Json& layers)
{
  Table table{"layers",
              {{"name", "layer"},
               {"kind", "kind"},
               {"attributes", "attributes", Align::left, 4},
               {"from", "from", Align::left, 3},
               {"inputs", "input", Align::right, 1},
               {"output", "output", Align::right},
               {"parameters", "parameters", Align::right},
               {"flops", "forward", Align::right, 2}},
              {},
              "none"};
  for (const auto& layer : layers) {
    const auto inputs = listed(layer.at("inputs"));
    std::string attributes;
    for (const auto& [name, value] : layer.at("attributes").items())
      attributes += (attributes.empty() ? "" : " ") + name + "=" + value.dump();
    table.rows.push_back({name_cell(layer.at("name").get<std::string>()),
                          text_cell(layer.at("kind")),
                          {layer.at("attributes"), attributes, Style::plain},
                          {layer.at("from"), listed(layer.at("from")), Style::plain},
                          {layer.at("inputs"), inputs, Style::plain},
                          text_cell(layer.at("output")),
                          count_of(layer.at("parameters")),
                          large_cell(layer.at("flops"), "FLOP")});
  }
  return table;
}

void show_memory(Context& context, const Json& memory)
{
  const auto bytes = [](const Json& value) { return Cell{value, large_cell(value.get<double>(), "B").text, Style::plain}; };
  context.out.field("batch", "batch", count_cell(memory.at("batch")));
  context.out.field("parameter_bytes", "weights and gradients", bytes(memory.at("parameter_bytes")));
  context.out.field("activation_bytes", "activations, scratch", bytes(memory.at("activation_bytes")));
  context.out.field("unshared_bytes", "without sharing", bytes(memory.at("unshared_bytes")));
}

// A refusal of the engine becomes a usage error, because the model comes from the command line.
Json described(const ModelsOptions& options)
{
  if (!contains(model_names(), options.model))
    throw Error(ErrorKind::usage, unknown_name("model", options.model, strings_of(model_names())));
  ModelQuestion question{.model = options.model, .batch = options.batch};
  if (!options.image.empty()) question.image = options.image;
  if (options.classes > 0) question.classes = options.classes;
  try {
    return ask_engine(question);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::recipe) throw Error(ErrorKind::usage, error.what());
    throw;
  }
}

ExitCode show_model(Context& context, const ModelsOptions& options)
{
  const auto model = described(options);
  context.out.field("model", "model", text_cell(model.at("model"), Style::strong));
  context.out.field("image", "images", text_cell(model.at("image")));
  context.out.field("classes", "classes", count_cell(model.at("classes")));
  context.out.table(layers_table(model.at("layers")));
  context.out.data("logits", model.at("logits"));
  context.out.data("auxiliary", model.at("auxiliary"));
  context.out.field("parameters", "parameters", count_cell(model.at("parameters")));
  context.out.field("weight_bytes", "weights",
                    {model.at("weight_bytes"), large_cell(model.at("weight_bytes"), "B").text, Style::plain});
  context.out.field("forward_flops", "forward, per sample", large_cell(model.at("forward_flops"), "FLOP"));
  context.out.field("step_flops", "training step, per sample", large_cell(model.at("step_flops"), "FLOP"));
  if (model.contains("memory")) show_memory(context, model.at("memory"));
  return ExitCode::ok;
}

ExitCode models(Context& context, const ModelsOptions& options)
{
  if (options.layers) {
    context.out.table(layer_kinds_table());
    return ExitCode::ok;
  }
  if (!options.model.empty()) return show_model(context, options);
  context.out.table(models_table());
  context.out.table(names_table("data", "data set", data_names()));
  return ExitCode::ok;
}

ExitCode strategies(Context& context)
{
  context.out.table(names_table("strategies", "strategy", strategy_names()));
  context.out.table(names_table("allreduces", "allreduce", allreduce_names()));
  context.out.table(names_table("optimizers", "optimizer", optimizer_names()));
  context.out.table(names_table("schedules", "schedule", schedule_names()));
  return ExitCode::ok;
}

} // namespace

void add_recipe_models(Commands& commands, Verb& family)
{
  auto options = std::make_shared<ModelsOptions>();
  auto& verb =
      commands.add_under(family,
                         {"models", family_verbs, "List networks and data sets for recipes, or the layers of one network.",
                          "With a name: every layer with its shapes, parameters and FLOPs.\n\n"
                          "Examples:\n  dtctl recipe models resnet50 --batch 16\n  dtctl recipe models --layers"},
                         [options](Context& context) { return models(context, *options); });
  auto* name = verb.add_option("NAME", options->model, "a model")->type_name("MODEL");
  const auto of_model = [&](Option* option) { option->needs(name); };
  of_model(verb.add_option("--image", options->image, "shape of the images; default: that of the model")->type_name("CxHxW"));
  of_model(verb.add_option("--classes", options->classes, "number of classes; default: that of the model")
               ->type_name("N")
               ->check(positive_number()));
  of_model(verb.add_option("--batch", options->batch, "also print the memory that training needs with this batch")
               ->type_name("N")
               ->check(positive_number()));
  verb.add_flag("--layers", options->layers, "list the layers for model.layers, with their attributes")->excludes(name);
}

void add_recipe_strategies(Commands& commands, Verb& family)
{
  commands.add_under(family,
                     {"strategies", family_verbs,
                      "List synchronisation strategies, allreduces, optimizers and schedules for recipes.",
                      "Example:\n  dtctl recipe strategies"},
                     strategies);
}

} // namespace dt::cli
