// The asynchronous in-order queue: a launch returns at once, its end lies later on the real clock.
//
// Values are computed by the host at launch; what is late is everything that a program may see of it:
// waits, events, non-blocking copies to the host, and device records. The host learns of finished work only
// in a wait, so a program that never waits has no device records.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace standin {

enum class Work { kernel, graph, to_device, to_host, on_device };

struct Launch {
  std::string op;
  std::string cache_key;
  Work work = Work::kernel;
  int64_t bytes = 0;
  int32_t device = 0;
  int64_t stream = 0;
  uint64_t model_id = 0;
  int32_t sequence = 0;
  int32_t thread = 0;
  uint64_t correlation = 0;
  int64_t host_start_ns = 0, host_end_ns = 0;
  int64_t device_start_ns = 0, device_end_ns = 0;
};

int64_t now_ns();

// Device time of a launch in ns: launch_ns + bytes / bytes_per_ns, rounded down.
int64_t device_time_ns(int64_t bytes);

// Enqueue work on the current stream of the device; ignored inside a GraphScope. `late` runs when it has ended.
void submit(Work work, const std::string& op, const std::string& signature, int64_t bytes,
            c10::DeviceIndex device, std::function<void()> late = {});

// Block until everything enqueued has ended on the real clock; streams of one device or of all (-1).
void wait_device(c10::DeviceIndex device);
void wait_stream(const c10::Stream& stream);
void wait_until(c10::DeviceIndex device, int64_t deadline_ns);
bool finished(int64_t deadline_ns);
int64_t stream_end_ns(const c10::Stream& stream);
void delay_stream(const c10::Stream& stream, int64_t until_ns);

void begin_recording();
std::vector<Launch> end_recording();

void push_correlation(uint64_t id);
void pop_correlation();

// While alive on this thread, operators run as parts of one graph: no launch and no profiler row of their own.
class GraphScope {
 public:
  GraphScope();
  ~GraphScope();
};
bool inside_graph();

}  // namespace standin
