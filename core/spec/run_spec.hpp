// RunSpec: the complete description of one run in plain structs. The recipe reader makes it once; other code never sees YAML,
// JSON or flags.
//
// The initial values here are the defaults of the recipe keys; core/spec/spec_schema.cpp has one row per key with its help and
// range.
#pragma once

#include "core/spec/choices.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt {

struct ModelSpec {
  std::string name;                // one of model_names()
  std::vector<std::string> layers; // of model "custom": one canonical line per layer
  bool dropout = true;             // false: dropout layers pass all values
  BatchNormSamples batch_norm = BatchNormSamples::local;
};

struct DataSpec {
  std::string name;               // one of data_names()
  std::string path;               // folder of its files; empty: <home>/data/<name>
  std::int64_t train_samples = 0; // number of samples to use, from the first; 0: all (synthetic: 8192)
  std::int64_t test_samples = 0;  // number of samples to use, from the first; 0: all (synthetic: 1024)
  std::int64_t channels = 1;      // only for synthetic data, as are height, width and classes
  std::int64_t height = 28;
  std::int64_t width = 28;
  std::int64_t classes = 10;
  bool shuffle = true;
  std::int64_t prefetch_batches = 2; // batches that background threads read ahead; 0: the training loop reads them
  std::string set;                   // packed: name of a set in <home>/data; empty: `path` is the set's file
  DataOrder order = DataOrder::automatic;
  std::int64_t block_bytes = std::int64_t{8} << 20; // size of the blocks of `order: blocks` and `file`
  bool direct_io = false;                           // packed: read blocks past the page cache (O_DIRECT)
  std::int64_t decode_threads = 0;  // threads per rank, each with a core, that decode; 0: one thread without a core of its own
  std::int64_t image_size = 0;      // side in pixels of the square images that the model gets; 0: as the set has them
  ImageCrop crop = ImageCrop::none; // of training images
  std::int64_t pad = 4;             // crop pad: pixels added at each edge
  bool flip = false;                // mirror every second training image, by chance
  CorruptSamples corrupt = CorruptSamples::refuse;
};

// The user's own program, which runs in place of dtengine.
struct ProgramSpec {
  std::vector<std::string> command;                       // program and arguments of every rank; empty: dtengine runs
  std::vector<std::string> files;                         // files and folders whose content is part of the run's identity
  std::map<std::string, std::string> parameters;          // the program's own parameters: name -> value
  std::map<std::string, std::string> metrics;             // figure -> regular expression over the program's output
  PrintedThroughput throughput = PrintedThroughput::mean; // which of the throughputs that metrics finds is the run's
  std::vector<std::string> environment;                   // names of variables whose values are part of the run's identity
  ProgramIdentity identity = ProgramIdentity::environment;
  ProgramObservation observe = ProgramObservation::automatic; // whether its steps are seen from outside
  std::string samples; // of a step, where its batches do not tell: "64", "128 of all ranks", "dimension 1"; empty: they tell
  ProgramLaunch launch = ProgramLaunch::per_rank;
  bool sync = false; // it trains with dtctl_sync (engine/bindings): the block `sync` holds for it
};

// Training samples of the data set `synthetic` for train_samples 0.
inline constexpr std::int64_t synthetic_train_samples = 8192;

// The forward pass's part of a pass that is modelled by a rate (train.modelled_rate).
inline constexpr double modelled_forward_share = 1.0 / 3;

struct TrainSpec {
  std::int64_t batch_per_rank = 0; // exactly one of batch_per_rank and global_batch is given
  std::int64_t global_batch = 0;
  double epochs = 0; // exactly one of epochs and steps is given
  std::int64_t steps = 0;
  double modelled_rate = 0; // samples/s of a rank whose computation is modelled; 0: it takes the time it takes
  // How much the computation of a simulated run at modelled_rate scatters: the standard deviations of two normal numbers that are
  // added to ln(computation time), one drawn for each step of a rank, one for each node.
  double modelled_step_spread = 0, modelled_node_spread = 0;
  std::string compute_profile;   // of a simulated run: name of a shipped compute profile, or path of one; empty: modelled_rate
  std::int64_t warmup_steps = 5; // these steps train and are counted, but are left out of the throughput
  std::int64_t seed = 1;
  double eval_every_epochs = 1; // 0: evaluate only at the end
  double target_accuracy = 0;   // 0: no target
  bool stop_at_target = false;
  std::int64_t checkpoint_every_s = 0; // 0: only when the scheduler stops the job
  std::int64_t stall_after_s = 60;     // after so long without a step, report which ranks are missing; 0: never
  bool trace = false;                  // record each rank's phases, buckets and messages
  Precision precision = Precision::fp32;
  bool winograd = true; // compute 3x3 and 5x5 convolutions by Winograd's algorithm where it is faster
  AlgorithmChoice algorithms = AlgorithmChoice::timed;
  std::string algorithms_from;             // fixed: file with the list; its content is in algorithm_list once a run is planned
  std::vector<std::string> algorithm_list; // fixed: a line per convolution (algorithm_lines in core/spec/algorithms.hpp)
  std::int64_t accumulation = 1;           // number of micro-batches of a rank's batch, computed one after another
  double loss_scale = 1; // the loss is multiplied by this factor for the backward pass; the update divides the gradients by it
  double label_smoothing = 0;    // share of the target probability that is spread over all classes
  std::string start_from;        // checkpoint with the initial weights; empty: weights drawn from the seed
  std::int64_t noise_scale = 0;  // steps from one look at the gradient noise scale to the next; 0: not measured
  bool final_checkpoint = false; // write a checkpoint after the last step too
};

