// torch.autocast("neuron"): matrix products in the low precision, normalisations and losses in float32.
//
// Boxed, because ATen/autocast_mode.h would take a sixth of the whole compile time.
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "runtime.h"

namespace at::autocast {
TORCH_API at::ScalarType get_autocast_dtype(c10::DeviceType device_type);
}

namespace standin {
namespace {

constexpr auto kAutocast = c10::DispatchKey::AutocastPrivateUse1;

void cast_and_call(const c10::OperatorHandle& op, torch::jit::Stack* stack, at::ScalarType dtype) {
  const c10::impl::ExcludeDispatchKeyGuard once(kAutocast);
  const auto count = op.schema().arguments().size();
  for (auto i = stack->size() - count; i < stack->size(); i++) {
    auto& value = (*stack)[i];
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const auto tensor = value.toTensor();
    if (tensor.device().type() == kNeuron && tensor.is_floating_point()) value = tensor.to(dtype);
  }
  op.callBoxed(stack);
}

void in_low_precision(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  cast_and_call(op, stack, at::autocast::get_autocast_dtype(kNeuron));
}

void in_float32(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  cast_and_call(op, stack, at::kFloat);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, library) {
  for (const auto* name : {"linear", "matmul", "mm", "bmm", "addmm", "baddbmm",
                           "scaled_dot_product_attention"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&in_low_precision>());
  }
  for (const auto* name : {"layer_norm", "mse_loss", "softmax.int", "log_softmax.int"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&in_float32>());
  }
}

}  // namespace standin
