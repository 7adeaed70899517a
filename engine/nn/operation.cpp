#include "engine/nn/operation.hpp"

namespace dt::engine {

Operation::Operation(const dnnl::primitive& primitive, std::initializer_list<std::pair<int, dnnl::memory>> arguments)
    : primitive_(primitive)
{
  for (const auto& [name, memory] : arguments) {
    if (memory.get_desc().get_size() == 0) continue;
    memories_.push_back(memory);
    arguments_.push_back({name, memory.get()});
  }
}

void Operation::run(const dnnl::stream& stream) const
{
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), stream.get(), static_cast<int>(arguments_.size()), arguments_.data()),
      "could not execute a primitive");
}

} // namespace dt::engine