struct OptimizerSpec {
  std::string name = "momentum"; // one of optimizer_names()
  double learning_rate = 0.01;
  double momentum = 0.9;
  double weight_decay = 0;
  bool decay_biases = false;         // apply weight decay to biases too
  bool decay_norms = false;          // apply weight decay to batch norm's scales and shifts too
  double clip_norm = 0;              // maximum norm of the gradient over all parameters; 0: no limit
  double trust = 1e-3;               // lars: trust coefficient
  double beta1 = 0.9;                // adam, adamw: decay rate of the running mean of gradients
  double beta2 = 0.999;              // adam, adamw: decay rate of the running mean of squared gradients
  double epsilon = 1e-8;             // adam, adamw: added to the root of the mean of squared gradients
  std::string schedule = "constant"; // one of schedule_names()
  double step_epochs = 10;
  double step_factor = 0.1;
  double polynomial_power = 2;
  double final_learning_rate = 0;
  double warmup_epochs = 0; // the rate grows linearly from warmup_factor x learning_rate
  double warmup_factor = 0.1;
  bool linear_scaling = false; // multiply the learning rate by the number of ranks
};

// diloco: how the outer parameters, at which all workers begin, follow the mean of what the workers have done since (the
// pseudo-gradient d).
struct OuterSpec {
  OuterRule rule = OuterRule::nesterov;
  double learning_rate = 0.7;
  double momentum = 0.9;      // momentum, nesterov: of the velocity; adam: decay rate of the running mean
  double beta2 = 0.999;       // adam: decay rate of the running mean of squares
  double epsilon = 1e-8;      // adam: added to the root of the mean of squares
  std::int64_t fragments = 1; // parts of the model that are exchanged in turn
  std::int64_t delay = 0;     // steps from the end of a fragment's period to the use of its sum
  double mix = 0;             // share of a worker's own weights that it keeps when it takes the outer parameters
};

struct SyncSpec {
  std::string strategy = "sync-sgd"; // one of strategy_names()
  std::string allreduce = "mpi";     // one of allreduce_names()
  std::int64_t period = 1;           // tau: steps between two exchanges of weights
  double alpha = 0;                  // elastic rate of every exchange; if the recipe gives neither alpha nor rho: 0.9 / workers
  double rho = 0;                    // elastic strength: alpha = learning rate x rho at every step; 0: alpha is constant
  ElasticForm elastic = ElasticForm::paper;
  bool pack = true; // send all parameters as one message; false: one message per tensor
  // With overlap: size of a bucket; a bucket of gradients is sent as soon as it is full. 0: the allreduce's choice, or 4 MiB.
  std::int64_t bucket_bytes = 0;
  ProgressMode progress = ProgressMode::none; // if not given: auto for sync-easgd with overlap 3
  Wire wire = Wire::float32;
  std::int64_t overlap = 3; // sync-easgd: form 1, 2 or 3 of the paper
  std::int64_t servers = 1; // dedicated ranks of the strategies with a parameter server
  ServerPlacement server_placement = ServerPlacement::last;
  std::int64_t server_threads = 2; // hogwild: threads of one server that update without a lock
  std::int64_t node_period = 1;    // hsgd: steps between two exchanges between nodes
  double local_start = 0;          // local-sgd: epochs of sync-sgd at the start
  OuterSpec outer{};               // diloco
  TopologySource topology = TopologySource::hosts;
  SyncTransport transport = SyncTransport::automatic; // of a program under dtctl_sync
  EvaluatedModel evaluate = EvaluatedModel::automatic;
};

