#include "core/spec/spec_schema.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <unordered_map>

namespace dt {
namespace {

constexpr double big = 1e15;      // exact in a double, and larger than any sensible count
constexpr double int_max = 2.1e9; // limit of the integers that MPI and oneDNN use for counts
constexpr std::span<const Name> none{};

template<class Field> FieldRef ref_to(Field& field)
{
  if constexpr (std::is_constructible_v<ChoiceField, Field&>)
    return ChoiceField(field);
  else
    return &field;
}
#define DT_FIELD(member) [](RunSpec& s) -> FieldRef { return ref_to(s.member); }
constexpr bool yes = true, no = false;

using enum KeyType;
// Columns: path, type, unit, min, max, required, identity, choices, field, help, example.

std::vector<Key> document_keys()
{
  return {
      {"version", structure, "", 1, 1, yes, no, none, nullptr, "Version of the recipe format. Always 1."},
      {"name", text, "", 0, 0, no, no, none, DT_FIELD(name),
       "Name under which the results are listed. Default: the name of the file. Not inherited by `extends`.", "my-study"},
      {"description", text, "", 0, 0, no, no, none, DT_FIELD(description),
       "One line that describes the recipe. Not inherited by `extends`.", "LeNet on digits, 1 to 4 ranks"},
      {"extends", structure, "", 0, 0, no, no, none, nullptr,
       "Path of another recipe, relative to this one. This recipe overrides its keys.", "base.yaml"},
      {"profile", structure, "", 0, 0, no, no, none, nullptr,
       "Machine profile that supplies the resources. Default: the profile `default`, if there is one.", "cluster"},
      {"label", structure, "", 0, 0, no, no, none, nullptr,
       "Name of a point of the sweep in tables, legends and verdicts, with values of keys in braces, such as "
       "`\"{sync.strategy} lr {optimizer.learning_rate}\"`. The size is added. Default: the values that differ.",
       "{sync.strategy} lr {optimizer.learning_rate}"},
      {"engine", choice, "", 0, 0, no, yes, choice_names<Engine>(), DT_FIELD(engine),
       "The implementation that computes convolutions and inner products."},
  };
}

std::vector<Key> model_keys()
{
  return {
      {"model.name", choice, "", 0, 0, no, yes, model_names(), DT_FIELD(model.name),
       "Network to train. If `model.layers` describes the network: `custom`, or not given."},
      {"model.layers", text_list, "", 0, 0, no, yes, none, DT_FIELD(model.layers),
       "Layers of a custom network, from the images to one output per class.",
       R"([{"convolution": {"channels": 8, "kernel": 5}}, "relu", {"inner_product": {"outputs": "classes"}}])"},
      {"model.dropout", boolean, "", 0, 0, no, yes, none, DT_FIELD(model.dropout),
       "Whether dropout layers drop values in training. false: they pass all values."},
      {"model.batch_norm", choice, "", 0, 0, no, yes, choice_names<BatchNormSamples>(), DT_FIELD(model.batch_norm),
       "Samples over which batch normalisation computes mean and variance in training."},
  };
}

std::vector<Key> data_keys()
{
  return {
      {"data.name", choice, "", 0, 0, yes, yes, data_names(), DT_FIELD(data.name), "Data set."},
      {"data.path", text, "", 0, 0, no, no, none, DT_FIELD(data.path),
       "Folder of the data set, relative to the file that contains this key; for packed: its file. Default: <home>/data/<name>. "
       "A run is identified by the content, not by the path.",
       "../data/digits"},
      {"data.set", text, "", 0, 0, no, no, none, DT_FIELD(data.set),
       "Name of a packed set in <home>/data, as `dtctl data list` shows it. Only for packed, which needs `set` or `path`.",
       "photos"},
      {"data.train_samples", integer, "samples", 0, big, no, yes, none, DT_FIELD(data.train_samples),
       "Number of training samples to use, beginning with the first. 0: all (synthetic: 8192)."},
      {"data.test_samples", integer, "samples", 0, big, no, yes, none, DT_FIELD(data.test_samples),
       "Number of evaluation samples to use, beginning with the first. 0: all (synthetic: 1024)."},
      {"data.channels", integer, "", 1, 65536, no, yes, none, DT_FIELD(data.channels),
       "Channels of an image. Only for synthetic; the files of other data sets determine the shape."},
      {"data.height", integer, "pixels", 1, 65536, no, yes, none, DT_FIELD(data.height),
       "Height of an image. Only for synthetic."},
      {"data.width", integer, "pixels", 1, 65536, no, yes, none, DT_FIELD(data.width), "Width of an image. Only for synthetic."},
      {"data.classes", integer, "", 2, 1000000, no, yes, none, DT_FIELD(data.classes),
       "Number of classes. Only for synthetic; the files of other data sets determine it."},
      {"data.shuffle", boolean, "", 0, 0, no, yes, none, DT_FIELD(data.shuffle),
       "Whether each epoch visits the samples in a new order, drawn from train.seed."},
      {"data.prefetch_batches", integer, "batches", 0, 1024, no, yes, none, DT_FIELD(data.prefetch_batches),
       "Number of batches that background threads read ahead. 0: the training loop reads them itself."},
      {"data.order", choice, "", 0, 0, no, yes, choice_names<DataOrder>(), DT_FIELD(data.order),
       "Order in which the ranks read the samples of an epoch. Every sample is read once per epoch in each of them."},
      {"data.block_bytes", integer, "bytes", 1, 1e12, no, yes, none, DT_FIELD(data.block_bytes),
       "Size of the blocks of the orders blocks and file. A block has as many samples as fit on average, at least one."},
      {"data.direct_io", boolean, "", 0, 0, no, yes, none, DT_FIELD(data.direct_io),
       "Whether blocks are read past the page cache (O_DIRECT). Only for packed."},
      {"data.decode_threads", integer, "threads", 0, 256, no, yes, none, DT_FIELD(data.decode_threads),
       "Threads per rank that read and decode samples, each with a core of its own beside the compute threads. 0: one thread "
       "that shares the cores of the compute threads."},
      {"data.image_size", integer, "pixels", 0, 65536, no, yes, none, DT_FIELD(data.image_size),
       "Width and height of the images that the network gets. 0: the size that the images of the set have."},
      {"data.crop", choice, "", 0, 0, no, yes, choice_names<ImageCrop>(), DT_FIELD(data.crop),
       "Random part of each training image that is used. It depends on train.seed and the step only."},
      {"data.pad", integer, "pixels", 0, 1024, no, yes, none, DT_FIELD(data.pad),
       "Width of the black edges that `crop: pad` adds on each side."},
      {"data.flip", boolean, "", 0, 0, no, yes, none, DT_FIELD(data.flip),
       "Whether training images are mirrored horizontally with a probability of one half."},
      {"data.corrupt", choice, "", 0, 0, no, yes, choice_names<CorruptSamples>(), DT_FIELD(data.corrupt),
       "What a run does with a sample that cannot be decoded or has changed since it was packed. Only for packed."},
  };
}

std::vector<Key> program_keys()
{
  return {
      {"program.command", text_list, "", 0, 0, no, yes, none, DT_FIELD(program.command),
       "Program and arguments that every rank runs in place of dtengine. `{KEY}` stands for the value of a key of the recipe, "
       "e.g. `{optimizer.learning_rate}`; `{{` and `}}` for braces.",
       R"(["python3", "train.py", "--lr", "{optimizer.learning_rate}"])"},
      {"program.files", text_list, "", 0, 0, no, no, none, DT_FIELD(program.files),
       "Files and folders that the program needs, relative to the file that contains this key. A run is identified by their "
       "content.",
       R"(["train.py"])"},
      {"program.parameters", text_map, "", 0, 0, no, yes, none, DT_FIELD(program.parameters),
       "The program's own parameters and their values. Each can be a sweep's parameter: `program.parameters.NAME`.",
       R"({"width": 128})"},
      {"program.metrics", text_map, "", 0, 0, no, yes, none, DT_FIELD(program.metrics),
       "Map of figures to regular expressions over the lines that rank 0 prints, for a program that does not report by itself.",
       R"({"loss": "loss=([0-9.]+)$"})"},
      {"program.throughput", choice, "", 0, 0, no, yes, choice_names<PrintedThroughput>(), DT_FIELD(program.throughput),
       "Which of the throughputs that `program.metrics.throughput` finds is that of the run."},
      {"program.environment", text_list, "", 0, 0, no, no, none, DT_FIELD(program.environment),
       "Names of environment variables that the program gets and whose values are part of the run's identity.",
       R"(["OMP_PLACES"])"},
      {"program.identity", choice, "", 0, 0, no, no, choice_names<ProgramIdentity>(), DT_FIELD(program.identity),
       "What a run is identified by beside its command, its parameters and its data. After an upgrade of a Python package runs "
       "are new ones, unless this is `files`."},
      {"program.observe", choice, "", 0, 0, no, yes, choice_names<ProgramObservation>(), DT_FIELD(program.observe),
       "Whether dtctl observes an unchanged PyTorch program: steps, samples, loss, phases and communication."},
      {"program.samples", text, "", 0, 0, no, yes, none, DT_FIELD(program.samples),
       "Samples of a step, where dtctl cannot see them in the batches: a number (`64`: of each rank; `128 of all ranks`), or the "
       "dimension of the batches that holds them (`dimension 1`: the second one, of [length, batch]).",
       "dimension 1"},
      {"program.launch", choice, "", 0, 0, no, yes, choice_names<ProgramLaunch>(), DT_FIELD(program.launch),
       "What the command starts: every rank, or on each node a launcher that starts resources.ranks_per_node ranks itself."},
      {"program.sync", boolean, "", 0, 0, no, yes, none, DT_FIELD(program.sync),
       "The program trains with the module dtctl_sync, so the block `sync` holds for it. Set by itself where the recipe gives a "
       "key of "
       "`sync`."},
  };
}

std::vector<Key> train_keys()
{
  return {
      {"train.batch_per_rank", integer, "samples", 1, int_max, no, yes, none, DT_FIELD(train.batch_per_rank),
       "Samples per rank and step. Give this or `global_batch`.", "32"},
      {"train.global_batch", integer, "samples", 1, int_max, no, yes, none, DT_FIELD(train.global_batch),
       "Samples of all ranks per step; a multiple of the number of workers. Give this or `batch_per_rank`.", "128"},
      {"train.epochs", real, "epochs", 1e-6, 1e9, no, yes, none, DT_FIELD(train.epochs),
       "Number of passes over the training set. Give this or `steps`.", "3"},
      {"train.steps", integer, "steps", 1, big, no, yes, none, DT_FIELD(train.steps),
       "Number of optimizer steps. Give this or `epochs`.", "500"},
      {"train.warmup_steps", integer, "steps", 0, big, no, yes, none, DT_FIELD(train.warmup_steps),
       "Number of first steps that are excluded from throughput. They train like the others. At least one step must remain."},
      {"train.modelled_rate", real, "samples/s", 0, 1e9, no, yes, none, DT_FIELD(train.modelled_rate),
       "Speed of a modelled processor. Each rank trains its batch and then sleeps until a processor of this speed would have "
       "finished; a third of the modelled time is the forward pass. Ranks that sleep can share a core. Messages are sent as "
       "always. The rate must be lower than the real one. A simulated run computes at this rate. 0: nothing is modelled."},
      {"train.modelled_step_spread", real, "share", 0, 1, no, yes, none, DT_FIELD(train.modelled_step_spread),
       "Of a simulated run with `modelled_rate`: how much the computation of a rank scatters from step to step, as the standard "
       "deviation of the logarithm of its time (log-normal, median: that of `modelled_rate`). 5%: two thirds of the steps take "
       "0.95 "
       "to 1.05 times the median.",
       "5%"},
      {"train.modelled_node_spread", real, "share", 0, 1, no, yes, none, DT_FIELD(train.modelled_node_spread),
       "Of a simulated run with `modelled_rate`: how much nodes differ for the whole run, as the standard deviation of the "
       "logarithm "
       "of their median computation times.",
       "2%"},
      {"train.compute_profile", text, "", 0, 0, no, no, none, DT_FIELD(train.compute_profile),
       "Measured computation of a rank, for simulated runs: the name of a shipped profile, or the path of a file that "
       "`dtbench compute --profile --json` wrote, relative to the file that contains this key. Times are scaled to the run's "
       "batch, and to its threads as if all of them helped equally. A run is identified by the content of the file. Give this or "
       "`modelled_rate`.",
       "lenet"},
      {"train.seed", integer, "", 0, big, no, yes, none, DT_FIELD(train.seed),
       "Seed of the initial weights and of the order of samples."},
      {"train.eval_every_epochs", real, "epochs", 0, 1e9, no, yes, none, DT_FIELD(train.eval_every_epochs),
       "Epochs between two evaluations on the held-out set. 0: evaluate only at the end."},
      {"train.target_accuracy", real, "", 0, 1, no, yes, none, DT_FIELD(train.target_accuracy),
       "Held-out accuracy to reach. The run records when it is reached for the first time. 0: no target."},
      {"train.stop_at_target", boolean, "", 0, 0, no, yes, none, DT_FIELD(train.stop_at_target),
       "Whether the run stops when `target_accuracy` is reached."},
      {"train.checkpoint_every", duration, "s", 0, 1e9, no, no, none, DT_FIELD(train.checkpoint_every_s),
       "Time between two checkpoints. 0: the run writes one only when the scheduler stops the job (time limit, preemption).",
       "10m"},
      {"train.stall_after", duration, "s", 0, 1e9, no, no, none, DT_FIELD(train.stall_after_s),
       "If no step ends for this time, the run reports which ranks the others wait for and what every rank is doing. 0: never."},
      {"train.trace", boolean, "", 0, 0, no, no, none, DT_FIELD(train.trace),
       "Whether each rank records its phases, buckets and messages. `dtctl export --format trace` exports them."},
      {"train.precision", choice, "", 0, 0, no, yes, choice_names<Precision>(), DT_FIELD(train.precision),
       "Number format in which the layers compute. Weights and their updates are always fp32."},
      {"train.winograd", boolean, "", 0, 0, no, yes, none, DT_FIELD(train.winograd),
       "Whether 3x3 and 5x5 convolutions may use Winograd's algorithm where it is faster. In fp32 its rounding errors are a few "
       "times larger than those of direct sums. In bf16 only `algorithms: timed` and `fixed` use it; its products are fp32 "
       "there. false: direct sums."},
  };
}

// How the engine computes, and from which weights it starts.
std::vector<Key> train_computation_keys()
{
  return {
      {"train.algorithms", choice, "", 0, 0, no, yes, choice_names<AlgorithmChoice>(), DT_FIELD(train.algorithms),
       "Who chooses how each convolution is computed in each direction. timed: rank 0 times what there is, or takes what an "
       "earlier run on this machine has timed; all ranks take its choice. The choice is recorded with the run (algorithms.json), "
       "and later attempts of the run repeat it. Equal bits in different runs need equal choices: rules or fixed."},
      {"train.algorithms_from", text, "", 0, 0, no, no, none, DT_FIELD(train.algorithms_from),
       "The choices that `algorithms: fixed` repeats: the folder or the key of a run; `last`, the only run of the newest study "
       "that has recorded any; or the path of an algorithms.json, relative to the file that contains this key. A run is "
       "identified by the list in it, not by its path.",
       "last"},
      {"train.algorithm_list", text_list, "", 0, 0, no, yes, none, DT_FIELD(train.algorithm_list),
       "The choices that `algorithms: fixed` repeats, in place of `algorithms_from`, which fills this in: for each convolution "
       "one text with its name and its algorithms forward, backward to the data and backward to the weights, as in "
       "\"conv2 winograd direct direct\".",
       R"(["conv2 winograd direct direct"])"},
      {"train.accumulation", integer, "", 1, int_max, no, yes, none, DT_FIELD(train.accumulation),
       "Number of micro-batches into which the batch of a rank is split. They are computed one after the other, in the memory of "
       "one. Must divide the batch."},
      {"train.loss_scale", real, "", 1e-9, 1e9, no, yes, none, DT_FIELD(train.loss_scale),
       "Factor by which the loss is multiplied before the backward pass. The gradients are divided by it before the update. It "
       "prevents small gradients from becoming 0 in low precision."},
      {"train.label_smoothing", real, "", 0, 1, no, yes, none, DT_FIELD(train.label_smoothing),
       "Share of the target that is distributed evenly over all classes."},
      {"train.noise_scale", integer, "steps", 0, big, no, yes, none, DT_FIELD(train.noise_scale),
       "Steps from one measurement of the gradient noise scale to the next. That is the batch size at which a batch's mean "
       "gradient has as much noise as signal. Needs a strategy that sums gradients in every step, and at least two workers, "
       "whose gradients are compared with their mean; on one worker of dtengine, `accumulation` of at least 2. The weights do "
       "not depend on it. 0: not measured.",
       "10"},
      {"train.start_from", text, "", 0, 0, no, no, none, DT_FIELD(train.start_from),
       "Initial weights: the path of a checkpoint or of other weights (.safetensors, .npz), relative to the file that contains "
       "this "
       "key; the folder or the key of a run; or `last`, the only run of the newest study that has a checkpoint. The run begins "
       "at step 0. "
       "Default: weights drawn from train.seed. A run is identified by the content of the file, not by its path.",
       "last"},
      {"train.final_checkpoint", boolean, "", 0, 0, no, no, none, DT_FIELD(train.final_checkpoint),
       "Whether a checkpoint is written after the last step, and kept."},
  };
}

std::vector<Key> optimizer_keys()
{
  return {
      {"optimizer.name", choice, "", 0, 0, no, yes, optimizer_names(), DT_FIELD(optimizer.name),
       "Update rule. Any with sync-sgd, hsgd, local-sgd and diloco; momentum, nesterov or lars with async-msgd and async-measgd; "
       "sgd with the other strategies."},
      {"optimizer.learning_rate", real, "", 1e-12, 1e6, no, yes, none, DT_FIELD(optimizer.learning_rate),
       "Learning rate before schedule, warm-up and linear scaling."},
      {"optimizer.momentum", real, "", 0, 0.999999, no, yes, none, DT_FIELD(optimizer.momentum), "Momentum coefficient (mu)."},
      {"optimizer.weight_decay", real, "", 0, 1e3, no, yes, none, DT_FIELD(optimizer.weight_decay),
       "Weight decay (L2 penalty). This factor times the weight is added to the gradient; with adamw to the step, times the "
       "learning rate."},
      {"optimizer.decay_biases", boolean, "", 0, 0, no, yes, none, DT_FIELD(optimizer.decay_biases),
       "Whether `weight_decay` also applies to biases."},
      {"optimizer.decay_norms", boolean, "", 0, 0, no, yes, none, DT_FIELD(optimizer.decay_norms),
       "Whether `weight_decay` also applies to the scales and shifts of batch normalisation."},
      {"optimizer.clip_norm", real, "", 0, 1e15, no, yes, none, DT_FIELD(optimizer.clip_norm),
       "Maximum norm of the gradient over all parameters, averaged over all ranks. A longer gradient is scaled down to it. 0: no "
       "limit."},
      {"optimizer.trust", real, "", 1e-12, 1e6, no, yes, none, DT_FIELD(optimizer.trust),
       "Trust coefficient (lars). The learning rate of a tensor is multiplied by trust |w| / (|g| + weight_decay |w|)."},
      {"optimizer.beta1", real, "", 0, 0.999999, no, yes, none, DT_FIELD(optimizer.beta1),
       "Decay rate of the first moment (adam and adamw)."},
      {"optimizer.beta2", real, "", 0, 0.999999, no, yes, none, DT_FIELD(optimizer.beta2),
       "Decay rate of the second moment (adam and adamw)."},
      {"optimizer.epsilon", real, "", 1e-30, 1e6, no, yes, none, DT_FIELD(optimizer.epsilon),
       "Constant that is added to the square root of the second moment (adam and adamw)."},
      {"optimizer.schedule", choice, "", 0, 0, no, yes, schedule_names(), DT_FIELD(optimizer.schedule),
       "How the learning rate changes during the run."},
      {"optimizer.step_epochs", real, "epochs", 1e-9, 1e9, no, yes, none, DT_FIELD(optimizer.step_epochs),
       "Epochs between two reductions of the learning rate (schedule step)."},
      {"optimizer.step_factor", real, "", 0, 1, no, yes, none, DT_FIELD(optimizer.step_factor),
       "Factor of each reduction of the learning rate (schedule step)."},
      {"optimizer.polynomial_power", real, "", 0, 100, no, yes, none, DT_FIELD(optimizer.polynomial_power),
       "Exponent (schedule polynomial)."},
      {"optimizer.final_learning_rate", real, "", 0, 1e6, no, yes, none, DT_FIELD(optimizer.final_learning_rate),
       "Learning rate at the end (schedules polynomial and cosine)."},
      {"optimizer.warmup_epochs", real, "epochs", 0, 1e9, no, yes, none, DT_FIELD(optimizer.warmup_epochs),
       "Epochs at the start in which the learning rate increases linearly. 0: no warm-up."},
      {"optimizer.warmup_factor", real, "", 0, 1, no, yes, none, DT_FIELD(optimizer.warmup_factor),
       "Fraction of the learning rate at the beginning of the warm-up."},
      {"optimizer.linear_scaling", boolean, "", 0, 0, no, yes, none, DT_FIELD(optimizer.linear_scaling),
       "Whether the learning rate is multiplied by the number of workers."},
  };
}

std::vector<Key> sync_keys()
{
  return {
      {"sync.strategy", choice, "", 0, 0, no, yes, strategy_names(), DT_FIELD(sync.strategy), "Synchronisation strategy."},
      {"sync.allreduce", choice, "", 0, 0, no, yes, allreduce_names(), DT_FIELD(sync.allreduce),
       "Algorithm that sums vectors over the ranks."},
      {"sync.period", integer, "steps", 1, 1e9, no, yes, none, DT_FIELD(sync.period),
       "Steps between two exchanges of weights, tau (EASGD family, local-sgd and diloco, whose paper calls it H)."},
      {"sync.alpha", real, "", 0, 1, no, yes, none, DT_FIELD(sync.alpha),
       "Elastic rate of an exchange (EASGD family). Give this or `rho`. Default: 0.9 / number of workers.", "0.1"},
      {"sync.rho", real, "", 0, 1e6, no, yes, none, DT_FIELD(sync.rho),
       "Elastic strength (EASGD family). The elastic rate is learning rate x rho at every step.", "0.1"},
      {"sync.elastic", choice, "", 0, 0, no, yes, choice_names<ElasticForm>(), DT_FIELD(sync.elastic),
       "Whether the elastic term is evaluated before or after the local step (EASGD family)."},
      {"sync.pack", boolean, "", 0, 0, no, yes, none, DT_FIELD(sync.pack),
       "Whether all parameters are sent as one message. false: one message per tensor."},
      {"sync.bucket_bytes", integer, "bytes", 0, 1e12, no, yes, none, DT_FIELD(sync.bucket_bytes),
       "Approximate size of the buckets in which gradients are sent during the backward pass (progress poll and thread). 0: with "
       "the allreduce `dynamic` the size that it found best, with the others 4194304."},
      {"sync.progress", choice, "", 0, 0, no, yes, choice_names<ProgressMode>(), DT_FIELD(sync.progress),
       "Who advances messages while the ranks compute. If it is not given, sync-easgd with overlap 3 and diloco with an "
       "outer.delay use auto."},
      {"sync.wire", choice, "", 0, 0, no, yes, choice_names<Wire>(), DT_FIELD(sync.wire),
       "Number format of the messages of an allreduce. The allreduces `mpi` and `gloo` support float32 only. int8 and int4 are "
       "for "
       "diloco, and have a sum of their own in place of sync.allreduce."},
      {"sync.overlap", integer, "", 1, 3, no, yes, none, DT_FIELD(sync.overlap),
       "Form of sync-easgd. 1: exchange along a tree. 2: the weights stay with the compute device. 3: the exchange overlaps with "
       "the computation."},
      {"sync.servers", integer, "ranks", 0, 1e6, no, yes, none, DT_FIELD(sync.servers),
       "Number of parameter servers. Each is a rank that does not train and holds a part of the parameters. 0 (hogwild only): "
       "the workers of a node share one window in shared memory."},
      {"sync.server_placement", choice, "", 0, 0, no, yes, choice_names<ServerPlacement>(), DT_FIELD(sync.server_placement),
       "Which ranks are the parameter servers."},
      {"sync.server_threads", integer, "threads", 1, 1024, no, yes, none, DT_FIELD(sync.server_threads),
       "Threads per server that update its parameters without a lock, on the cores of its rank (hogwild)."},
      {"sync.node_period", integer, "steps", 1, 1e9, no, yes, none, DT_FIELD(sync.node_period),
       "Steps between two exchanges among nodes (hsgd). 1: the same result as sync-sgd."},
      {"sync.local_start", real, "epochs", 0, 1e9, no, yes, none, DT_FIELD(sync.local_start),
       "Epochs of sync-sgd before local steps begin (local-sgd). Above 0 this is post-local SGD."},
      {"sync.outer.rule", choice, "", 0, 0, no, yes, choice_names<OuterRule>(), DT_FIELD(sync.outer.rule),
       "Update rule of the outer parameters w (diloco). Its gradient d is the mean over the workers of w - (the worker's "
       "weights)."},
      {"sync.outer.learning_rate", real, "", 1e-12, 1e6, no, yes, none, DT_FIELD(sync.outer.learning_rate),
       "Learning rate of the outer rule (diloco). It is constant: schedules change the workers' rate only."},
      {"sync.outer.momentum", real, "", 0, 0.999999, no, yes, none, DT_FIELD(sync.outer.momentum),
       "Momentum coefficient mu of the outer rule (diloco, rules momentum and nesterov); with rule adam the decay rate of the "
       "first moment."},
      {"sync.outer.beta2", real, "", 0, 0.999999, no, yes, none, DT_FIELD(sync.outer.beta2),
       "Decay rate of the second moment (diloco, rule adam)."},
      {"sync.outer.epsilon", real, "", 1e-30, 1e6, no, yes, none, DT_FIELD(sync.outer.epsilon),
       "Constant that is added to the square root of the second moment (diloco, rule adam)."},
      {"sync.outer.fragments", integer, "fragments", 1, 1e6, no, yes, none, DT_FIELD(sync.outer.fragments),
       "Number of parts of the model that are exchanged in turn, each once in `sync.period` steps (diloco). 1: all at once. "
       "Above 1 this is Streaming DiLoCo."},
      {"sync.outer.delay", integer, "steps", 0, 1e9, no, yes, none, DT_FIELD(sync.outer.delay),
       "Steps after which the workers use the sum of a fragment (diloco). Above 0 the sum is made during the computation of "
       "these steps, a part in each, if `sync.progress` is poll or thread. It must be below `sync.period`."},
      {"sync.outer.mix", real, "", 0, 0.999999, no, yes, none, DT_FIELD(sync.outer.mix),
       "Share alpha of its own weights that a worker keeps after an exchange (diloco): weights <- alpha weights + (1 - alpha) "
       "outer parameters."},
      {"sync.topology", choice, "", 0, 0, no, yes, choice_names<TopologySource>(), DT_FIELD(sync.topology),
       "How the supernodes of the network are determined."},
      {"sync.transport", choice, "", 0, 0, no, yes, choice_names<SyncTransport>(), DT_FIELD(sync.transport),
       "By what the ranks of a program under dtctl_sync exchange. GPUs that can sum by NCCL do so with all of them."},
      {"sync.evaluate", choice, "", 0, 0, no, yes, choice_names<EvaluatedModel>(), DT_FIELD(sync.evaluate),
       "Which model is evaluated and compared with the target accuracy."},
  };
}

std::vector<Key> resources_keys()
{
  return {
      {"resources.nodes", integer, "nodes", 1, 1e6, no, yes, none, DT_FIELD(resources.nodes), "Number of nodes of the job."},
      {"resources.ranks_per_node", integer, "ranks", 1, 65536, no, yes, none, DT_FIELD(resources.ranks_per_node),
       "Number of MPI ranks per node."},
      {"resources.threads_per_rank", integer, "threads", 1, 65536, no, yes, none, DT_FIELD(resources.threads_per_rank),
       "Number of compute threads per rank. Each thread has a core of its own."},
      {"resources.time_limit", duration, "s", 1, 1e9, no, no, none, DT_FIELD(resources.time_limit_s),
       "Time after which the job is ended, with its unit (90s, 30m, 1h30m) or as Slurm writes it (HH:MM:SS, D-HH, D-HH:MM)."},
      {"resources.signal_ahead", duration, "s", 0, 1e6, no, no, none, DT_FIELD(resources.signal_ahead_s),
       "How long before the time limit the scheduler signals the run to write a checkpoint and to stop. 0: no signal. If this is "
       "not given, it is at most a quarter of the time limit.",
       "2m"},
      {"resources.when_idle", duration, "s", 0, 1e6, no, no, none, DT_FIELD(resources.when_idle_s),
       "Longest time for which a run waits in the queue until nothing else computes on the machine (local scheduler). Then it "
       "starts "
       "all the same, and its record says so (`when_idle`). 0: it does not wait.",
       "10m"},
      {"resources.requeue", integer, "", 0, 1000, no, no, none, DT_FIELD(resources.requeue),
       "How often a job is started again from its checkpoint after a preemption, its time limit or the loss of a node (slurm)."},
      {"resources.launch_tries", integer, "", 1, 100, no, no, none, DT_FIELD(resources.launch_tries),
       "Maximum number of launches of the ranks. A launch that ends before the first step is repeated, with its "
       "set-up lines."},
      {"resources.max_rpc_per_s", real, "1/s", 0, 1e6, no, no, none, DT_FIELD(resources.max_rpc_per_s),
       "Maximum rate of requests to the controller during a submission (slurm). 0: no limit."},
      {"resources.gpus_per_node", integer, "GPUs", 0, 1024, no, yes, none, DT_FIELD(resources.gpus_per_node),
       "GPUs that the job asks its scheduler for on each node (slurm: gres). If this is not given, each run asks for "
       "gpus_per_rank GPUs "
       "for each of its ranks on a node. Runs of dtengine ask for none.",
       "4"},
      {"resources.gpus_per_rank", integer, "GPUs", 0, 1024, no, yes, none, DT_FIELD(resources.gpus_per_rank),
       "GPUs that each rank sees (CUDA_VISIBLE_DEVICES). 0: every rank sees all GPUs of the job on its node."},
      {"resources.wrapper", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.wrapper),
       "Command that is put in front of the program of every rank: a container, numactl, perf.",
       R"(["numactl", "--localalloc"])"},
      {"resources.container.image", text, "", 0, 0, no, yes, none, DT_FIELD(resources.container.image),
       "Container image in which a program of your own runs: a file or a folder, or what the runtime pulls, e.g. "
       "`docker://nvcr.io/nvidia/pytorch:24.10-py3`. Empty: no container.",
       "docker://nvcr.io/nvidia/pytorch:24.10-py3"},
      {"resources.container.runtime", choice, "", 0, 0, no, yes, choice_names<ContainerRuntime>(),
       DT_FIELD(resources.container.runtime), "Program that starts the container on every rank."},
      {"resources.container.mounts", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.container.mounts),
       "Files and folders of the node that the container sees, as `SOURCE:TARGET` or `SOURCE:TARGET:ro`. The home of dtctl and "
       "the data set are there anyway, at the same paths.",
       R"(["/data:/data:ro"])"},
      {"resources.oversubscribe", boolean, "", 0, 0, no, yes, none, DT_FIELD(resources.oversubscribe),
       "Whether more threads than cores are allowed. Timings are then not meaningful."},
  };
}

