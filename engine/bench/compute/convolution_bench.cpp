// Times every convolution of a model: by the engine's layers, as matrix products of OpenBLAS, and by plain loops.
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/maths/statistics.hpp"
#include "engine/bench/bench.hpp"
#include "engine/bench/compute/fixed_step.hpp"
#include "engine/bench/compute/lowered_convolution.hpp"
#include "engine/bench/compute/profile.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/nn/graph/make_layers.hpp"
#include "engine/train/record/probe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sched.h>

namespace dt::bench {
namespace {

constexpr const char *forward = "forward", *to_weights = "backward weights", *to_data = "backward data";

enum Form : std::size_t { ours, caffe, by_image, plain };
constexpr std::array<const char*, 4> form_names{"ours", "im2col_blas", "im2col_blas_by_image", "plain"};

// One direction of a layer, or a sum over layers. The seconds of each form in each round; empty where the form was not measured.
struct Row {
  std::string layer, what; // "conv1", "backward weights"
  double flops = 0;
  std::array<std::vector<double>, form_names.size()> seconds{};

  bool has(Form form) const { return !seconds[form].empty(); }
  double median_s(Form form) const { return median(seconds[form]); }
};

struct Factor {
  double median = 0, least = 0, most = 0;
};

// How many times as fast as the form our layers are. Plain loops have one round only, which is held against all of ours.
Factor factor_over(const Row& row, Form form)
{
  const auto &theirs = row.seconds[form], &mine = row.seconds[ours];
  std::vector<double> factors;
  for (std::size_t round = 0; round < mine.size(); ++round)
    factors.push_back(theirs[std::min(round, theirs.size() - 1)] / mine[round]);
  const auto [least, most] = std::minmax_element(factors.begin(), factors.end());
  return {median(factors), *least, *most};
}

Row& row_of(std::vector<Row>& rows, const std::string& layer, const std::string& what)
{
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.layer == layer && row.what == what; });
  return found != rows.end() ? *found : rows.emplace_back(Row{layer, what});
}

using Convolutions = std::map<std::string, LoweredConvolution::Case>; // by the layer's name

Convolutions convolutions_of(const nn::NetworkOptions& options)
{
  Convolutions found;
  for (const auto& layer : model::build_model(nn::model_options(options)).layers)
    if (layer.is<model::ConvolutionSpec>())
      found[layer.name] = {layer.inputs.front().shape, layer.output.shape, layer.as<model::ConvolutionSpec>(), options.batch,
                           options.threads};
  return found;
}

// Which direction an operation of a convolution belongs to. Sums of biases and copies into other layouts have none of their own.
std::string direction_of(const nn::OperationTime& operation)
{
  if (!operation.backward) return forward;
  return operation.what == to_data ? to_data : to_weights;
}

// Adds one round of the layers of a network.
void add_round(std::vector<Row>& rows, FixedStep& step, const Convolutions& convolutions, Form form)
{
  std::map<std::pair<std::string, std::string>, double> sums;
  for (const auto& operation : step.profile().operations) {
    if (!convolutions.contains(operation.layer)) continue;
    const auto direction = direction_of(operation);
    sums[{operation.layer, direction}] += operation.seconds;
    auto& row = row_of(rows, operation.layer, direction);
    row.flops = std::max(row.flops, operation.flops);
  }
  for (const auto& [place, seconds] : sums) row_of(rows, place.first, place.second).seconds[form].push_back(seconds);
}

// Arrays that are large enough for every convolution of a model.
class Arrays {
 public:
  explicit Arrays(const Convolutions& convolutions)
  {
    for (const auto& [name, of] : convolutions) {
      const auto weights = of.output.channels * of.input.channels / of.spec.groups * of.spec.kernel * of.spec.kernel;
      for (auto [array, size] : {std::pair{&x, of.batch * of.input.size()},
                                 {&y, of.batch * of.output.size()},
                                 {&w, weights},
                                 {&bias, of.output.channels}})
        if (array->size() < static_cast<std::size_t>(size)) array->resize(static_cast<std::size_t>(size));
    }
    for (auto* array : {&x, &y, &w, &bias})
      for (std::size_t i = 0; i < array->size(); ++i) (*array)[i] = 0.01F * static_cast<float>(i % 251) - 1.25F; // no denormals
  }
  std::vector<float> x, y, w, bias; // also for their gradients
};

double seconds_of(const std::function<void()>& work)
{
  const double begin_s = comm::monotonic_s();
  work();
  return comm::monotonic_s() - begin_s;
}

