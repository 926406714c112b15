#include "queue.h"

#include <ThreadUtil.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "neff.h"
#include "options.h"
#include "runtime.h"

namespace standin {
namespace {

using Place = std::pair<c10::DeviceIndex, c10::StreamId>;

struct Late {
  c10::DeviceIndex device;
  int64_t deadline_ns;
  std::function<void()> action;
};

struct Queues {
  std::mutex mutex;
  std::map<Place, int64_t> ends;
  std::vector<Late> late;
  bool recording = false;
  std::vector<Launch> pending;  // launched while recording, not yet known to have ended
  std::vector<Launch> retired;
  int32_t sequence = 0;
};

Queues& queues() {
  static auto* value = new Queues();  // outlives late waits of other threads at exit
  return *value;
}

thread_local std::vector<uint64_t> correlations;
thread_local int graph_depth = 0;

Place place_of(const c10::Stream& stream) { return {stream.device_index(), stream.id()}; }

void retire(Queues& all, c10::DeviceIndex device, int64_t until_ns) {
  const auto of_device = [&](const Launch& launch) {
    return (device < 0 || launch.device == device) && launch.device_end_ns <= until_ns;
  };
  for (const auto& launch : all.pending) {
    if (of_device(launch)) all.retired.push_back(launch);
  }
  all.pending.erase(std::remove_if(all.pending.begin(), all.pending.end(), of_device),
                    all.pending.end());
}

std::vector<Late> take_due(Queues& all, c10::DeviceIndex device, int64_t until_ns) {
  std::vector<Late> due;
  auto waiting = std::stable_partition(all.late.begin(), all.late.end(), [&](const Late& item) {
    return (device < 0 || item.device == device) && item.deadline_ns <= until_ns;
  });
  std::move(all.late.begin(), waiting, std::back_inserter(due));
  all.late.erase(all.late.begin(), waiting);
  return due;
}

void run_late(c10::DeviceIndex device, int64_t until_ns) {
  std::vector<Late> due;
  {
    std::lock_guard<std::mutex> guard(queues().mutex);
    due = take_due(queues(), device, until_ns);
  }
  for (const auto& item : due) item.action();
}

int64_t enqueue(Queues& all, Launch launch, const Place& place) {
  launch.sequence = ++all.sequence;
  launch.thread = libkineto::systemThreadId();
  launch.correlation = correlations.empty() ? 0 : correlations.back();
  launch.host_end_ns = now_ns();
  auto& end_ns = all.ends[place];
  launch.device_start_ns = std::max(launch.host_end_ns, end_ns) + options().delay_ns;
  launch.device_end_ns = launch.device_start_ns + device_time_ns(launch.bytes);
  end_ns = launch.device_end_ns;
  if (all.recording) all.pending.push_back(std::move(launch));
  return end_ns;
}

}  // namespace

int64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

int64_t device_time_ns(int64_t bytes) {
  return options().launch_ns + bytes / options().bytes_per_ns;
}

void submit(Work work, const std::string& op, const std::string& signature, int64_t bytes,
            c10::DeviceIndex device, std::function<void()> late) {
  if (inside_graph()) {
    if (late) late();
    return;
  }
  ensure_ready();
  Neff neff;
  if (work == Work::kernel || work == Work::graph) neff = neff_for(signature);
  Launch launch{op, neff.cache_key, work, bytes, device};
  launch.model_id = neff.model_id;
  launch.host_start_ns = now_ns();
  const auto place = place_of(current_stream(device));
  launch.stream = place.second;
  std::lock_guard<std::mutex> guard(queues().mutex);
  const auto deadline_ns = enqueue(queues(), std::move(launch), place);
  if (late) queues().late.push_back({device, deadline_ns, std::move(late)});
}

void wait_until(c10::DeviceIndex device, int64_t deadline_ns) {
  const auto left_ns = deadline_ns + options().latency_ns - now_ns();
  if (left_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left_ns));
  run_late(device, deadline_ns);
  std::lock_guard<std::mutex> guard(queues().mutex);
  retire(queues(), device, deadline_ns);
}

void wait_device(c10::DeviceIndex device) {
  int64_t deadline_ns = 0;
  {
    std::lock_guard<std::mutex> guard(queues().mutex);
    for (const auto& [place, end_ns] : queues().ends) {
      if (device < 0 || place.first == device) deadline_ns = std::max(deadline_ns, end_ns);
    }
  }
  wait_until(device, deadline_ns);
}

void wait_stream(const c10::Stream& stream) {
  wait_until(stream.device_index(), stream_end_ns(stream));
}

bool finished(int64_t deadline_ns) { return now_ns() >= deadline_ns + options().latency_ns; }

int64_t stream_end_ns(const c10::Stream& stream) {
  std::lock_guard<std::mutex> guard(queues().mutex);
  return queues().ends[place_of(stream)];
}

void delay_stream(const c10::Stream& stream, int64_t until_ns) {
  std::lock_guard<std::mutex> guard(queues().mutex);
  auto& end_ns = queues().ends[place_of(stream)];
  end_ns = std::max(end_ns, until_ns);
}

void begin_recording() {
  std::lock_guard<std::mutex> guard(queues().mutex);
  queues().pending.clear();
  queues().retired.clear();
  queues().recording = true;
}

std::vector<Launch> end_recording() {
  std::lock_guard<std::mutex> guard(queues().mutex);
  queues().recording = false;
  queues().pending.clear();
  auto launches = std::move(queues().retired);
  queues().retired.clear();
  std::sort(launches.begin(), launches.end(),
            [](const Launch& a, const Launch& b) { return a.sequence < b.sequence; });
  return launches;
}

void push_correlation(uint64_t id) { correlations.push_back(id); }

void pop_correlation() {
  if (!correlations.empty()) correlations.pop_back();
}

GraphScope::GraphScope() { graph_depth++; }
GraphScope::~GraphScope() { graph_depth--; }
bool inside_graph() { return graph_depth > 0; }

}  // namespace standin