// Where a run's job goes, and what its shell does before the ranks start.
std::vector<Key> resources_job_keys()
{
  return {
      {"resources.scheduler", choice, "", 0, 0, no, yes, scheduler_names(), DT_FIELD(resources.scheduler),
       "Scheduler that runs the jobs."},
      {"resources.launcher", choice, "", 0, 0, no, yes, launcher_names(), DT_FIELD(resources.launcher),
       "Program that starts the ranks."},
      {"resources.launcher_args", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.launcher_args),
       "Additional arguments of the launcher.", R"(["--mca", "btl_tcp_if_include", "ib0"])"},
      {"resources.platform", text, "", 0, 0, no, yes, none, DT_FIELD(resources.platform),
       "Machine on which the run is simulated instead of executed: a shipped platform (`dtctl recipe platforms`), the path of a "
       "file with a `platform:` block, or `custom` if the recipe or the profile has the block. Empty: the run is executed.",
       "ethernet-10g"},
      {"resources.hosts", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.hosts),
       "Names of the hosts on which mpirun starts the ranks, one per node (local scheduler). Empty: this machine only.",
       R"(["node01", "node02"])"},
      {"resources.nodelist", text, "", 0, 0, no, yes, none, DT_FIELD(resources.nodelist),
       "Node on which the run must take place: a node of the partition (slurm), or one of resources.hosts. `dtctl sweep "
       "--distribute` gives each run one. Empty: any.",
       "node07"},
      {"resources.exclude", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.exclude),
       "Nodes that no run uses, for example slow ones: nodes of the partition (slurm), or some of resources.hosts. Runs with and "
       "without them are different runs.",
       R"(["node13"])"},
      {"resources.nodes_per_supernode", integer, "nodes", 0, 1e6, no, yes, none, DT_FIELD(resources.nodes_per_supernode),
       "Number of consecutive nodes on one switch. Links between switches are slower. 0: unknown."},
      {"resources.partition", text, "", 0, 0, no, yes, none, DT_FIELD(resources.partition),
       "Partition of the cluster. The local scheduler ignores partition, account, qos and constraint.", "batch"},
      {"resources.account", text, "", 0, 0, no, no, none, DT_FIELD(resources.account), "Account that is charged.", "physics"},
      {"resources.qos", text, "", 0, 0, no, no, none, DT_FIELD(resources.qos), "Quality of service (QOS).", "normal"},
      {"resources.constraint", text, "", 0, 0, no, yes, none, DT_FIELD(resources.constraint),
       "Features that the nodes must have.", "skylake"},
      {"resources.setup_before", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.setup_before),
       "Shell commands that the job runs before it loads the modules, for example `module use FOLDER`.",
       R"(["module use /opt/modules"])"},
      {"resources.modules", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.modules),
       "Environment modules that the job loads.", R"(["openmpi/4.1"])"},
      {"resources.env", text_map, "", 0, 0, no, yes, none, DT_FIELD(resources.env), "Environment variables of the job.",
       R"({"OMP_WAIT_POLICY": "active"})"},
      {"resources.setup", text_list, "", 0, 0, no, yes, none, DT_FIELD(resources.setup),
       "Shell commands that the job runs after it has loaded the modules and before the ranks start.",
       R"(["ulimit -s unlimited"])"},
      {"resources.scheduler_args", text_list, "", 0, 0, no, no, none, DT_FIELD(resources.scheduler_args),
       "Additional arguments for the scheduler.", R"(["--reservation=team"])"},
  };
}

