// RunSpec: one run, resolved. A recipe becomes plain structs once; below that nobody sees YAML, JSON or flags.
//
// The initial values here are the defaults of the keys; core/spec_schema.cpp holds one row a key with its help and range.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dt {

struct ModelSpec {
  std::string name;                 // of model_names()
  std::vector<std::string> layers;  // of model "custom": a canonical line a layer
  bool dropout = true;              // false: dropout layers pass everything
  std::string batch_norm = "local"; // of batch_norm_names()
};

struct DataSpec {
  std::string name;               // of data_names()
  std::string path;               // folder; empty: <home>/data/<name>
  std::int64_t train_samples = 0; // use only the first so many; 0: all (synthetic: 8192)
  std::int64_t test_samples = 0;  // likewise (synthetic: 1024)
  std::int64_t channels = 1;      // synthetic only, as the three below
  std::int64_t height = 28;
  std::int64_t width = 28;
  std::int64_t classes = 10;
  bool shuffle = true;
  std::int64_t prefetch_batches = 2; // batches read ahead by a background thread; 0: read in the loop
};

struct TrainSpec {
  std::int64_t batch_per_rank = 0; // exactly one of these two is given
  std::int64_t global_batch = 0;
  double epochs = 0; // exactly one of these two is given
  std::int64_t steps = 0;
  std::int64_t warmup_steps = 5; // run, counted, left out of throughput
  std::int64_t seed = 1;
  double eval_every_epochs = 1; // 0: only at the end
  double target_accuracy = 0;   // 0: none
  bool stop_at_target = false;
  std::int64_t checkpoint_every_s = 0; // 0: only when the job is told to stop
  std::int64_t stall_after_s = 60;     // without a step: tell who is missing; 0: never
  bool trace = false;                  // record each rank's phases, buckets and messages
  std::string precision = "fp32";      // of precision_names()
  bool winograd = true;                // 3x3 convolutions in fp32 by Winograd's algorithm where it is faster
  std::int64_t accumulation = 1;       // micro-batches of a rank's batch, computed one after another
  double loss_scale = 1;               // gradients are computed of so many times the loss, and divided by it in the update
  double label_smoothing = 0;          // share of the target that is spread over all classes
  std::string start_from;              // a checkpoint whose weights the run begins with; empty: weights from the seed
  bool final_checkpoint = false;       // write one after the last step too
};

struct OptimizerSpec {
  std::string name = "momentum"; // of optimizer_names()
  double learning_rate = 0.01;
  double momentum = 0.9;
  double weight_decay = 0;
  bool decay_biases = false; // whether weight decay applies to biases,
  bool decay_norms = false;  // and to batch norm's scales and shifts
  double clip_norm = 0;      // longest gradient of all parameters together; 0: any
  double trust = 1e-3;       // lars: the layers' share of the learning rate
  double beta1 = 0.9;        // adam: decay of the mean of gradients a step,
  double beta2 = 0.999;      // and of the mean of their squares
  double epsilon = 1e-8;     // adam: added to the root of the latter
  std::string schedule = "constant"; // of schedule_names()
  double step_epochs = 10;
  double step_factor = 0.1;
  double polynomial_power = 2;
  double final_learning_rate = 0;
  double warmup_epochs = 0; // linear from warmup_factor x rate to the rate
  double warmup_factor = 0.1;
  bool linear_scaling = false; // learning rate x ranks
};

struct SyncSpec {
  std::string strategy = "sync-sgd"; // of strategy_names()
  std::string allreduce = "mpi";     // of allreduce_names()
  std::int64_t period = 1;           // tau: steps from one exchange of weights to the next
  double alpha = 0;                  // elastic rate of every exchange; a recipe that gives neither has 0.9 / workers
  double rho = 0;                    // elastic strength: alpha = learning rate x rho at every step; 0: alpha holds
  std::string elastic = "paper";     // of elastic_forms()
  bool pack = true;                  // one message for all parameters; false: one a tensor
  std::int64_t bucket_bytes = 0;     // with overlap: gradients are sent as soon as so many are there; 0: the allreduce's choice, or 4 MiB
  std::string progress = "none";     // of progress_names(); a recipe that gives none has auto for sync-easgd with overlap 3
  std::string wire = "float32";      // of wire_names()
  std::int64_t overlap = 3;          // sync-easgd: form 1, 2 or 3 of the paper
  std::int64_t servers = 1;          // dedicated ranks of the strategies with a parameter server
  std::string server_placement = "last"; // of server_placements()
  std::int64_t server_threads = 2;   // hogwild: threads of one server that update without a lock
  std::int64_t node_period = 1;      // hsgd: steps from one exchange between nodes to the next
  double local_start = 0;            // local-sgd: epochs of sync-sgd before
  std::string topology = "hosts";    // of topology_names()
  std::string evaluate = "auto";     // of evaluated_models()
};

