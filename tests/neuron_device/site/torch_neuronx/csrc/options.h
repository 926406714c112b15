// What a test may set before the runtime starts; filled in once from Python (switches.py).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace standin {

struct Options {
  int64_t launch_ns = 1000;
  int64_t bytes_per_ns = 100;
  int64_t delay_ns = 500;
  int64_t latency_ns = 50'000;
  int64_t compile_ns = 0;
  int64_t recompile_at = 0;
  int64_t memory_bytes = int64_t{24} << 30;
  std::vector<int64_t> cores{0};
  std::string lock_folder;
  std::string init_error;
  std::string emit = "kernel";
  std::vector<std::string> neff_folders;
  std::set<std::string> missing_ops;
  std::set<std::string> faults;

  bool has(const char* fault) const { return faults.count(fault) != 0; }
};

inline Options& options() {
  static Options value;
  return value;
}

}  // namespace standin