std::vector<Key> platform_keys()
{
  constexpr double least_rate = 1, largest_rate = 1e15; // bytes/s
  return {
      {"platform.nodes", integer, "nodes", 0, 1e6, no, yes, none, DT_FIELD(platform.nodes),
       "Number of nodes of the simulated machine. 0: no limit."},
      {"platform.ranks_per_node", integer, "ranks", 0, 65536, no, yes, none, DT_FIELD(platform.ranks_per_node),
       "Maximum number of ranks on a node of the simulated machine. 0: no limit."},
      {"platform.bandwidth", rate, "bytes/s", least_rate, largest_rate, no, yes, none, DT_FIELD(platform.bandwidth),
       "Bandwidth of the link between a node and its switch, in each direction.", "10 Gbit/s"},
      {"platform.latency", moment, "s", 0, 1, no, yes, none, DT_FIELD(platform.latency_s), "Latency from one node to another.",
       "50us"},
      {"platform.message_time", moment, "s", 0, 1, no, yes, none, DT_FIELD(platform.message_time_s),
       "Time that a rank is busy with each message that it sends or receives, besides latency and bandwidth.", "1.5us"},
      {"platform.nodes_per_supernode", integer, "nodes", 0, 1e6, no, yes, none, DT_FIELD(platform.nodes_per_supernode),
       "Number of consecutive nodes on one switch. 0: all nodes are on one switch. A simulated run takes it for "
       "resources.nodes_per_supernode too."},
      {"platform.trunk_share", real, "share", 1e-6, 1, no, yes, none, DT_FIELD(platform.trunk_share),
       "Bandwidth of the trunk from a supernode's switch to the others, as a share of the links of its nodes together. Written "
       "as 25% or 0.25.",
       "25%"},
      {"platform.trunk_latency", moment, "s", 0, 1, no, yes, none, DT_FIELD(platform.trunk_latency_s),
       "Latency that the trunks add between nodes of two supernodes.", "1us"},
      {"platform.memory_bandwidth", rate, "bytes/s", least_rate, largest_rate, no, yes, none, DT_FIELD(platform.memory_bandwidth),
       "Bandwidth at which one rank reads and writes memory: sums and updates take the time of their memory traffic.", "12 GB/s"},
  };
}

