#include "core/spec_schema.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <unordered_map>

namespace dt {
namespace {

constexpr double big = 1e15;       // exact in a double, far beyond any sensible count
constexpr double int_max = 2.1e9;  // what MPI and oneDNN count with
constexpr std::span<const Name> none{};

#define DT_FIELD(member) [](RunSpec& s) -> FieldRef { return &s.member; }
constexpr bool yes = true, no = false;

using enum KeyType;
// Of each key: path, type, unit, min, max, required, identity, choices, field, help.

std::vector<Key> document_keys()
{
  return {
      {"version", structure, "", 1, 1, yes, no, none, nullptr, "version of the recipe format; 1"},
      {"name", text, "", 0, 0, no, no, none, DT_FIELD(name), "what the results are listed under; the file's name when left out; not inherited by `extends`"},
      {"description", text, "", 0, 0, no, no, none, DT_FIELD(description), "a line for the reader; not inherited by `extends`"},
      {"extends", structure, "", 0, 0, no, no, none, nullptr, "another recipe, relative to this one, whose keys this one overrides"},
      {"profile", structure, "", 0, 0, no, no, none, nullptr, "the machine profile that supplies resources; `default` when there is one"},
      {"engine", choice, "", 0, 0, no, yes, engine_names(), DT_FIELD(engine), "what convolutions and inner products are computed by"},
  };
}

std::vector<Key> model_keys()
{
  return {
      {"model.name", choice, "", 0, 0, no, yes, model_names(), DT_FIELD(model.name), "the network; custom, or left out, where `layers` describe it"},
      {"model.layers", text_list, "", 0, 0, no, yes, none, DT_FIELD(model.layers), "a network of its own: its layers from the images to one output a class"},
      {"model.dropout", boolean, "", 0, 0, no, yes, none, DT_FIELD(model.dropout), "false: the model's dropout layers pass everything, in training too"},
      {"model.batch_norm", choice, "", 0, 0, no, yes, batch_norm_names(), DT_FIELD(model.batch_norm), "over which samples batch normalisation takes mean and variance in training"},
  };
}

std::vector<Key> data_keys()
{
  return {
      {"data.name", choice, "", 0, 0, yes, yes, data_names(), DT_FIELD(data.name), "the data set"},
      {"data.path", text, "", 0, 0, no, no, none, DT_FIELD(data.path), "its folder, relative to the file this stands in; <home>/data/<name> when left out. The content makes the run, not the place"},
      {"data.train_samples", integer, "samples", 0, big, no, yes, none, DT_FIELD(data.train_samples), "use the first so many for training; 0: all (synthetic: 8192)"},
      {"data.test_samples", integer, "samples", 0, big, no, yes, none, DT_FIELD(data.test_samples), "use the first so many for evaluation; 0: all (synthetic: 1024)"},
      {"data.channels", integer, "", 1, 65536, no, yes, none, DT_FIELD(data.channels), "synthetic only: channels of an image; other data sets have images of the shape that their files say"},
      {"data.height", integer, "pixels", 1, 65536, no, yes, none, DT_FIELD(data.height), "synthetic only: height of an image"},
      {"data.width", integer, "pixels", 1, 65536, no, yes, none, DT_FIELD(data.width), "synthetic only: width of an image"},
      {"data.classes", integer, "", 2, 1000000, no, yes, none, DT_FIELD(data.classes), "synthetic only: number of classes; other data sets have as many as their files say"},
      {"data.shuffle", boolean, "", 0, 0, no, yes, none, DT_FIELD(data.shuffle), "a new order of the samples every epoch, drawn from train.seed"},
      {"data.prefetch_batches", integer, "batches", 0, 1024, no, yes, none, DT_FIELD(data.prefetch_batches), "batches read ahead by a background thread; 0: read in the loop"},
  };
}

std::vector<Key> train_keys()
{
  return {
      {"train.batch_per_rank", integer, "samples", 1, int_max, no, yes, none, DT_FIELD(train.batch_per_rank), "samples of one rank in one step; give this or global_batch"},
      {"train.global_batch", integer, "samples", 1, int_max, no, yes, none, DT_FIELD(train.global_batch), "samples of all ranks in one step, a multiple of the ranks; give this or batch_per_rank"},
      {"train.epochs", real, "epochs", 1e-6, 1e9, no, yes, none, DT_FIELD(train.epochs), "passes over the training set; give this or steps"},
      {"train.steps", integer, "steps", 1, big, no, yes, none, DT_FIELD(train.steps), "optimizer steps; give this or epochs"},
      {"train.warmup_steps", integer, "steps", 0, big, no, yes, none, DT_FIELD(train.warmup_steps), "first steps left out of throughput (they train all the same); must leave at least one step"},
      {"train.seed", integer, "", 0, big, no, yes, none, DT_FIELD(train.seed), "seed of weights and sample order"},
      {"train.eval_every_epochs", real, "epochs", 0, 1e9, no, yes, none, DT_FIELD(train.eval_every_epochs), "evaluate on the held-out set so often; 0: only at the end"},
      {"train.target_accuracy", real, "", 0, 1, no, yes, none, DT_FIELD(train.target_accuracy), "held-out accuracy whose first reaching is timed; 0: none"},
      {"train.stop_at_target", boolean, "", 0, 0, no, yes, none, DT_FIELD(train.stop_at_target), "stop when target_accuracy is reached"},
      {"train.checkpoint_every", duration, "s", 0, 1e9, no, no, none, DT_FIELD(train.checkpoint_every_s), "write a checkpoint so often; 0: only when the job is told to stop (time limit, preemption)"},
      {"train.stall_after", duration, "s", 0, 1e9, no, no, none, DT_FIELD(train.stall_after_s), "when no step has come to its end for so long, tell which ranks the others wait for, and what all were doing; 0: never"},
      {"train.trace", boolean, "", 0, 0, no, no, none, DT_FIELD(train.trace), "record each rank's phases, buckets and messages; draw them with `dtctl trace`"},
      {"train.precision", choice, "", 0, 0, no, yes, precision_names(), DT_FIELD(train.precision), "what the layers compute in; weights and their updates are fp32"},
      {"train.winograd", boolean, "", 0, 0, no, yes, none, DT_FIELD(train.winograd), "fp32: 3x3 convolutions by Winograd's algorithm where that is faster, with rounding errors a few times as large; false: all sums directly"},
      {"train.accumulation", integer, "", 1, int_max, no, yes, none, DT_FIELD(train.accumulation), "micro-batches into which a rank's batch is split, computed one after another in the memory of one; must divide the batch"},
      {"train.loss_scale", real, "", 1e-9, 1e9, no, yes, none, DT_FIELD(train.loss_scale), "gradients are computed of so many times the loss, and divided by it again before they are used; keeps small ones from vanishing in low precision"},
      {"train.label_smoothing", real, "", 0, 1, no, yes, none, DT_FIELD(train.label_smoothing), "share of the target that is spread evenly over all classes"},
      {"train.start_from", text, "", 0, 0, no, no, none, DT_FIELD(train.start_from), "the run begins at step 0 with the weights of this checkpoint (.h5) or archive (.npz), relative to the file this stands in, or with those of the run of this folder or key, or of `last`, the only run of the newest study that has left a checkpoint; not given: weights drawn from train.seed. The content makes the run, not the place"},
      {"train.final_checkpoint", boolean, "", 0, 0, no, no, none, DT_FIELD(train.final_checkpoint), "write a checkpoint after the last step too, and keep it"},
  };
}

std::vector<Key> optimizer_keys()
{
  return {
      {"optimizer.name", choice, "", 0, 0, no, yes, optimizer_names(), DT_FIELD(optimizer.name), "the update rule: any with sync-sgd, hsgd and local-sgd; momentum, nesterov or lars with async-msgd and async-measgd; sgd with the other strategies"},
      {"optimizer.learning_rate", real, "", 1e-12, 1e6, no, yes, none, DT_FIELD(optimizer.learning_rate), "learning rate before schedule, warm-up and scaling"},
      {"optimizer.momentum", real, "", 0, 0.999999, no, yes, none, DT_FIELD(optimizer.momentum), "mu of the momentum rule"},
      {"optimizer.weight_decay", real, "", 0, 1e3, no, yes, none, DT_FIELD(optimizer.weight_decay), "L2 penalty: so many times the weight is added to the gradient"},
      {"optimizer.decay_biases", boolean, "", 0, 0, no, yes, none, DT_FIELD(optimizer.decay_biases), "whether weight_decay applies to biases too"},
      {"optimizer.decay_norms", boolean, "", 0, 0, no, yes, none, DT_FIELD(optimizer.decay_norms), "whether weight_decay applies to the scales and shifts of batch normalisation too"},
      {"optimizer.clip_norm", real, "", 0, 1e15, no, yes, none, DT_FIELD(optimizer.clip_norm), "longest gradient, over all parameters and averaged over all ranks: a longer one is shortened to it; 0: none is"},
      {"optimizer.trust", real, "", 1e-12, 1e6, no, yes, none, DT_FIELD(optimizer.trust), "lars: trust coefficient; a tensor's learning rate is that times |w| / (|g| + weight_decay |w|)"},
      {"optimizer.beta1", real, "", 0, 0.999999, no, yes, none, DT_FIELD(optimizer.beta1), "adam: the running mean of gradients keeps so much of itself a step"},
      {"optimizer.beta2", real, "", 0, 0.999999, no, yes, none, DT_FIELD(optimizer.beta2), "adam: the running mean of squared gradients keeps so much of itself a step"},
      {"optimizer.epsilon", real, "", 1e-30, 1e6, no, yes, none, DT_FIELD(optimizer.epsilon), "adam: added to the root of the running mean of squares"},
      {"optimizer.schedule", choice, "", 0, 0, no, yes, schedule_names(), DT_FIELD(optimizer.schedule), "how the learning rate changes over the run"},
      {"optimizer.step_epochs", real, "epochs", 1e-9, 1e9, no, yes, none, DT_FIELD(optimizer.step_epochs), "schedule step: epochs between two reductions"},
      {"optimizer.step_factor", real, "", 0, 1, no, yes, none, DT_FIELD(optimizer.step_factor), "schedule step: factor of one reduction"},
      {"optimizer.polynomial_power", real, "", 0, 100, no, yes, none, DT_FIELD(optimizer.polynomial_power), "schedule polynomial: the power"},
      {"optimizer.final_learning_rate", real, "", 0, 1e6, no, yes, none, DT_FIELD(optimizer.final_learning_rate), "schedules polynomial and cosine: rate at the end"},
      {"optimizer.warmup_epochs", real, "epochs", 0, 1e9, no, yes, none, DT_FIELD(optimizer.warmup_epochs), "learning-rate warm-up: linear over so many epochs"},
      {"optimizer.warmup_factor", real, "", 0, 1, no, yes, none, DT_FIELD(optimizer.warmup_factor), "learning-rate warm-up starts at this fraction of the rate"},
      {"optimizer.linear_scaling", boolean, "", 0, 0, no, yes, none, DT_FIELD(optimizer.linear_scaling), "multiply the learning rate by the number of ranks"},
  };
}

std::vector<Key> sync_keys()
{
  return {
      {"sync.strategy", choice, "", 0, 0, no, yes, strategy_names(), DT_FIELD(sync.strategy), "how the ranks keep in step"},
      {"sync.allreduce", choice, "", 0, 0, no, yes, allreduce_names(), DT_FIELD(sync.allreduce), "the algorithm that sums over ranks"},
      {"sync.period", integer, "steps", 1, 1e9, no, yes, none, DT_FIELD(sync.period), "tau: steps from one exchange of weights to the next (EASGD family, local-sgd)"},
      {"sync.alpha", real, "", 0, 1, no, yes, none, DT_FIELD(sync.alpha), "EASGD family: elastic rate of an exchange; give this or rho; not given: 0.9 / workers"},
      {"sync.rho", real, "", 0, 1e6, no, yes, none, DT_FIELD(sync.rho), "EASGD family: elastic strength; the elastic rate is learning rate x rho at every step"},
      {"sync.elastic", choice, "", 0, 0, no, yes, elastic_forms(), DT_FIELD(sync.elastic), "EASGD family: whether the elastic term is evaluated before or after the local step"},
      {"sync.pack", boolean, "", 0, 0, no, yes, none, DT_FIELD(sync.pack), "send all parameters as one message; false: one message a tensor"},
      {"sync.bucket_bytes", integer, "bytes", 0, 1e12, no, yes, none, DT_FIELD(sync.bucket_bytes), "with progress poll or thread: gradients are sent in buckets of about so many bytes, as the backward pass makes them; 0: what the allreduce `dynamic` found best, 4194304 with the others"},
      {"sync.progress", choice, "", 0, 0, no, yes, progress_names(), DT_FIELD(sync.progress), "who moves messages on while the ranks compute; not given: auto for sync-easgd with overlap 3"},
      {"sync.wire", choice, "", 0, 0, no, yes, wire_names(), DT_FIELD(sync.wire), "number format of an allreduce's messages (own algorithms)"},
      {"sync.overlap", integer, "", 1, 3, no, yes, none, DT_FIELD(sync.overlap), "sync-easgd: 1 tree exchange, 2 weights stay with the compute device, 3 exchange beside the computation"},
      {"sync.servers", integer, "ranks", 0, 1e6, no, yes, none, DT_FIELD(sync.servers), "parameter servers: dedicated ranks, each with its part of the parameters; 0 (hogwild only): one window in the shared memory of a node"},
      {"sync.server_placement", choice, "", 0, 0, no, yes, server_placements(), DT_FIELD(sync.server_placement), "which ranks are the parameter servers"},
      {"sync.server_threads", integer, "threads", 1, 1024, no, yes, none, DT_FIELD(sync.server_threads), "hogwild: threads of one server that update its parameters without a lock, on the cores of its rank"},
      {"sync.node_period", integer, "steps", 1, 1e9, no, yes, none, DT_FIELD(sync.node_period), "hsgd: steps from one exchange between nodes to the next; 1: the result of sync-sgd"},
      {"sync.local_start", real, "epochs", 0, 1e9, no, yes, none, DT_FIELD(sync.local_start), "local-sgd: train so long as sync-sgd before the period begins (post-local SGD)"},
      {"sync.topology", choice, "", 0, 0, no, yes, topology_names(), DT_FIELD(sync.topology), "where the network's supernodes are known from"},
      {"sync.evaluate", choice, "", 0, 0, no, yes, evaluated_models(), DT_FIELD(sync.evaluate), "the model that is evaluated and that reaches the target"},
  };
}

std::vector<Key> resources_keys()
{
  return {
      {"resources.nodes", integer, "nodes", 1, 1e6, no, yes, none, DT_FIELD(resources.nodes), "nodes of the job"},
      {"resources.ranks_per_node", integer, "ranks", 1, 65536, no, yes, none, DT_FIELD(resources.ranks_per_node), "MPI ranks on each node"},
      {"resources.threads_per_rank", integer, "threads", 1, 65536, no, yes, none, DT_FIELD(resources.threads_per_rank), "compute threads of each rank, each on a core of its own"},
      {"resources.time_limit", duration, "s", 1, 1e9, no, no, none, DT_FIELD(resources.time_limit_s), "the job is ended after this time: seconds, 1h30m or HH:MM:SS"},
      {"resources.signal_ahead", duration, "s", 0, 1e6, no, no, none, DT_FIELD(resources.signal_ahead_s), "so long before the time limit the run is told to write a checkpoint and to stop; 0: it is not told; not given: no more than a quarter of the time limit"},
      {"resources.requeue", integer, "", 0, 1000, no, no, none, DT_FIELD(resources.requeue), "slurm: how often a job that was preempted, reached its time limit or lost a node is started again, going on from its checkpoint"},
      {"resources.launch_tries", integer, "", 1, 100, no, no, none, DT_FIELD(resources.launch_tries), "a launch that dies before the first step is tried so often in all"},
      {"resources.max_rpc_per_s", real, "1/s", 0, 1e6, no, no, none, DT_FIELD(resources.max_rpc_per_s), "slurm: most requests a second to the controller while submitting; 0: as fast as it answers"},
      {"resources.oversubscribe", boolean, "", 0, 0, no, yes, none, DT_FIELD(resources.oversubscribe), "allow more threads than cores (timings then mean little)"},
      {"resources.scheduler", choice, "", 0, 0, no, yes, scheduler_names(), DT_FIELD(resources.scheduler), "who runs the jobs"},
      {"resources.launcher", choice, "", 0, 0, no, yes, launcher_names(), DT_FIELD(resources.launcher), "who starts the ranks"},
      {"resources.launcher_args", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.launcher_args), "extra arguments of the launcher"},
      {"resources.hosts", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.hosts), "local scheduler: host names on which mpirun starts the ranks, one a node; none: this machine only"},
      {"resources.nodes_per_supernode", integer, "nodes", 0, 1e6, no, yes, none, DT_FIELD(resources.nodes_per_supernode), "so many consecutive nodes hang on one switch, with slower links between switches; 0: not told"},
      {"resources.partition", text, "", 0, 0, no, yes, none, DT_FIELD(resources.partition), "partition of the cluster (ignored by the local scheduler, as the three below)"},
      {"resources.account", text, "", 0, 0, no, no, none, DT_FIELD(resources.account), "account that is charged"},
      {"resources.qos", text, "", 0, 0, no, no, none, DT_FIELD(resources.qos), "quality of service"},
      {"resources.constraint", text, "", 0, 0, no, yes, none, DT_FIELD(resources.constraint), "features the nodes must have"},
      {"resources.modules", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.modules), "environment modules to load in the job"},
      {"resources.env", text_map, "", 0, 0, no, yes, none, DT_FIELD(resources.env), "environment variables of the job"},
      {"resources.setup", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.setup), "shell lines run in the job before the ranks start"},
      {"resources.scheduler_args", text_list, "", 0, 0, no, no, none, DT_FIELD(resources.scheduler_args), "extra arguments for the scheduler"},
  };
}

