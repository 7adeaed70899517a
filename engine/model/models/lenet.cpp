// LeNet-5 [LeCun1998], with ReLU, max pooling, full connections and softmax instead of tanh, trained subsampling, the connection
// table and RBF outputs.
//
//   C1  convolution  6 maps of 5x5      32x32 -> 28x28
//   S2  pooling      2x2                28x28 -> 14x14
//   C3  convolution  16 maps of 5x5     14x14 -> 10x10
//   S4  pooling      2x2                10x10 -> 5x5
//   C5  120 units over all of S4
//   F6  84 units
//   output: one unit per class
#include "engine/model/models/registry.hpp"

#include <algorithm>

namespace dt::model {

Tensor lenet(ModelBuilder& model)
{
  auto x = model.input();
  // The paper centres MNIST's 28x28 images in 32x32. CIFAR's images already have that size.
  const std::int64_t padding = std::min(x.shape.height, x.shape.width) < 32 ? 2 : 0;
  x = model.relu(model.convolution("conv1", x, {.channels = 6, .kernel = 5, .padding = padding}));
  x = model.max_pooling(x, {.kernel = 2, .stride = 2});
  x = model.relu(model.convolution("conv2", x, {.channels = 16, .kernel = 5}));
  x = model.max_pooling(x, {.kernel = 2, .stride = 2});
  x = model.relu(model.inner_product("fc1", x, 120));
  x = model.relu(model.inner_product("fc2", x, 84));
  return model.inner_product("fc3", x, model.classes());
}

} // namespace dt::model
