#include "runtime.h"

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>

#include "options.h"

namespace standin {
namespace {

std::mutex start_mutex;
std::atomic<bool> ready{false};
std::atomic<bool> forked{false};
std::atomic<c10::StreamId> last_stream{0};
thread_local c10::DeviceIndex device_of_thread = 0;
thread_local std::map<c10::DeviceIndex, c10::StreamId> stream_of_thread;

void mark_fork() {
  if (ready) forked = true;
}

// A core belongs to one process: the lock lives as long as the descriptor, so a killed owner frees it.
void own_core(int64_t core) {
  const auto path = options().lock_folder + "/core_" + std::to_string(core) + ".lock";
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  TORCH_CHECK(descriptor >= 0, "standin: cannot open the core lock ", path);
  TORCH_CHECK(
      flock(descriptor, LOCK_EX | LOCK_NB) == 0,
      "nrt_init failed (standin): NEURON_CORE_IN_USE: logical NeuronCore ", core,
      " is owned by another process");
}

void start() {
  const auto& settings = options();
  TORCH_CHECK(settings.init_error.empty(), "nrt_init failed (standin): ", settings.init_error);
  TORCH_CHECK(!settings.has("core_in_use"),
              "nrt_init failed (standin): NEURON_CORE_IN_USE: logical NeuronCore ",
              settings.cores.front(), " is owned by another process");
  if (!settings.lock_folder.empty()) {
    for (auto core : settings.cores) own_core(core);
  }
  pthread_atfork(nullptr, nullptr, mark_fork);
  ready = true;
}

}  // namespace

void ensure_ready() {
  TORCH_CHECK(!forked,
              "Cannot re-initialize Neuron in forked subprocess (standin). To use Neuron with "
              "multiprocessing, you must use the 'spawn' start method");
  if (ready) return;
  std::lock_guard<std::mutex> guard(start_mutex);
  if (!ready) start();
}

bool is_ready() { return ready && !forked; }
bool in_bad_fork() { return forked; }

c10::DeviceIndex device_count() {
  const auto& settings = options();
  return settings.init_error.empty() ? static_cast<c10::DeviceIndex>(settings.cores.size()) : 0;
}

c10::DeviceIndex current_device() { return device_of_thread; }

void set_current_device(c10::DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < device_count(), "standin: neuron:", int(device),
              " does not exist, ", int(device_count()), " logical cores are visible");
  device_of_thread = device;
}

c10::Stream current_stream(c10::DeviceIndex device) {
  const auto where = device < 0 ? current_device() : device;
  const auto found = stream_of_thread.find(where);
  const auto id = found == stream_of_thread.end() ? 0 : found->second;
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kNeuron, where), id);
}

void set_current_stream(c10::Stream stream) {
  stream_of_thread[stream.device_index()] = stream.id();
}

c10::Stream new_stream(c10::DeviceIndex device) {
  const auto where = device < 0 ? current_device() : device;
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kNeuron, where), ++last_stream);
}

}  // namespace standin
