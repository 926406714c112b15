// torch.rms_norm is one device kernel, as on Neuron; torch's own composite would be seven.
#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/_fused_rms_norm.h>
#include <ATen/record_function.h>
#include <torch/library.h>

#include <numeric>

#include "boxed.h"
#include "queue.h"
#include "tracking.h"

namespace standin {
namespace {

constexpr auto kWide = at::kFloat;

at::Tensor rms_norm(const at::Tensor& input, c10::SymIntArrayRef shape,
                    const std::optional<at::Tensor>& weight, std::optional<double> eps) {
  const auto sizes = C10_AS_INTARRAYREF_SLOW(shape);
  if (!weight || !weight->defined() || weight->scalar_type() == input.scalar_type()) {
    return std::get<0>(at::_fused_rms_norm(input, sizes, weight, eps));
  }
  const auto result = at::_fused_rms_norm(input.to(kWide), sizes, weight->to(kWide), eps);
  return std::get<0>(result).to(input.scalar_type());
}

std::vector<int64_t> range(int64_t begin, int64_t end) {
  std::vector<int64_t> values(end - begin);
  std::iota(values.begin(), values.end(), begin);
  return values;
}

// With n = x * rstd and s = grad * weight: d/dx = rstd * (s - n * mean(s * n)), d/dw = sum(grad * n).
struct Gradients {
  at::Tensor input, weight;
};

Gradients gradients(const at::Tensor& grad, const at::Tensor& x, int64_t inner_dims,
                    const at::Tensor& rstd, const std::optional<at::Tensor>& weight) {
  const auto g = grad.to(kWide);
  const auto normal = x.to(kWide) * rstd.to(kWide);
  const auto scaled = weight ? g * weight->to(kWide) : g;
  const auto outer = x.dim() - inner_dims;
  const auto along = (scaled * normal).mean(range(outer, x.dim()), /*keepdim=*/true);
  Gradients result;
  result.input = (rstd.to(kWide) * (scaled - normal * along)).to(x.scalar_type());
  if (weight) {
    const auto each = g * normal;
    const auto summed = outer ? each.sum(range(0, outer)) : each;
    result.weight = summed.to(weight->scalar_type());
  }
  return result;
}

std::tuple<at::Tensor, at::Tensor> rms_norm_backward(
    const at::Tensor& grad, const at::Tensor& input, at::IntArrayRef shape, const at::Tensor& rstd,
    const std::optional<at::Tensor>& weight, std::array<bool, 2> wanted) {
  const auto device = input.device();
  const auto has_weight = weight && weight->defined();
  int64_t bytes = grad.nbytes() + input.nbytes() + rstd.nbytes();
  if (has_weight) bytes += weight->nbytes();
  Gradients result;
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    at::DisableRecordFunctionGuard no_rows_of_its_own;
    std::optional<at::Tensor> host_weight;
    if (has_weight) host_weight = host_view(*weight);
    result = gradients(host_view(grad), host_view(input), static_cast<int64_t>(shape.size()),
                       host_view(rstd), host_weight);
  }
  const auto take = [&](const at::Tensor& host, bool asked) {
    if (!asked || !host.defined()) return at::Tensor();
    bytes += host.nbytes();
    return adopt(host, device);
  };
  const auto of_input = take(result.input, wanted[0]);
  const auto of_weight = take(result.weight, wanted[1]);
  const std::string name = "aten::_fused_rms_norm_backward";
  track_executed(name);
  submit(Work::kernel, name, "_fused_rms_norm_backward--_" + std::to_string(bytes), bytes,
         device.index());
  return {of_input, of_weight};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("rms_norm", rms_norm);
  library.impl("_fused_rms_norm_backward", rms_norm_backward);
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, library) { library.impl("rms_norm", rms_norm); }

}  // namespace standin