// Whether the strategy of that name has dedicated server ranks.
bool has_servers(const std::string& strategy);
// Whether it is of the EASGD family: workers are pulled to a centre, and the centre to them.
bool is_elastic(const std::string& strategy);

// Whether it is the form of sync-easgd whose exchange runs while the gradients are computed.
bool exchanges_beside_computation(const SyncSpec& sync);

struct ResourcesSpec {
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  std::int64_t threads_per_rank = 1;
  std::int64_t time_limit_s = 3600;
  std::int64_t signal_ahead_s = 60;  // before the time limit: write a checkpoint and stop; 0: no warning
  std::int64_t requeue = 0;          // times that a preempted, interrupted or timed-out job is started again by itself
  std::int64_t launch_tries = 3;     // a launch that dies before its first step is tried again
  double max_rpc_per_s = 0;          // submissions to the scheduler; 0: as fast as it answers
  bool oversubscribe = false; // more ranks x threads than cores are allowed
  std::string scheduler = "local";
  std::string launcher = "mpirun";
  std::vector<std::string> launcher_args; // put before the program
  std::vector<std::string> hosts;         // where mpirun starts ranks without a cluster's scheduler; none: this machine
  std::int64_t nodes_per_supernode = 0;   // consecutive nodes behind one switch; 0: not told
  std::string partition, account, qos, constraint;
  std::vector<std::string> modules;       // `module load` each
  std::map<std::string, std::string> env; // exported in the job
  std::vector<std::string> setup;         // shell lines run before the launch
  std::vector<std::string> scheduler_args;
};

struct StudySpec {
  std::string mode; // of study_modes(); empty: no study
  std::vector<std::int64_t> ranks; // sizes: exactly one of these two
  std::vector<std::int64_t> nodes;
  std::int64_t repeats = 1;
  std::string order = "random"; // of study_orders()
  std::int64_t seed = 1;
  bool vary_seed = false; // repeat k trains with train.seed + k
  std::string layout = "separate"; // of study_layouts()
  std::int64_t controls = 2;       // ladder: runs of the smallest size from its first to its last place, for drift (A/A)
};

struct RunSpec {
  std::string name;        // the recipe's name
  std::string description;
  std::string label;       // what its sweep varies: "learning_rate=0.1 momentum=0.9"; empty without a sweep
  std::int64_t repeat = 0; // 0, 1, … : the same work done again
  bool control = false;    // an A/A control of its study; the study's matter (study.json), not the run's (spec.json)
  std::string engine = "onednn"; // of engine_names()
  ModelSpec model;
  DataSpec data;
  TrainSpec train;
  OptimizerSpec optimizer;
  SyncSpec sync;
  ResourcesSpec resources;
  StudySpec study;

  std::int64_t ranks() const { return resources.nodes * resources.ranks_per_node; }
  // Ranks that serve parameters, and ranks that train.
  std::int64_t servers() const { return has_servers(sync.strategy) ? sync.servers : 0; }
  std::int64_t workers() const { return ranks() - servers(); }
  // Threads of a rank that move messages on while others compute, each on a core of its own.
  std::int64_t progress_threads() const { return sync.progress == "thread" ? 1 : 0; }
  std::int64_t cores_per_rank() const { return resources.threads_per_rank + progress_threads(); }
  std::int64_t cores() const { return ranks() * cores_per_rank(); }
  std::int64_t cores_per_node() const { return resources.ranks_per_node * cores_per_rank(); }
  // Samples of all workers in one step.
  std::int64_t effective_global_batch() const { return train.global_batch > 0 ? train.global_batch : train.batch_per_rank * workers(); }
  std::int64_t effective_batch_per_rank() const { return train.batch_per_rank > 0 ? train.batch_per_rank : train.global_batch / workers(); }
};

} // namespace dt
