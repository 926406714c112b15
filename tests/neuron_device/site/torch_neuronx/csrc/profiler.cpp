#include "profiler.h"

#include <ThreadUtil.h>
#include <libkineto.h>
#include <output_base.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>

#include <iostream>
#include <map>
#include <mutex>
#include <set>

#include "options.h"

namespace standin {
namespace {

using libkineto::ActivityType;

std::mutex mutex;
std::string newest_config;
WindowHook window_hook;

// The value of `key` in "key:value;key:value", or `otherwise`.
std::string value_of(const std::string& config, const std::string& key, const std::string& otherwise) {
  const auto begin = (";" + config).find(";" + key + ":");
  if (begin == std::string::npos) return otherwise;
  const auto value = begin + key.size() + 1;
  return config.substr(value, config.find(';', value) - value);
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) result += c;
  }
  return result;
}

const char* runtime_name(Work work) {
  switch (work) {
    case Work::to_device: return "nrt_tensor_write";
    case Work::to_host: return "nrt_tensor_read";
    case Work::on_device: return "nrt_tensor_copy";
    default: return "nrta_execute_schedule";
  }
}

std::string kernel_name(const std::string& op) {
  return "standin::" + op.substr(op.rfind(':') == std::string::npos ? 0 : op.rfind(':') + 1);
}

bool is_copy(Work work) { return work != Work::kernel && work != Work::graph; }

class Session final : public libkineto::IActivityProfilerSession {
 public:
  Session(std::set<ActivityType> wanted, const std::string& config) : wanted_(std::move(wanted)) {
    std::lock_guard<std::mutex> guard(mutex);
    newest_config = config;
    window_.config = config;
  }

  void start() override {
    start_ns_ = now_ns();
    begin_recording();
  }

  // Errors of a capture are reported, never raised: the caller must look at the files.
  void stop() override {
    stop_ns_ = now_ns();
    window_.launches = end_recording();
    keep_newest();
    WindowHook hook;
    {
      std::lock_guard<std::mutex> guard(mutex);
      hook = window_hook;
    }
    if (hook) hook(window_);
  }

