// Which aten operators the device has kernels for; every other one falls back to the CPU and is tracked.
#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

#include <iostream>
#include <set>
#include <string>

#include "boxed.h"
#include "options.h"
#include "queue.h"
#include "tracking.h"

namespace standin {
namespace {

using c10::OperatorHandle;
using torch::jit::Stack;

// Base names: in-place and out= forms come with them. Sorting, top-k, cumulative products, nonzero, unique,
// scatter_reduce, histogram and linear algebra are left out on purpose.
const std::set<std::string>& implemented() {
  static const std::set<std::string> names{
      "abs", "add", "addcdiv", "addcmul", "bitwise_and", "bitwise_not", "bitwise_or", "ceil",
      "clamp", "clamp_max", "clamp_min", "cos", "div", "eq", "erf", "exp", "exp2", "floor",
      "floor_divide", "fmod", "ge", "gelu", "gt", "isnan", "le", "leaky_relu", "lerp", "log",
      "log1p", "log2", "logical_and", "logical_not", "logical_or", "lt", "maximum", "minimum",
      "mul", "ne", "neg", "pow", "reciprocal", "relu", "remainder", "round", "rsqrt", "rsub",
      "sgn", "sigmoid", "sign", "silu", "sin", "sqrt", "sub", "tanh", "threshold", "trunc", "where",
      "hardtanh", "softplus", "elu", "hardswish", "hardsigmoid",
      "all", "amax", "amin", "any", "argmax", "argmin", "cumsum", "linalg_vector_norm", "max",
      "mean", "min", "norm", "prod", "std", "sum", "var", "var_mean",
      "_fused_rms_norm", "_log_softmax", "_safe_softmax", "_softmax", "native_group_norm",
      "native_layer_norm", "native_batch_norm",
      "addbmm", "addmm", "addmv", "baddbmm", "bmm", "dot", "mm", "mv",
      "arange", "cat", "embedding", "eye", "fill", "flip", "full_like", "gather", "index",
      "index_add", "index_copy", "index_fill", "index_select", "linspace", "masked_fill",
      "masked_scatter", "masked_select", "repeat_interleave", "roll", "scatter",
      "scatter_add", "stack", "tril", "triu", "zero", "_index_put_impl", "constant_pad_nd",
      "bernoulli", "exponential", "native_dropout", "normal", "random", "randperm", "uniform",
      "_log_softmax_backward_data", "_softmax_backward_data", "elu_backward",
      "embedding_dense_backward", "gelu_backward", "hardsigmoid_backward", "hardswish_backward",
      "hardtanh_backward", "leaky_relu_backward", "log_sigmoid_backward", "log_sigmoid_forward",
      "mse_loss", "mse_loss_backward", "native_group_norm_backward", "native_layer_norm_backward",
      "native_dropout_backward", "nll_loss_backward", "nll_loss_forward", "sigmoid_backward",
      "silu_backward", "smooth_l1_loss", "smooth_l1_loss_backward", "softplus_backward",
      "tanh_backward", "threshold_backward"};
  return names;
}

void fall_back(const OperatorHandle& op, Stack* stack) {
  const auto& name = op.schema().name();
  if (track_fallback(name)) {
    std::cerr << "WARNING torch_neuronx (standin): Operator '" << name << "' fell back to CPU\n";
  }
  wait_device(-1);
  if (owns_results(op.schema())) {
    run_on_host(op, stack);
  } else {
    at::native::cpu_fallback(op, stack);
  }
}

void launch(const OperatorHandle& op, Stack* stack) {
  const auto& name = op.schema().name();
  if (options().missing_ops.count(name)) return fall_back(op, stack);
  const auto run = run_on_host(op, stack);
  track_executed(name);
  if (run.scalar_bytes) {
    submit(Work::to_device, "memcpy_h2d", "", run.scalar_bytes, run.device);
  }
  submit(Work::kernel, name, run.signature, run.bytes, run.device);
}

// A composite operator must keep its decomposition, or autograd loses its formula.
bool launchable(const OperatorHandle& op) {
  const auto composite = op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
  return owns_results(op.schema()) && (!composite || op.schema().name() == "aten::_fused_rms_norm");
}

void register_implemented(torch::Library& library) {
  auto& dispatcher = c10::Dispatcher::singleton();
  const std::string space = "aten::";
  for (const auto& full : dispatcher.getAllOpNames()) {
    if (full.name.compare(0, space.size(), space) != 0) continue;
    auto base = full.name.substr(space.size());
    if (base.back() == '_') base.pop_back();
    const auto op = dispatcher.findSchema(full);
    if (!op || !implemented().count(base) || !launchable(*op)) continue;
    const auto overload = full.overload_name.empty() ? "" : "." + full.overload_name;
    library.impl((full.name + overload).c_str(),
                 torch::CppFunction::makeFromBoxedFunction<&launch>());
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  register_implemented(library);
}

}  // namespace standin
