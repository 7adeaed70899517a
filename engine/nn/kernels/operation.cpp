#include "engine/nn/kernels/operation.hpp"

namespace dt::nn {

Operation::Operation(OperationLabel label, const dnnl::primitive_desc_base& primitive,
                     const std::vector<std::pair<int, dnnl::memory>>& arguments)
    : label_(std::move(label)), implementation_(primitive.impl_info_str()), descriptor_(primitive)
{
  for (const auto& [name, memory] : arguments) {
    if (memory.get_desc().get_size() == 0) continue;
    memories_.push_back(memory);
    arguments_.push_back({name, memory.get()});
  }
}

Operation::Operation(OperationLabel label, const dnnl::primitive_desc_base& primitive, Arguments arguments)
    : Operation(std::move(label), primitive, std::vector<std::pair<int, dnnl::memory>>(arguments))
{
}

Operation::Operation(OperationLabel label, std::vector<dnnl::memory> uses, std::function<void()> kernel)
    : label_(std::move(label)), kernel_(std::move(kernel)), memories_(std::move(uses))
{
}

void Operation::create()
{
  if (!kernel_ && !primitive_) primitive_ = dnnl::primitive(descriptor_.get());
}

void Operation::execute(const dnnl::stream& stream) const
{
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), stream.get(), static_cast<int>(arguments_.size()), arguments_.data()),
      "could not execute a primitive");
}

} // namespace dt::nn
