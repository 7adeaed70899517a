#include "cli/engine_model.hpp"

#include "core/paths.hpp"
#include "core/process.hpp"
#include "core/text.hpp"

#include <set>

namespace dt::cli {
namespace {

std::vector<std::string> command_of(const ModelQuestion& question)
{
  std::vector<std::string> words{engine_program().string(), "model", question.model, "--json"};
  const auto add = [&](const std::string& option, const std::string& value) { words.insert(words.end(), {option, value}); };
  for (const auto& layer : question.layers) add("--layer", layer);
  if (question.image) add("--image", *question.image);
  if (question.classes) add("--classes", std::to_string(*question.classes));
  if (question.batch > 0) add("--batch", std::to_string(question.batch));
  return words;
}

std::string without_name(std::string_view said)
{
  constexpr std::string_view name = "dtengine: ";
  said = trim(said);
  return std::string(said.starts_with(name) ? said.substr(name.size()) : said);
}

// Nothing for a data set whose shape is not known.
std::optional<ModelQuestion> question_of(const RunSpec& run)
{
  const auto input = input_shape_of(run.data);
  if (!input) return std::nullopt;
  return ModelQuestion{run.model.name, run.model.layers, image_text(*input), input->classes};
}

} // namespace

Json ask_engine(const ModelQuestion& question)
{
  const auto words = command_of(question);
  const auto result = run_command(words);
  if (result.ok()) return Json::parse(result.out);
  if (result.exit_code == static_cast<int>(ExitCode::usage)) throw Error(ErrorKind::recipe, without_name(result.err));
  throw Error(ErrorKind::environment, "asking the training engine for a model failed with exit code " +
                                          std::to_string(result.exit_code) + ": " + shell_join(words) + "\n" +
                                          std::string(trim(result.out + result.err)));
}

void check_models(Context& context, const recipes::Plan& plan)
{
  engine_program(); // a missing engine is an error
  std::set<ModelQuestion> asked;
  std::vector<recipes::Diagnostic> refused;
  for (const auto& run : plan.runs) {
    const auto question = question_of(run);
    if (!question || !asked.insert(*question).second) continue;
    try {
      ask_engine(*question);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::recipe)
        return context.messages.warn("whether models fit their images was not checked: {}", error.what());
      refused.push_back({plan.path, 0, 0, error.what()});
    }
  }
  if (!refused.empty()) throw recipes::RecipeError(std::move(refused));
}

} // namespace dt::cli
