// The private Python face of the stand-in; torch_neuronx builds the public one from it.
#include <c10/core/CachingDeviceAllocator.h>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/empty.h>
#include <ATen/record_function.h>

#include <cstring>
#include <memory>

#include "allocator.h"
#include "neff.h"
#include "options.h"
#include "profiler.h"
#include "queue.h"
#include "runtime.h"
#include "tracking.h"

namespace py = pybind11;

namespace standin {
namespace {

void configure(const py::dict& given) {
  auto& value = options();
  value.launch_ns = given["launch_ns"].cast<int64_t>();
  value.bytes_per_ns = given["bytes_per_ns"].cast<int64_t>();
  value.delay_ns = given["delay_ns"].cast<int64_t>();
  value.latency_ns = given["latency_ns"].cast<int64_t>();
  value.compile_ns = given["compile_ns"].cast<int64_t>();
  value.recompile_at = given["recompile_at"].cast<int64_t>();
  value.memory_bytes = given["memory_bytes"].cast<int64_t>();
  value.cores = given["cores"].cast<std::vector<int64_t>>();
  value.lock_folder = given["lock_folder"].cast<std::string>();
  value.init_error = given["init_error"].cast<std::string>();
  value.emit = given["emit"].cast<std::string>();
  value.neff_folders = given["neff_folders"].cast<std::vector<std::string>>();
  value.missing_ops = given["missing_ops"].cast<std::set<std::string>>();
  value.faults = given["faults"].cast<std::set<std::string>>();
}

py::dict describe(const Launch& launch) {
  py::dict row;
  row["op"] = launch.op;
  row["copy"] = launch.work != Work::kernel && launch.work != Work::graph;
  row["bytes"] = launch.bytes;
  row["device"] = launch.device;
  row["stream"] = launch.stream;
  row["model_id"] = launch.model_id;
  row["cache_key"] = launch.cache_key;
  row["sequence"] = launch.sequence;
  row["thread"] = launch.thread;
  row["host_start_ns"] = launch.host_start_ns;
  row["host_end_ns"] = launch.host_end_ns;
  row["device_start_ns"] = launch.device_start_ns;
  row["device_end_ns"] = launch.device_end_ns;
  return row;
}

void hook_python(py::function function) {
  set_window_hook([function](const Window& window) {
    py::gil_scoped_acquire gil;
    py::list launches;
    for (const auto& launch : window.launches) launches.append(describe(launch));
    try {
      function(window.config, launches, window.dropped);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("standin: the profile folder was not written");
    }
  });
}

py::dict memory_of(c10::DeviceIndex device) {
  const auto stats = allocator()->getDeviceStats(device);
  const auto counter = [](const c10::CachingAllocator::StatArray& values) {
    const auto& all = values[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
    py::dict row;
    row["current"] = all.current;
    row["peak"] = all.peak;
    row["allocated"] = all.allocated;
    row["freed"] = all.freed;
    return row;
  };
  py::dict result;
  result["allocated_bytes"] = counter(stats.allocated_bytes);
  result["reserved_bytes"] = counter(stats.reserved_bytes);
  result["active_bytes"] = counter(stats.active_bytes);
  result["num_alloc_retries"] = stats.num_alloc_retries;
  result["num_ooms"] = stats.num_ooms;
  result["num_tensor_frees"] = stats.num_device_free;
  result["allocation_requests"] = stats.num_device_alloc;
  return result;
}

at::Generator generator(c10::DeviceIndex device) {
  return at::detail::getPrivateUse1Hooks().getDefaultGenerator(device);
}

py::bytes rng_state(c10::DeviceIndex device) {
  const auto state = generator(device).get_state();
  return py::bytes(static_cast<const char*>(state.const_data_ptr()), state.nbytes());
}

void set_rng_state(c10::DeviceIndex device, const std::string& bytes) {
  auto state = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  std::memcpy(state.mutable_data_ptr(), bytes.data(), bytes.size());
  auto target = generator(device);
  target.set_state(state);
}

// One compiled graph: operators inside run unseen, finish() is the single launch.
class GraphLaunch {
 public:
  void enter() {
    scope_ = std::make_unique<GraphScope>();
    no_rows_ = std::make_unique<at::DisableRecordFunctionGuard>();
  }
  void leave() {
    no_rows_.reset();
    scope_.reset();
  }
  static void finish(const std::string& name, const std::string& signature, int64_t bytes,
                     c10::DeviceIndex device) {
    py::gil_scoped_release no_gil;
    track_executed(name);
    submit(Work::graph, name, signature, bytes, device);
  }

 private:
  std::unique_ptr<GraphScope> scope_;
  std::unique_ptr<at::DisableRecordFunctionGuard> no_rows_;
};

}  // namespace
}  // namespace standin

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  using namespace standin;
  m.def("configure", &configure);
  m.def("set_window_hook", &hook_python);
  m.def("clear_window_hook", [] { set_window_hook({}); });
  m.def("last_config", &last_config);
  m.def("profiler_registered", &profiler_registered);
  m.def("ensure_ready", &ensure_ready);
  m.def("is_ready", &is_ready);
  m.def("in_bad_fork", &in_bad_fork);
  m.def("device_count", &device_count);
  m.def("current_device", &current_device);
  m.def("set_device", &set_current_device);
  m.def("manual_seed", [](c10::DeviceIndex device, uint64_t seed) {
    generator(device).set_current_seed(seed);
  });
  m.def("seed", [](c10::DeviceIndex device) { return generator(device).seed(); });
  m.def("initial_seed", [](c10::DeviceIndex device) { return generator(device).current_seed(); });
  m.def("rng_state", &rng_state);
  m.def("set_rng_state", &set_rng_state);
  m.def("executed_ops", [] { return op_log().executed; });
  m.def("fallback_ops", [] { return op_log().fallback; });
  m.def("clear_op_tracking", &clear_op_log);
  m.def("memory_stats", &memory_of);
  m.def("reset_peak_memory", [](c10::DeviceIndex device) { allocator()->resetPeakStats(device); });
  m.def("reset_accumulated_memory",
        [](c10::DeviceIndex device) { allocator()->resetAccumulatedStats(device); });
  m.def("device_time_ns", &device_time_ns);
  m.def("compile_counts", [] {
    const auto counts = compile_counts();
    return std::make_tuple(counts.compiled, counts.cache_hits, counts.compile_ns);
  });
  m.def("reset_compile_counts", &reset_compile_counts);
  py::class_<GraphLaunch>(m, "GraphLaunch")
      .def(py::init<>())
      .def("enter", &GraphLaunch::enter)
      .def("leave", &GraphLaunch::leave)
      .def_static("finish", &GraphLaunch::finish);
}
