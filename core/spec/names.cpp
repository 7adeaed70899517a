#include "core/spec/names.hpp"

#include "core/spec/optimizer_table.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace dt {
namespace {

constexpr std::array models{
    Name{"lenet", "LeNet-5 (LeCun 1998) with ReLU and max pooling: two convolutions, three inner products; other shapes too"},
    Name{"alexnet", "AlexNet (Krizhevsky 2012) as one tower without response normalisation: five convolutions, three inner "
                    "products, dropout"},
    Name{"alexnet-2012", "AlexNet as in its paper: two groups in three of the convolutions, response normalisation"},
    Name{"alexnet-cifar", "AlexNet for 32x32: five convolutions with half the maps, a quarter of the units"},
    Name{"vgg11", "VGG (Simonyan 2015), configuration A: eight convolutions of 3x3, three inner products, dropout"},
    Name{"vgg16", "VGG, configuration D: thirteen convolutions"},
    Name{"vgg19", "VGG, configuration E: sixteen convolutions"},
    Name{"vgg11-cifar", "VGG's convolutions A for 32x32, each with batch norm (Liu 2015), and one inner product"},
    Name{"vgg16-cifar", "likewise with those of D"},
    Name{"vgg19-cifar", "likewise with those of E"},
    Name{"resnet18", "residual network (He 2016): eight blocks of two convolutions, batch norm, projections where shapes change"},
    Name{"resnet34", "likewise with sixteen blocks"},
    Name{"resnet50", "residual network of sixteen bottlenecks: 1x1, 3x3 with the stride, 1x1"},
    Name{"resnet101", "likewise with 33 bottlenecks"},
    Name{"resnet20", "residual network for 32x32: nine blocks with 16 to 64 maps"},
    Name{"resnet56", "likewise with 27 blocks"},
    Name{"googlenet", "GoogLeNet (Szegedy 2015): nine inceptions, response normalisation, two auxiliary classifiers in training"},
    Name{"googlenet-cifar", "GoogLeNet's inceptions for 32x32, with batch norm and without auxiliary classifiers"},
    Name{"custom", "the network that `model.layers` describes"},
};
constexpr std::array data_sets{
    Name{"digits", "rendered digits, 1x28x28, 10 classes; made by `dtctl data make digits`, in MNIST's IDX files"},
    Name{"shapes", "rendered coloured shapes, 3x32x32, 10 classes; made by `dtctl data make shapes`, in CIFAR-10's files"},
    Name{"mnist", "MNIST, or any set in its four IDX files (EMNIST, Fashion-MNIST, ...), plain or gzip: images of the shape that "
                  "the files say, one class more than the largest label"},
    Name{"cifar10", "CIFAR-10 in its binary files, 3x32x32, 10 classes"},
    Name{"cifar100", "CIFAR-100 in its binary files, 3x32x32, 100 fine classes"},
    Name{"packed", "a set of any size and image format that `dtctl data pack` has written into one file"},
    Name{"synthetic", "random images of any shape, made in memory: for throughput, not for accuracy"},
};
constexpr std::array schedules{
    Name{"constant", "the learning rate stays"},
    Name{"step", "times `step_factor` every `step_epochs` epochs"},
    Name{"polynomial", "from the learning rate to `final_learning_rate` as (1 - progress)^`polynomial_power`"},
    Name{"cosine", "half a cosine from the learning rate to `final_learning_rate`"},
};
constexpr std::array allreduces{
    Name{"mpi", "MPI_Allreduce of the MPI library, one call on the packed buffer"},
    Name{"ring", "reduce-scatter and allgather round the ring: least bytes, 2(P-1) rounds; for long vectors"},
    Name{"halving-doubling",
         "reduce-scatter by recursive halving, allgather by recursive doubling: least bytes, 2 log2 P rounds"},
    Name{"tree", "binomial reduction to one rank and broadcast from it: fewest messages, for short vectors"},
    Name{"hierarchical", "inside a node through shared memory, each rank a slice; then slice by slice over the nodes"},
    Name{"topology-aware",
         "halving-doubling with its large messages inside supernodes; resources.nodes_per_supernode or a probe tells them"},
    Name{"gloo",
         "the Gloo library's ring over TCP, inside a node too: what PyTorch uses on processors; needs libgloo when dtctl is "
         "built"},
    Name{"dynamic", "at each size the one that is fastest by timings at the start (kept in <home>/cache) and a cost model; mpi "
                    "unless another surely is faster; reconsidered when sums take longer than predicted"},
};
constexpr std::array launchers{
    Name{"mpirun", "Open MPI's mpirun"},
    Name{"srun", "Slurm's srun with PMIx; another plugin: launcher_args: [--mpi=pmi2]"},
    Name{"dtjob", "dtctl itself, where there is no MPI: a program of your own that does not use MPI, on one node"},
};

template<class Row> std::vector<Name> names_of(std::span<const Row> rows)
{
  std::vector<Name> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

} // namespace

std::span<const Name> model_names() { return models; }
std::span<const Name> data_names() { return data_sets; }
std::span<const Name> optimizer_names()
{
  static const auto names = names_of(optimizer_rows());
  return names;
}
std::span<const Name> schedule_names() { return schedules; }
std::span<const Name> strategy_names()
{
  static const auto names = names_of(strategy_rows());
  return names;
}
std::span<const Name> allreduce_names() { return allreduces; }
bool is_library_call(std::string_view allreduce) { return allreduce == "mpi" || allreduce == "gloo"; }

bool can_be_simulated(std::string_view allreduce) { return !is_library_call(allreduce); }

std::string simulated_allreduces()
{
  auto names = strings_of(allreduce_names());
  std::erase_if(names, [](const std::string& name) { return !can_be_simulated(name); });
  const auto last = names.back();
  names.pop_back();
  return join(names, ", ") + " or " + last;
}

std::span<const Name> scheduler_names()
{
  static const auto names = names_of(scheduler_rows());
  return names;
}
std::span<const Name> launcher_names() { return launchers; }

bool contains(std::span<const Name> names, std::string_view name)
{
  return std::any_of(names.begin(), names.end(), [&](const Name& known) { return known.name == name; });
}

std::vector<std::string> strings_of(std::span<const Name> names)
{
  std::vector<std::string> strings;
  for (const auto& name : names) strings.emplace_back(name.name);
  return strings;
}

} // namespace dt
