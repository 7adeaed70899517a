#include "core/spec/optimizer_table.hpp"

#include <algorithm>
#include <array>

namespace dt {
namespace {

constexpr std::array optimizers{
    OptimizerRow{.name = {"sgd", "stochastic gradient descent: w <- w - lr (g + wd w)"}, .rule = UpdateRule::plain},
    OptimizerRow{.name = {"momentum", "SGD with momentum: v <- mu v + (g + wd w); w <- w - lr v; with async-msgd and "
                                      "async-measgd v <- mu v - lr (g + wd w); w <- w + v"},
                 .rule = UpdateRule::momentum,
                 .buffers = 1},
    OptimizerRow{.name = {"nesterov", "SGD with Nesterov's momentum: v <- mu v + (g + wd w); w <- w - lr (g + wd w + mu v); with "
                                      "async-msgd and async-measgd likewise with lr inside v"},
                 .rule = UpdateRule::momentum,
                 .buffers = 1},
    // Adam keeps means of gradients, not a velocity.
    OptimizerRow{.name = {"adam", "a rate for each weight, by the running means m and s of g + wd w and of its square, bias "
                                  "corrected: w <- w - lr m / (sqrt(s) + epsilon)"},
                 .rule = UpdateRule::any,
                 .buffers = 2},
    OptimizerRow{.name = {"adamw", "adam with the weight decay beside the gradient (decoupled): m and s of g alone, "
                                   "w <- w - lr (m / (sqrt(s) + epsilon) + wd w)"},
                 .rule = UpdateRule::any,
                 .buffers = 2},
    OptimizerRow{.name = {"lars",
                          "layer-wise rates for large batches: momentum with lr trust |w| / (|g| + wd |w|) of each weight "
                          "tensor inside v; biases, scales and shifts as plain momentum"},
                 .rule = UpdateRule::momentum,
                 .buffers = 1,
                 .has_norms = true},
};

constexpr OptimizerRow unknown_optimizer{};

} // namespace

std::span<const OptimizerRow> optimizer_rows() { return optimizers; }

const OptimizerRow& optimizer_row(std::string_view optimizer)
{
  const auto found = std::ranges::find_if(optimizers, [&](const OptimizerRow& row) { return row.name.name == optimizer; });
  return found == optimizers.end() ? unknown_optimizer : *found;
}

} // namespace dt
