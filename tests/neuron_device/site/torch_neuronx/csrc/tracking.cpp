#include "tracking.h"

#include <mutex>
#include <set>

#include "queue.h"

namespace standin {
namespace {

constexpr size_t kLimit = 1'000'000;  // a long timing loop must not eat the host's memory
std::mutex mutex;
OpLog log;
std::set<std::string> warned;

}  // namespace

void track_executed(const std::string& name) {
  if (inside_graph()) return;
  std::lock_guard<std::mutex> guard(mutex);
  if (log.executed.size() < kLimit) log.executed.push_back(name);
}

bool track_fallback(const std::string& name) {
  std::lock_guard<std::mutex> guard(mutex);
  if (log.fallback.size() < kLimit) log.fallback.push_back(name);
  return warned.insert(name).second;
}

OpLog op_log() {
  std::lock_guard<std::mutex> guard(mutex);
  return log;
}

void clear_op_log() {
  std::lock_guard<std::mutex> guard(mutex);
  log = {};
}

}  // namespace standin