  std::vector<std::string> errors() override { return {}; }
  void processTrace(libkineto::ActivityLogger&) override {}
  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback link,
                    int64_t, int64_t) override {
    buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
    buffer_->span = libkineto::TraceSpan(start_ns_, stop_ns_, "neuron standin");
    buffer_->gpuOpCount = 0;
    for (const auto& launch : window_.launches) {
      const auto* cpu_op = options().has("unlinked") ? nullptr : link(launch.correlation);
      for (const auto type : types_of(launch)) {
        if (wanted_.count(type)) logger.handleGenericActivity(emit(launch, type, cpu_op));
      }
    }
  }

  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override {
    return std::make_unique<libkineto::DeviceInfo>(
        libkineto::DeviceInfo{0, libkineto::kExceedMaxPid, "neuron standin", "NC 0 (standin)"});
  }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override {
    return {{0, 0, 0, "Stream 0 (standin)"}};
  }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override { return std::move(buffer_); }
  std::unordered_map<std::string, std::string> getMetadata() override {
    return {{"standin", "true"}, {"neuron_config", '"' + escaped(window_.config) + '"'}};
  }
  void pushCorrelationId(uint64_t id) override { push_correlation(id); }
  void popCorrelationId() override { pop_correlation(); }

 private:
  // Kernel events, which key_averages counts as device time, exist only where correlation was asked for.
  std::vector<ActivityType> types_of(const Launch& launch) const {
    std::vector<ActivityType> types{ActivityType::PRIVATEUSE1_RUNTIME};
    if (options().has("no_correlation")) return types;
    const auto kernel = is_copy(launch.work) ? ActivityType::GPU_MEMCPY : ActivityType::CONCURRENT_KERNEL;
    const auto correlated = value_of(window_.config, "correlate_device_time", "false") == "true";
    const auto emission = correlated ? options().emit : "driver";
    if (emission != "kernel") types.push_back(ActivityType::PRIVATEUSE1_DRIVER);
    if (emission != "driver") types.push_back(kernel);
    return types;
  }

  const libkineto::GenericTraceActivity& emit(const Launch& launch, ActivityType type,
                                              const libkineto::ITraceActivity* cpu_op) {
    const auto host = type == ActivityType::PRIVATEUSE1_RUNTIME;
    const auto driver = type == ActivityType::PRIVATEUSE1_DRIVER;
    const auto name = host ? runtime_name(launch.work) : driver ? launch.op : kernel_name(launch.op);
    buffer_->emplace_activity(buffer_->span, type, name);
    auto& activity = *buffer_->activities.back();
    activity.startTime = host ? launch.host_start_ns : launch.device_start_ns;
    activity.endTime = host ? launch.host_end_ns : launch.device_end_ns;
    activity.id = launch.sequence;
    activity.device = host ? libkineto::processId() : launch.device;
    activity.resource = host ? launch.thread : static_cast<int32_t>(launch.stream);
    activity.threadId = launch.thread;
    activity.flow.id = launch.sequence;
    activity.flow.type = libkineto::kLinkAsyncCpuGpu;
    activity.flow.start = host;
    activity.linked = cpu_op;
    describe(activity, launch, host);
    buffer_->span.opCount++;
    buffer_->gpuOpCount += !host;
    return activity;
  }

  static void describe(libkineto::GenericTraceActivity& activity, const Launch& launch, bool host) {
    activity.addMetadata("correlation", launch.sequence);
    activity.addMetadata("standin", "true");
    activity.addMetadata("bytes", launch.bytes);
    activity.addMetadata("nrt_sequence_id", (int64_t{1} << 48) + launch.sequence);
    if (!launch.cache_key.empty()) activity.addMetadataQuoted("neff_cache_key", launch.cache_key);
    if (host) return;
    activity.addMetadata("device", launch.device);
    activity.addMetadata("stream", launch.stream);
  }

  // The ring of each core holds max_events_per_nc launches; the oldest are overwritten.
  void keep_newest() {
    const auto asked = std::stoll("0" + value_of(window_.config, "max_events_per_nc", "1000000"));
    const auto limit = options().has("dropped_events") ? 1 : asked;
    std::map<int32_t, int64_t> left;
    for (const auto& launch : window_.launches) left[launch.device]++;
    std::vector<Launch> kept;
    for (auto& launch : window_.launches) {
      if (left[launch.device]-- <= limit) kept.push_back(std::move(launch));
    }
    window_.dropped = static_cast<int64_t>(window_.launches.size() - kept.size());
    window_.launches = std::move(kept);
    if (window_.dropped > 0) {
      std::cerr << "WARNING neuron runtime (standin): " << window_.dropped
                << " trace events were dropped\n";
    }
  }

  std::set<ActivityType> wanted_;
  Window window_;
  int64_t start_ns_ = 0, stop_ns_ = 0;
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_;
};

class StandinProfiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override { return name_; }
  const std::set<ActivityType>& availableActivities() const override { return types_; }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      const std::set<ActivityType>& types, const libkineto::Config& config) override {
    return std::make_unique<Session>(types, config.getCustomConfig());
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      int64_t, int64_t, const std::set<ActivityType>& types,
      const libkineto::Config& config) override {
    return configure(types, config);
  }

 private:
  std::string name_{"neuron standin"};
  std::set<ActivityType> types_{ActivityType::PRIVATEUSE1_RUNTIME, ActivityType::PRIVATEUSE1_DRIVER,
                                ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY};
};

REGISTER_PRIVATEUSE1_PROFILER(StandinProfiler);

}  // namespace

void set_window_hook(WindowHook hook) {
  std::lock_guard<std::mutex> guard(mutex);
  window_hook = std::move(hook);
}

std::string last_config() {
  std::lock_guard<std::mutex> guard(mutex);
  return newest_config;
}

bool profiler_registered() {
  return torch::profiler::impl::PrivateUse1ProfilerRegistry::instance().isRegisteredWithKineto();
}

}  // namespace standin