// Equal for convolutions that cost the same.
std::string text_of(const LoweredConvolution::Case& of)
{
  return fmt::format("{} {} {} {} {} {} {}", to_text(of.input), to_text(of.output), of.spec.kernel, of.spec.stride,
                     of.spec.padding, of.spec.groups, of.spec.bias);
}

using Seconds = std::map<std::string, double>; // by direction

Seconds run_lowered(LoweredConvolution& convolution, Arrays& arrays, bool has_bias)
{
  float* bias = has_bias ? arrays.bias.data() : nullptr;
  auto &x = arrays.x, &y = arrays.y, &w = arrays.w;
  return {{forward, seconds_of([&] { convolution.forward(x.data(), w.data(), bias, y.data()); })},
          {to_weights, seconds_of([&] { convolution.backward_weights(x.data(), y.data(), w.data(), bias); })},
          {to_data, seconds_of([&] { convolution.backward_data(y.data(), w.data(), x.data()); })}};
}

// One round of all convolutions as products of matrices; equal ones are computed once. Rows exist for the directions that a step
// has.
void add_lowered(std::vector<Row>& rows, const Convolutions& convolutions, const Blas& blas, Form form)
{
  std::map<std::string, Seconds> known;
  for (const auto& [name, of] : convolutions) {
    auto [found, is_new] = known.try_emplace(text_of(of));
    if (is_new) {
      const auto arrangement = form == caffe ? Arrangement::image_after_image : Arrangement::images_over_threads;
      LoweredConvolution convolution(blas, of, arrangement);
      Arrays arrays({{name, of}}); // touched, so that no page is new to the timed passes
      found->second = run_lowered(convolution, arrays, of.spec.bias);
    }
    for (auto& row : rows)
      if (row.layer == name) row.seconds[form].push_back(found->second.at(row.what));
  }
}

Row sum_of(const std::vector<Row>& rows, const std::string& what)
{
  Row sum{"all", what.empty() ? "convolutions" : what};
  for (const auto& row : rows) {
    if (!what.empty() && row.what != what) continue;
    sum.flops += row.flops;
    for (std::size_t form = 0; form < row.seconds.size(); ++form) {
      sum.seconds[form].resize(row.seconds[form].size());
      std::transform(row.seconds[form].begin(), row.seconds[form].end(), sum.seconds[form].begin(), sum.seconds[form].begin(),
                     std::plus<>());
    }
  }
  return sum;
}

// OpenBLAS' own threads poll for up to 30 ms after a product, and would take time from the next round.
void let_blas_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

nn::NetworkOptions network_of(const std::string& model, const ConvolutionBench& bench)
{
  return natural_options(
      {.model = model, .image = {1, 28, 28}, .batch = bench.batch, .threads = bench.threads, .dropout = false});
}

void add_rounds(std::vector<Row>& rows, const nn::NetworkOptions& options, const ConvolutionBench& bench, const Blas* blas)
{
  const auto convolutions = convolutions_of(options);
  FixedStep step(options);
  step.profile(); // warm-up
  for (std::int64_t round = 0; round < bench.rounds; ++round) {
    add_round(rows, step, convolutions, ours);
    if (blas == nullptr) continue;
    add_lowered(rows, convolutions, *blas, by_image);
    add_lowered(rows, convolutions, *blas, caffe);
    let_blas_sleep();
  }
}

// The last rows are the sums of the directions, and of all. One network after the other, so that only one is in memory.
std::vector<Row> measure(const std::string& model, const ConvolutionBench& bench, const Blas* blas)
{
  auto options = network_of(model, bench);
  std::vector<Row> rows;
  add_rounds(rows, options, bench, blas);
  if (bench.plain) {
    options.reference = true;
    FixedStep step(options);
    add_round(rows, step, convolutions_of(options), plain);
  }
  std::vector<Row> sums;
  for (const char* what : {forward, to_weights, to_data, ""}) sums.push_back(sum_of(rows, what));
  rows.insert(rows.end(), sums.begin(), sums.end());
  return rows;
}

std::string factor_text(const Row& row, Form form)
{
  if (!row.has(form)) return "-";
  const auto factor = factor_over(row, form);
  if (row.seconds[ours].size() == 1) return fmt::format("{:.2f}x", factor.median);
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", factor.median, factor.least, factor.most);
}

std::string ms_text(const Row& row, Form form) { return row.has(form) ? fmt::format("{:.3f}", 1e3 * row.median_s(form)) : "-"; }