// Numbers of a block that share one scale, with sync.wire int8 and int4.
inline constexpr std::size_t coded_block = 256;
// Whether numbers are sent as whole numbers of 8 or 4 bits with a scale for each block. Their sum is an exchange of its own,
// which sync.allreduce does not choose.
bool is_coded(Wire wire);
// Bytes of a number as it is sent, with its part of the scale.
double bytes_per_number(Wire wire);

// Number of buffers as large as the weights that the outer rule keeps between exchanges.
std::int64_t outer_buffers(OuterRule rule);

// Whether the strategy uses dedicated server ranks.
bool has_servers(const std::string& strategy);
// Whether the strategy belongs to the EASGD family: workers and a centre pull each other together.
bool is_elastic(const std::string& strategy);

// Whether exchanges of weights run while gradients are computed: sync-easgd with overlap 3, and diloco with a delay.
bool exchanges_beside_computation(const SyncSpec& sync);

// The container in which the ranks of a program of the user run.
struct ContainerSpec {
  std::string image; // file, folder, or name in a registry; empty: no container
  ContainerRuntime runtime = ContainerRuntime::apptainer;
  std::vector<std::string> mounts; // "SOURCE:TARGET" or "SOURCE:TARGET:ro", beside those that dtctl needs
};

struct ResourcesSpec {
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  std::int64_t threads_per_rank = 1;
  std::int64_t time_limit_s = 3600;
  std::int64_t signal_ahead_s = 60; // seconds before the time limit at which the run writes a checkpoint and stops; 0: no warning
  std::int64_t requeue = 0;         // how often a preempted, interrupted or timed-out job is started again
  std::int64_t when_idle_s = 0;     // longest wait for a machine on which nothing else computes; 0: none (local scheduler)
  std::int64_t launch_tries = 3;    // total number of launches; a launch that dies before its first step is repeated
  double max_rpc_per_s = 0;         // maximum rate of submissions to the scheduler; 0: no limit
  std::int64_t gpus_per_node = 0;   // GPUs that the job asks for on each node
  std::int64_t gpus_per_rank = 0;   // GPUs that each rank sees; 0: every rank sees all of its node's
  std::vector<std::string> wrapper; // command put in front of the program of every rank, e.g. a container's
  ContainerSpec container;          // of an own program, behind the wrapper
  bool oversubscribe = false;       // allow more ranks x threads than cores
  std::string scheduler = "local";
  std::string launcher = "mpirun";
  std::vector<std::string> launcher_args; // inserted before the program's name
  std::string platform;                   // machine on which the run is simulated; empty: the run is executed
  std::vector<std::string> hosts;       // without a cluster's scheduler: hosts on which mpirun starts ranks; empty: this machine
  std::string nodelist;                 // node on which the run must take place; empty: any
  std::vector<std::string> exclude;     // nodes on which no run takes place
  std::int64_t nodes_per_supernode = 0; // consecutive nodes behind one switch; 0: unknown
  std::string partition, account, qos, constraint;
  std::vector<std::string> setup_before;  // shell lines that run before the modules are loaded
  std::vector<std::string> modules;       // one `module load` each
  std::map<std::string, std::string> env; // exported in the job
  std::vector<std::string> setup;         // shell lines that run after that, before the launch
  std::vector<std::string> scheduler_args;
};

// The machine on which a simulated run takes place. Every node has one link to a switch. nodes_per_supernode consecutive nodes
// form a supernode, which has a trunk to the others.
struct PlatformSpec {
  std::int64_t nodes = 0;               // that the machine has; 0: not limited
  std::int64_t ranks_per_node = 0;      // that a node can hold; 0: not limited
  double bandwidth = 0;                 // bytes/s of a node's link, in each direction
  double latency_s = 0;                 // from node to node
  double message_time_s = 1e-6;         // that a rank is busy with each message which it sends or receives
  std::int64_t nodes_per_supernode = 0; // 0: all nodes form one
  double trunk_share = 1;               // bandwidth of a supernode's trunk, as a share of its nodes' links together
  double trunk_latency_s = 0;           // that the trunks add between two supernodes
  double memory_bandwidth = 0;          // bytes/s at which one rank reads and writes memory

  friend bool operator==(const PlatformSpec&, const PlatformSpec&) = default;
};

// When a study has enough repeats (`dtctl sweep --until-decided`).
struct UntilSpec {
  double interval = 0;                // margin and precision, as a share: 0.03 is 3 %; 0: the number of repeats is fixed
  std::int64_t max_repeats = 12;      // per point
  double budget_node_hours = 0;       // of all runs of the study; 0: no limit
  Metric metric = Metric::throughput; // one of race_metric_names()
};

