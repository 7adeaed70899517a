#include "cli/checks/engine_model.hpp"

#include "core/files/paths.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"

namespace dt::cli {
namespace {

// The command "dtengine VERB" with the options that describe the network.
std::vector<std::string> words_for(const std::string& verb, const ModelQuestion& question)
{
  std::vector<std::string> words{engine_program().string(), verb, question.model};
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

// Runs dtengine and returns its output. Its own error messages become errors of the kind that its exit code indicates.
std::string answer_to(const std::vector<std::string>& words, const std::string& topic)
{
  const auto result = run_command(words);
  if (result.ok()) return result.out;
  const bool is_own = trim(result.err).starts_with("dtengine: ");
  if (is_own && result.exit_code == static_cast<int>(ExitCode::usage)) throw Error(ErrorKind::recipe, without_name(result.err));
  if (is_own && result.exit_code == static_cast<int>(ExitCode::environment))
    throw Error(ErrorKind::environment, without_name(result.err));
  throw EngineCannotRun(ErrorKind::environment, "asking dtengine for " + topic + " failed with exit code " +
                                                    std::to_string(result.exit_code) + ": " + shell_join(words) + "\n" +
                                                    std::string(trim(result.out + result.err)));
}

} // namespace

Json ask_engine(const ModelQuestion& question)
{
  auto words = words_for("model", question);
  words.push_back("--json");
  return Json::parse(answer_to(words, "a model"));
}

DataFacts ask_engine_of_data(const DataSpec& data, const std::filesystem::path& place)
{
  const auto said = Json::parse(answer_to({engine_program().string(), "data", "describe", data.name, "--folder", place.string(),
                                           "--image-size", std::to_string(data.image_size), "--json"},
                                          "a data set"));
  DataFacts facts{parse_image(said.at("image").get<std::string>()).value(), said.at("train_samples"), said.at("test_samples")};
  facts.shape.classes = said.at("classes");
  return facts;
}

void ask_engine_to_start(const ModelQuestion& model, const std::filesystem::path& file)
{
  auto words = words_for("start", model);
  words.insert(words.end(), {"--file", file.string()});
  answer_to(words, "a start");
}

} // namespace dt::cli