void print_text(const std::string& model, const ConvolutionBench& bench, const std::vector<Row>& rows)
{
  constexpr const char* format = "{:<28} {:<18} {:>10} {:>8} {:>10} {:>20} {:>10} {:>20} {:>10} {:>20}\n";
  fmt::print("\n{}, batch {}, {}, {}\n", model, bench.batch, counted(bench.threads, "thread"), counted(bench.rounds, "round"));
  fmt::print(format, "layer", "what", "ms", "GFLOP/s", "Caffe ms", "factor", "by image", "factor", "plain ms", "factor");
  for (const auto& row : rows)
    fmt::print(format, row.layer, row.what, ms_text(row, ours), fmt::format("{:.1f}", 1e-9 * row.flops / row.median_s(ours)),
               ms_text(row, caffe), factor_text(row, caffe), ms_text(row, by_image), factor_text(row, by_image),
               ms_text(row, plain), factor_text(row, plain));
}

nlohmann::ordered_json json_of(const Row& row)
{
  nlohmann::ordered_json json{{"layer", row.layer},
                              {"what", row.what},
                              {"ms", 1e3 * row.median_s(ours)},
                              {"gflops", 1e-9 * row.flops / row.median_s(ours)}};
  for (const auto form : {caffe, by_image, plain}) {
    if (!row.has(form)) continue;
    const auto factor = factor_over(row, form);
    json[form_names[form]] = {
        {"ms", 1e3 * row.median_s(form)}, {"factor", factor.median}, {"least", factor.least}, {"most", factor.most}};
  }
  return json;
}

nlohmann::ordered_json json_of(const std::string& model, const ConvolutionBench& bench, const Blas* blas,
                               const std::vector<Row>& rows)
{
  nlohmann::ordered_json json{{"model", model}, {"batch", bench.batch}, {"threads", bench.threads}, {"rounds", bench.rounds}};
  if (blas != nullptr) json["blas"] = blas->name();
  for (const auto& row : rows) json["rows"].push_back(json_of(row));
  return json;
}

// OpenBLAS' threads may use the cores of the thread that loads it. A program that is bound to places has only one there.
void require_cores(int threads)
{
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) >= threads) return;
  throw Error(ErrorKind::recipe, fmt::format("The main thread may use {} only, and OpenBLAS' threads inherit that, so {} could "
                                             "not be compared. Start dtbench without OMP_PROC_BIND, or with fewer --threads.",
                                             counted(CPU_COUNT(&cores), "core"), counted(threads, "thread")));
}

// The best of many products of two 512 x 512 matrices, as train::matrix_gflops measures ours.
double blas_gflops(const Blas& blas, int threads)
{
  constexpr std::int64_t side = 512;
  constexpr double flops = 2.0 * side * side * side, measured_s = 0.3;
  const std::vector<float> factor(side * side, 1.0F);
  std::vector<float> result(side * side);
  blas.set_threads(threads);
  const auto product = [&] {
    blas.multiply({factor.data(), side}, {factor.data(), side}, side, side, side, false, result.data());
  };
  double least_s = seconds_of(product);
  for (const double end_s = comm::monotonic_s() + measured_s; comm::monotonic_s() < end_s;)
    least_s = std::min(least_s, seconds_of(product));
  return 1e-9 * flops / least_s;
}

void print_blas(const Blas* blas, int threads)
{
  if (blas == nullptr) {
    fmt::print("OpenBLAS is not installed, so there are no times of im2col and matrix products (apt-get install "
               "libopenblas0-pthread).\n");
    return;
  }
  fmt::print("{}; our products of 512 x 512 matrices: {:.1f} GFLOP/s, OpenBLAS': {:.1f}\n", blas->name(),
             train::matrix_gflops(threads, 0.3), blas_gflops(*blas, threads));
}

} // namespace

int bench_convolution(const ConvolutionBench& options)
{
  const auto blas = Blas::load();
  if (blas) require_cores(options.threads);
  const auto* found = blas ? &*blas : nullptr;
  if (!options.json) print_blas(found, options.threads);
  auto all = nlohmann::ordered_json::array();
  for (const auto& model : options.models) {
    const auto rows = measure(model, options, found);
    if (options.json)
      all.push_back(json_of(model, options, found, rows));
    else
      print_text(model, options, rows);
  }
  if (options.json) fmt::print("{}\n", all.dump());
  return 0;
}

} // namespace dt::bench
