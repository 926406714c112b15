#include "neff.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>
#include <unordered_map>

#include "options.h"

namespace standin {
namespace {

namespace fs = std::filesystem;

struct Entry {
  Neff neff;
  int64_t uses = 0;
};

std::mutex mutex;
std::unordered_map<std::string, Entry> known;
CompileCounts counts;

// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
uint64_t fnv1a(const std::string& text) {
  uint64_t hash = 14695981039346656037ULL;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 1099511628211ULL;
  return hash;
}

fs::path file_in(const std::string& folder, const Neff& neff) {
  return fs::path(folder) / ("neff_" + std::to_string(neff.model_id) + ".neff");
}

// A cache that cannot be written must not stop the work, as with the real one: the error is dropped here.
void store(const std::string& folder, const Neff& neff) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const auto target = file_in(folder, neff);
  const auto part = target.string() + "." + std::to_string(getpid()) + ".part";
  std::ofstream(part, std::ios::binary) << "STANDIN NEFF\n" << neff.cache_key << '\n';
  fs::rename(part, target, ignored);
}

bool stored(const Neff& neff) {
  std::error_code ignored;
  for (const auto& folder : options().neff_folders) {
    if (fs::exists(file_in(folder, neff), ignored)) return true;
  }
  return false;
}

Neff named(const std::string& signature) {
  const auto hash = fnv1a(signature);
  std::ostringstream key;
  key << signature << ':' << std::hex << hash;
  return {hash & ((uint64_t{1} << 49) - 1), key.str()};
}

Neff compile(const std::string& signature) {
  const auto neff = named(signature);
  if (stored(neff)) {
    counts.cache_hits++;
    return neff;
  }
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::nanoseconds(options().compile_ns));
  for (const auto& folder : options().neff_folders) store(folder, neff);
  counts.compiled++;
  counts.compile_ns += (std::chrono::steady_clock::now() - begin).count();
  return neff;
}

}  // namespace

Neff neff_for(const std::string& signature) {
  std::lock_guard<std::mutex> guard(mutex);
  auto& entry = known[signature];
  entry.uses++;
  if (entry.uses == 1) entry.neff = compile(signature);
  if (entry.uses == options().recompile_at) entry.neff = compile(signature + "_again");
  return entry.neff;
}

CompileCounts compile_counts() {
  std::lock_guard<std::mutex> guard(mutex);
  return counts;
}

void reset_compile_counts() {
  std::lock_guard<std::mutex> guard(mutex);
  counts = {};
}

}  // namespace standin