std::vector<Key> study_keys()
{
  return {
      {"study.mode", choice, "", 0, 0, no, no, study_modes(), DT_FIELD(study.mode), "a scaling study: what stays while the size grows"},
      {"study.ranks", integer_list, "ranks", 1, 1e6, no, no, none, DT_FIELD(study.ranks), "sizes as ranks on resources.nodes nodes; give this or nodes"},
      {"study.nodes", integer_list, "nodes", 1, 1e6, no, no, none, DT_FIELD(study.nodes), "sizes as nodes of resources.ranks_per_node ranks; give this or ranks"},
      {"study.repeats", integer, "", 1, 10000, no, no, none, DT_FIELD(study.repeats), "runs of every point"},
      {"study.order", choice, "", 0, 0, no, no, study_orders(), DT_FIELD(study.order), "order of submission; a sweep without study is submitted as listed unless this is given"},
      {"study.seed", integer, "", 0, big, no, no, none, DT_FIELD(study.seed), "seed of the random order"},
      {"study.vary_seed", boolean, "", 0, 0, no, no, none, DT_FIELD(study.vary_seed), "repeat k trains with train.seed + k, to see the spread of the accuracy"},
      {"study.layout", choice, "", 0, 0, no, no, study_layouts(), DT_FIELD(study.layout), "separate: a job for each run; ladder (slurm): all sizes one after the other in one allocation of the largest"},
      {"study.controls", integer, "", 0, 1000, no, no, none, DT_FIELD(study.controls), "ladder: further runs of the smallest size, spread from its first place to its last; their spread is the machine's drift (A/A control)"},
  };
}

