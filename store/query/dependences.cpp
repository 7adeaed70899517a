#include "store/query/dependences.hpp"

#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "store/query/key_list.hpp"

namespace dt::store {
namespace {

using Facts = std::map<std::string, std::string>;

std::string fact(const Facts& facts, const std::string& name, const std::string& otherwise = {})
{
  const auto found = facts.find(name);
  return found == facts.end() ? otherwise : found->second;
}

// With the values of all nodes where they differ.
std::string of_nodes(const Facts& facts, const std::string& name, const std::string& otherwise)
{
  return fact(facts, name + "_by_node", fact(facts, name, otherwise));
}

std::string python_environment(const Facts& facts)
{
  const auto id = fact(facts, "python_environment");
  if (id.empty() || id.starts_with("unknown")) return id;
  std::vector<std::string> parts{fact(facts, "python")};
  for (const auto& [name, words] : {std::pair{"torch", "torch "}, {"cuda", "CUDA "}, {"cudnn", "cuDNN "}, {"nccl", "NCCL "}})
    if (const auto version = fact(facts, name); !version.empty()) parts.push_back(words + version);
  const auto packages = fact(facts, "packages");
  parts.push_back(packages.substr(0, packages.find(',')) + " packages");
  const auto others = fact(facts, "python_environment_by_node");
  return join(parts, ", ") + " (" + short_key(id) + ")" + (others.empty() ? "" : ", other nodes have others: " + others);
}

// A run whose program's facts could not be read has those of the processor alone.
Dependences dependences(const Facts& facts)
{
  const auto environment = python_environment(facts), file = fact(facts, "program_file");
  const bool is_recorded = !environment.empty() || !file.empty();
  const std::string none = is_recorded ? "none" : "not recorded";
  return {{"Python environments", environment.empty() ? none : environment},
          {"programs", file.empty() ? none : file + " (" + short_key(fact(facts, "program_hash", "not read")) + ")"},
          {"GPUs", of_nodes(facts, "node_gpus", none)},
          {"GPU drivers", of_nodes(facts, "nvidia_driver", none)},
          {"git states", fact(facts, "git_state", none)}};
}

} // namespace

const std::vector<std::string>& dependence_names()
{
  static const std::vector<std::string> names{"Python environments", "programs", "GPUs", "GPU drivers", "git states"};
  return names;
}

std::map<std::string, Dependences> dependences_of(Connection& connection, const std::vector<std::string>& keys)
{
  auto statement =
      connection.statement("SELECT runs.key, environment.name, environment.value FROM json_each(?) AS wanted JOIN runs ON "
                           "runs.key = wanted.value JOIN environment ON environment.run_id = runs.id WHERE "
                           "runs.program_command NOT IN ('', '[]')");
  statement.bind(json_list(keys));
  std::map<std::string, Facts> facts;
  while (statement.next()) facts[statement.text(0)][statement.text(1)] = statement.text(2);
  std::map<std::string, Dependences> found;
  for (const auto& [key, of_run] : facts) found[key] = dependences(of_run);
  return found;
}

} // namespace dt::store