// The search for the best values of some keys, for each candidate on its own (`dtctl sweep`; core/spec/tuned_key.hpp).
struct TuneSpec {
  std::map<std::string, std::string> keys; // key -> range; empty: nothing is tuned
  std::int64_t runs = 12;                  // of a candidate's search, at most
  std::int64_t seeds = 2;                  // of each setting that is repeated
  Metric metric = Metric::time_to_target;  // one of tune_metric_names()
};

struct StudySpec {
  std::optional<StudyMode> mode;   // empty: no scaling study
  std::vector<std::int64_t> ranks; // sizes of the study: exactly one of ranks, nodes and parts is given
  std::vector<std::int64_t> nodes;
  std::vector<std::int64_t> parts; // of a partition: ranks into which a node's cores are divided
  std::int64_t repeats = 1;
  StudyOrder order = StudyOrder::random;
  std::int64_t seed = 1;
  bool vary_seed = false; // repeat k trains with train.seed + k
  StudyLayout layout = StudyLayout::separate;
  std::int64_t controls = 2; // ladder: runs of the smallest size, spread from its first to its last run, to measure drift (A/A)
  UntilSpec until;
  TuneSpec tune;
  double sensitivity = 0; // simulated: share by which runs of their own vary each assumed figure (sensitivity.hpp); 0: none
};

struct RunSpec {
  std::string name; // the recipe's name
  std::string description;
  std::string label;       // the values of its sweep: "learning_rate=0.1 momentum=0.9"; empty without a sweep
  std::int64_t repeat = 0; // 0, 1, …: number of this repetition
  // No point of its study: an A/A control, a run that varies an assumed figure (StudySpec::sensitivity), or one that tries a
  // setting (StudySpec::tune). Stored in the study (study.json), not in the run (spec.json).
  bool control = false;
  Engine engine = Engine::onednn;
  ModelSpec model;
  DataSpec data;
  ProgramSpec program;
  TrainSpec train;
  OptimizerSpec optimizer;
  SyncSpec sync;
  ResourcesSpec resources;
  PlatformSpec platform; // of a simulated run
  StudySpec study;

  // Whether dtsim simulates the run on `platform`, in one process, instead of dtengine executing it.
  bool is_simulated() const { return !resources.platform.empty(); }
  // Whether the run executes the user's own program instead of dtengine.
  bool is_own_program() const { return !program.command.empty(); }
  // The resources that the run's job asks its scheduler for: `resources`, or one core on one node if the run is simulated.
  ResourcesSpec job_resources() const;
  std::int64_t job_side_threads() const { return is_simulated() ? 0 : side_threads(); }

  std::int64_t ranks() const { return resources.nodes * resources.ranks_per_node; }
  // Whether something is put in front of the command that decides which program it starts: a wrapper or a container.
  bool is_wrapped() const { return !resources.wrapper.empty() || has_container(); }
  bool has_container() const { return !resources.container.image.empty(); }
  // Whether the command is a launcher that starts the ranks of its node (program.launch: per-node).
  bool has_own_launcher() const { return is_own_program() && program.launch == ProgramLaunch::per_node; }
  // The processes that mpirun or srun starts: the ranks, or with has_own_launcher() one for all ranks of a node.
  std::int64_t ranks_per_process() const { return has_own_launcher() ? resources.ranks_per_node : 1; }
  std::int64_t processes_per_node() const { return resources.ranks_per_node / ranks_per_process(); }
  std::int64_t processes() const { return resources.nodes * processes_per_node(); }
  // Ranks that serve parameters, and ranks that train.
  std::int64_t servers() const { return has_servers(sync.strategy) ? sync.servers : 0; }
  std::int64_t workers() const { return ranks() - servers(); }
  // Threads per rank that only progress messages while the other threads compute. Each needs a core.
  std::int64_t progress_threads() const { return sync.progress == ProgressMode::thread ? 1 : 0; }
  // Threads per rank beside its compute threads that need a core each: they progress messages, or read and decode samples.
  std::int64_t side_threads() const { return progress_threads() + data.decode_threads; }
  std::int64_t cores_per_rank() const { return resources.threads_per_rank + side_threads(); }
  // Cores of all nodes that the run's job takes.
  std::int64_t cores() const { return is_simulated() ? 1 : ranks() * cores_per_rank(); }
  std::int64_t cores_per_node() const { return resources.ranks_per_node * cores_per_rank(); }
  // Samples of all workers in one step.
  std::int64_t effective_global_batch() const
  {
    return train.global_batch > 0 ? train.global_batch : train.batch_per_rank * workers();
  }
  std::int64_t effective_batch_per_rank() const
  {
    return train.batch_per_rank > 0 ? train.batch_per_rank : train.global_batch / workers();
  }
};

} // namespace dt