std::vector<Key> sweep_keys()
{
  return {
      {"sweep.matrix", structure, "", 0, 0, no, no, none, nullptr, "key: [values]: every combination"},
      {"sweep.zip", structure, "", 0, 0, no, no, none, nullptr, "key: [values], all of one length: first with first, second with second"},
      {"sweep.include", structure, "", 0, 0, no, no, none, nullptr, "list of key: value maps: further points"},
      {"sweep.exclude", structure, "", 0, 0, no, no, none, nullptr, "list of conditions: runs to leave out"},
  };
}

#undef DT_FIELD

// In the order in which they are documented.
std::vector<Key> make_keys()
{
  std::vector<Key> all;
  for (const auto keys_of_block : {document_keys, model_keys, data_keys, train_keys, optimizer_keys, sync_keys, resources_keys,
                                   study_keys, sweep_keys}) {
    const auto keys = keys_of_block();
    all.insert(all.end(), keys.begin(), keys.end());
  }
  return all;
}

const std::vector<Key>& keys()
{
  static const std::vector<Key> table = make_keys();
  return table;
}

} // namespace

std::span<const Key> spec_keys() { return keys(); }

const Key* find_key(std::string_view path)
{
  static const auto index = [] {
    std::unordered_map<std::string_view, const Key*> map;
    for (const auto& key : keys()) map.emplace(key.path, &key);
    return map;
  }();
  const auto found = index.find(path);
  return found == index.end() ? nullptr : found->second;
}

