// The Kineto child profiler of the device, and what the Python side is told when a window closes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "queue.h"

namespace standin {

struct Window {
  std::string config;  // NeuronConfig as it arrived through Kineto, "" without one
  std::vector<Launch> launches;
  int64_t dropped = 0;
};

using WindowHook = std::function<void(const Window&)>;
void set_window_hook(WindowHook hook);

// The configuration of the newest session, "" when none came with one.
std::string last_config();
bool profiler_registered();

}  // namespace standin