std::vector<Key> study_keys()
{
  return {
      {"study.mode", choice, "", 0, 0, no, no, choice_names<StudyMode>(), DT_FIELD(study.mode),
       "Kind of scaling study: what stays constant while the size grows."},
      {"study.ranks", integer_list, "ranks", 1, 1e6, no, no, none, DT_FIELD(study.ranks),
       "Sizes as numbers of ranks on resources.nodes nodes. Give this or `nodes`.", "[1, 2, 4]"},
      {"study.nodes", integer_list, "nodes", 1, 1e6, no, no, none, DT_FIELD(study.nodes),
       "Sizes as numbers of nodes with resources.ranks_per_node ranks each. Give this or `ranks`.", "[1, 2, 4]"},
      {"study.parts", integer_list, "parts", 1, 65536, no, no, none, DT_FIELD(study.parts),
       "With mode partition: the cores of a node (resources.ranks_per_node x resources.threads_per_rank) are divided into so "
       "many parts. Each part is one rank with its own weights and data; its threads are its share of the cores. A part's "
       "train.modelled_rate is its share, too.",
       "[1, 2, 4]"},
      {"study.repeats", integer, "", 1, 10000, no, no, none, DT_FIELD(study.repeats), "Number of runs per point."},
      {"study.order", choice, "", 0, 0, no, no, choice_names<StudyOrder>(), DT_FIELD(study.order),
       "Order of submission. If it is not given, a sweep without a study is submitted as listed."},
      {"study.seed", integer, "", 0, big, no, no, none, DT_FIELD(study.seed), "Seed of the random order."},
      {"study.vary_seed", boolean, "", 0, 0, no, no, none, DT_FIELD(study.vary_seed),
       "Whether repeat k trains with train.seed + k, so that the spread of the accuracy and of the time to the target is "
       "measured. "
       "All points of a study have the same seed in the same repeat. If it is not given: true if a run of the study has a "
       "`train.target_accuracy` or is evaluated while it trains (`train.eval_every_epochs` above 0; of your own program: an "
       "accuracy "
       "in `program.metrics`). false: a study that only measures throughput, one that is simulated, and one whose sweep varies "
       "`train.seed`."},
      {"study.layout", choice, "", 0, 0, no, no, choice_names<StudyLayout>(), DT_FIELD(study.layout),
       "separate: one job per run. ladder (slurm): all sizes run one after the other in one allocation of the largest size."},
      {"study.controls", integer, "", 0, 1000, no, no, none, DT_FIELD(study.controls),
       "Number of additional runs of the smallest size in a ladder, from its first place to its last. Their spread is the drift "
       "of the machine (A/A control)."},
      {"study.until.interval", real, "share", 0, 1, no, no, none, DT_FIELD(study.until.interval),
       "With `dtctl sweep --until-decided`: repeats continue until labels of a size are ranked or equivalent within this margin, "
       "and efficiencies are known this closely. Written as 3% or 0.03. 0: 3%.",
       "3%"},
      {"study.until.max_repeats", integer, "", 1, 10000, no, no, none, DT_FIELD(study.until.max_repeats),
       "With `dtctl sweep --until-decided`: most runs per point. The first comparison is after study.repeats runs, at least 3."},
      {"study.until.budget", real, "node-hours", 0, 1e9, no, no, none, DT_FIELD(study.until.budget_node_hours),
       "With `dtctl sweep --until-decided`: no more repeats begin when the study would need more than this. 0: no limit.",
       "2 node-hours"},
      {"study.until.metric", choice, "", 0, 0, no, no, race_metric_names(), DT_FIELD(study.until.metric),
       "With `dtctl sweep --until-decided`: what labels are compared by."},
      {"study.tune.keys", text_map, "", 0, 0, no, no, none, DT_FIELD(study.tune.keys),
       "Keys that are tuned for each point of the study on its own, before its points are compared, with their ranges: one or "
       "two "
       "numeric keys of `optimizer` or `sync`, or entries of `program.parameters`. A range is `from..to`, logarithmic if it is "
       "above 0, or `from..to linear`. Only the runs with the tuned values count as results: study.repeats of each point, with "
       "seeds that the tuning has not used.",
       R"({"optimizer.learning_rate": "0.001..1"})"},
      {"study.tune.runs", integer, "", 6, 10000, no, no, none, DT_FIELD(study.tune.runs),
       "Most runs that the search takes for a point; at least 12 for two keys. Points of a larger size begin at what was found "
       "at "
       "the size before and take two thirds of them."},
      {"study.tune.seeds", integer, "", 1, 100, no, no, none, DT_FIELD(study.tune.seeds),
       "Seeds of the settings next to the optimum, which the search repeats."},
      {"study.tune.metric", choice, "", 0, 0, no, no, tune_metric_names(), DT_FIELD(study.tune.metric),
       "What the settings of a point are compared by."},
      {"study.sensitivity", real, "share", 0, 0.5, no, no, none, DT_FIELD(study.sensitivity),
       "Of a simulated study: runs its smallest and its largest size also with each assumed figure lower and higher by this "
       "share, "
       "one figure at a time (bandwidths, latencies, message time, trunks, `train.modelled_rate` and its spreads). `dtctl "
       "results` "
       "prints the range beside the result as assumed. 0: no such runs.",
       "20%"},
  };
}

