#include "cli/recipe_text/program_text.hpp"

#include "cli/recipe_text/yaml_scalar.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::cli {
namespace {

struct Interpreter {
  std::string_view extension, command;
};
constexpr std::array interpreters{Interpreter{".py", "python3"}, Interpreter{".sh", "bash"}, Interpreter{".jl", "julia"},
                                  Interpreter{".R", "Rscript"}};

constexpr std::string_view python_lines = R"(import dtctl_report as report

report.begin()                                # just before the first step
for step in range(steps):
    with report.phase("input"):               # also: forward, backward, communication, optimizer
        images, labels = next(batches)
    ...
    report.step(loss=loss.item(), samples=len(labels))    # on every rank, with its own samples
report.evaluation(accuracy=accuracy)          # from 0 to 1; as often as you evaluate
report.result()                               # at the end; without it the run has failed
)";

constexpr std::string_view c_lines = R"(#include <dtctl_report.h>      /* compile with -I"$DTCTL_INCLUDE" */

dtctl_report_begin(0);         /* just before the first step */
for (...) {
  ...
  dtctl_report_step(loss, samples);      /* on every rank, with its own samples */
}
dtctl_report_evaluation(accuracy, loss, samples);
dtctl_report_result();         /* at the end; without it the run has failed */
)";

std::string quoted_list(const std::vector<std::string>& words)
{
  std::vector<std::string> scalars;
  for (const auto& word : words) scalars.push_back(yaml_scalar(word));
  return fmt::format("[{}]", fmt::join(scalars, ", "));
}

void write_command(Text& text, const RecipeChoices& choices)
{
  text.gap();
  text.comment(
      "The program that each rank starts. Its files are copied when the study is submitted, and their content is part of "
      "the key of a run. Values reach it as arguments, such as \"{optimizer.learning_rate}\", and as environment "
      "variables, such as DTCTL_OPTIMIZER_LEARNING_RATE.");
  text.line("program:");
  text.line("command: " + quoted_list(choices.command), 2);
  text.comment("Files and folders that it needs, relative to this recipe.", 2);
  text.line("files: " + quoted_list({choices.program}), 2);
  text.comment(
      "Names and values of your own: \"{program.parameters.hidden}\", DTCTL_PROGRAM_PARAMETERS_HIDDEN. A sweep tries several: "
      "--over program.parameters.hidden=16,32.",
      2);
  text.line("# parameters: { hidden: 32 }", 2);
  text.comment(
      "For a program that does not report through dtctl_report: expressions that find the figures in what rank 0 prints. dtctl "
      "validate RECIPE --metrics OUTPUT shows what they find in a file of sample output.",
      2);
  text.line("# metrics: { step: 'step (\\d+)', loss: 'loss (\\S+)', samples: '(\\S+) images' }", 2);
}

} // namespace

void write_program(Text& text, const RecipeChoices& choices)
{
  write_command(text, choices);
  text.gap();
  text.comment("What dtctl and the program must know of the training. The program reads DTCTL_TRAIN_GLOBAL_BATCH and the like.");
  text.line("train:");
  if (choices.global_batch > 0) text.line(fmt::format("global_batch: {}", choices.global_batch), 2);
  if (choices.batch_per_rank > 0) text.line(fmt::format("batch_per_rank: {}", choices.batch_per_rank), 2);
  if (choices.global_batch + choices.batch_per_rank == 0)
    text.line(choices.study == StudyMode::weak ? "# batch_per_rank: 32" : "# global_batch: 128", 2);
  text.comment("First steps, which are left out of the throughput.", 2);
  text.line("warmup_steps: 5", 2);
  text.comment("dtctl results shows the time until the accuracy that the program reports first reaches this value.", 2);
  text.line("# target_accuracy: 0.9", 2);
}

bool is_python(std::string_view program) { return program.ends_with(".py"); }

// "import os, torch.nn as nn", "from torch import nn"
bool imports_torch(std::string_view text)
{
  constexpr std::array<std::string_view, 5> libraries{"torch", "lightning", "pytorch_lightning", "transformers", "accelerate"};
  const auto is_one = [&](std::string_view module) {
    const auto name = trim(module);
    return std::ranges::find(libraries, name.substr(0, name.find_first_of(". \t"))) != libraries.end();
  };
  constexpr std::string_view from = "from ", import = "import ";
  return std::ranges::any_of(split(std::string(text), '\n'), [&](const auto& line) {
    const std::string_view words = trim(line);
    if (words.starts_with(from)) return is_one(words.substr(from.size()));
    return words.starts_with(import) && std::ranges::any_of(split(std::string(words.substr(import.size())), ','), is_one);
  });
}

std::vector<std::string> command_for(const std::string& program, bool is_executable)
{
  const auto extension = std::filesystem::path(program).extension().string();
  const auto found = std::ranges::find(interpreters, extension, &Interpreter::extension);
  if (found != interpreters.end()) return {std::string(found->command), program};
  return is_executable ? std::vector{program} : std::vector<std::string>{};
}

std::optional<std::vector<std::string>> shell_words(std::string_view line)
{
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool is_blank = quote == 0 && (c == ' ' || c == '\t' || c == '\n');
    if (is_blank && word) words.push_back(*std::exchange(word, std::nullopt));
    if (is_blank) continue;
    if (!word) word.emplace();
    if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = 0;
    else if (c == '\\' && quote != '\'' && i + 1 < line.size())
      *word += line[++i];
    else
      *word += c;
  }
  if (word) words.push_back(*word);
  return quote == 0 ? std::optional(std::move(words)) : std::nullopt;
}

std::string report_lines(const RecipeChoices& choices)
{
  if (is_python(choices.program)) return std::string(python_lines);
  return choices.command.size() == 1 ? std::string(c_lines) : "";
}

} // namespace dt::cli