bool names_content(const Key& key) { return key.path == "data.path" || key.path == "train.start_from"; }

FieldValue value_of(const RunSpec& spec, const Key& key)
{
  // The table's accessors serve readers and writers; nothing is written through this one.
  return std::visit([](auto* field) -> FieldValue { return *field; }, key.field(const_cast<RunSpec&>(spec)));
}

void set_value(RunSpec& spec, const Key& key, const FieldValue& value)
{
  std::visit(
      [&](auto* field) {
        using Type = std::remove_pointer_t<decltype(field)>;
        const auto* typed = std::get_if<Type>(&value);
        if (typed == nullptr) throw Error(ErrorKind::internal, "value of another type for key " + std::string(key.path));
        *field = *typed;
      },
      key.field(spec));
}

FieldValue default_of(const Key& key)
{
  static const RunSpec defaults;
  return value_of(defaults, key);
}

std::string to_text(const FieldValue& value)
{
  struct Printer {
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return format_shortest(v); }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const std::vector<std::string>& v) const { return join(v, ", "); }
    std::string operator()(const std::vector<std::int64_t>& v) const
    {
      std::vector<std::string> parts;
      for (const auto element : v) parts.push_back(std::to_string(element));
      return join(parts, ", ");
    }
    std::string operator()(const std::map<std::string, std::string>& v) const
    {
      std::vector<std::string> parts;
      for (const auto& [name, content] : v) parts.push_back(name + "=" + content);
      return join(parts, ", ");
    }
  };
  return std::visit(Printer{}, value);
}

std::string_view name_of(KeyType type)
{
  switch (type) {
  case KeyType::integer: return "integer";
  case KeyType::real: return "number";
  case KeyType::boolean: return "boolean";
  case KeyType::text: return "text";
  case KeyType::choice: return "choice";
  case KeyType::duration: return "duration";
  case KeyType::integer_list: return "list of integers";
  case KeyType::text_list: return "list of texts";
  case KeyType::text_map: return "map of texts";
  case KeyType::structure: return "structure";
  }
  return "structure";
}

} // namespace dt