std::vector<Key> sweep_keys()
{
  return {
      {"sweep.matrix", structure, "", 0, 0, no, no, none, nullptr,
       "Map of keys to lists of values. Every combination is one point. A range in a list, such as `0.001..1 log 4`, stands for "
       "its values.",
       R"({"sync.strategy": ["sync-sgd", "sync-easgd"]})"},
      {"sweep.zip", structure, "", 0, 0, no, no, none, nullptr,
       "Map of keys to lists of equal length. The first values are one point, the second values the next, and so on.",
       R"({"train.global_batch": [64, 128], "optimizer.learning_rate": [0.01, 0.02]})"},
      {"sweep.include", structure, "", 0, 0, no, no, none, nullptr,
       "List of maps of keys to values. Each map is one additional point.", R"([{"optimizer.learning_rate": 0.5}])"},
      {"sweep.exclude", structure, "", 0, 0, no, no, none, nullptr,
       "List of conditions. Runs that meet one of them are left out.",
       R"(["train.global_batch>=128 optimizer.learning_rate<0.02"])"},
  };
}

#undef DT_FIELD

// In the order of the reference.
std::vector<Key> make_keys()
{
  std::vector<Key> all;
  for (const auto keys_of_block :
       {document_keys, model_keys, data_keys, program_keys, train_keys, train_computation_keys, optimizer_keys, sync_keys,
        resources_keys, resources_job_keys, platform_keys, study_keys, sweep_keys}) {
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

template<class Type> const Type& typed(const FieldValue& value, const Key& key)
{
  const auto* found = std::get_if<Type>(&value);
  if (found == nullptr) throw Error(ErrorKind::internal, "value of another type for key " + std::string(key.path));
  return *found;
}

struct FieldReader {
  FieldValue operator()(const ChoiceField& field) const { return std::string(field.word()); }
  template<class Type> FieldValue operator()(const Type* field) const { return *field; }
};

struct FieldWriter {
  const Key& key;
  const FieldValue& value;

  void operator()(const ChoiceField& field) const
  {
    const auto& word = typed<std::string>(value, key);
    const bool is_allowed = word.empty() || contains(key.choices, word); // empty: an optional choice that was not made
    if (!is_allowed || !field.set_word(word))
      throw Error(ErrorKind::environment, "`" + std::string(key.path) + "` is `" + printable(word) +
                                              "`, which this dtctl does not know; it knows " +
                                              join(strings_of(key.choices), ", "));
  }
  template<class Type> void operator()(Type* field) const { *field = typed<Type>(value, key); }
};

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

bool names_content(const Key& key)
{
  return key.path == "data.path" || key.path == "data.set" || key.path == "program.files" || key.path == "train.start_from" ||
         key.path == "train.algorithms_from" || key.path == "train.compute_profile";
}

FieldValue value_of(const RunSpec& spec, const Key& key)
{
  // The accessors return mutable pointers because writers use them too; this function only reads.
  return std::visit(FieldReader{}, key.field(const_cast<RunSpec&>(spec)));
}

void set_value(RunSpec& spec, const Key& key, const FieldValue& value) { std::visit(FieldWriter{key, value}, key.field(spec)); }

FieldValue default_of(const Key& key)
{
  static const RunSpec defaults;
  return value_of(defaults, key);
}

bool has_default(const Key& key)
{
  constexpr std::array<std::string_view, 3> decided_by_others{"study.order", "study.vary_seed", "sync.progress"};
  if (key.field == nullptr || key.required || std::ranges::find(decided_by_others, key.path) != decided_by_others.end())
    return false;
  const auto value = default_of(key);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number) >= key.min;
  if (const auto* number = std::get_if<double>(&value)) return *number >= key.min;
  return !to_text(value).empty();
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
  case KeyType::integer:
    return "integer";
  case KeyType::real:
    return "number";
  case KeyType::boolean:
    return "boolean";
  case KeyType::text:
    return "text";
  case KeyType::choice:
    return "choice";
  case KeyType::duration:
    return "duration";
  case KeyType::rate:
    return "rate";
  case KeyType::moment:
    return "time";
  case KeyType::integer_list:
    return "list of integers";
  case KeyType::text_list:
    return "list of texts";
  case KeyType::text_map:
    return "map of texts";
  case KeyType::structure:
    return "structure";
  }
  return "structure";
}

} // namespace dt
