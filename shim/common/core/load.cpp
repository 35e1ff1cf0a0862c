#include "shim/common/core/load.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/log.h"
#include "thinwire/thinwire.h"

namespace thinwire::shim {
namespace {

constexpr const char* kName = "libthinwire.so.0";
constexpr const char* kAbi = "THINWIRE_0";

tw_status missing_status() { return TW_INTERNAL; }
const char* missing_text() { return why_no_core(); }
double missing_number() { return 0; }
std::uintptr_t missing_nothing() { return 0; }

}  // namespace
}  // namespace thinwire::shim

// Addresses that calls.cpp jumps to.
extern "C" {
#define THINWIRE_PLACE(name) \
  __attribute__((visibility("hidden"))) extern std::atomic<void*> thinwire_core_##name;
#define THINWIRE_CORE_STATUS THINWIRE_PLACE
#define THINWIRE_CORE_TEXT THINWIRE_PLACE
#define THINWIRE_CORE_NUMBER THINWIRE_PLACE
#define THINWIRE_CORE_NOTHING THINWIRE_PLACE
#include "shim/common/core/calls.inc"
#undef THINWIRE_CORE_STATUS
#undef THINWIRE_CORE_TEXT
#undef THINWIRE_CORE_NUMBER
#undef THINWIRE_CORE_NOTHING
}

namespace thinwire::shim {
namespace {

// A call's result without a core.
enum class Missing : std::uint8_t { kStatus, kText, kNumber, kNothing };

struct Call {
  const char* name;
  std::atomic<void*>* place;
  Missing missing;
};

#define THINWIRE_CORE_STATUS(name) {#name, &thinwire_core_##name, Missing::kStatus},
#define THINWIRE_CORE_TEXT(name) {#name, &thinwire_core_##name, Missing::kText},
#define THINWIRE_CORE_NUMBER(name) {#name, &thinwire_core_##name, Missing::kNumber},
#define THINWIRE_CORE_NOTHING(name) {#name, &thinwire_core_##name, Missing::kNothing},
constexpr Call kCalls[] = {
#include "shim/common/core/calls.inc"
};
constexpr std::size_t kCount = sizeof kCalls / sizeof *kCalls;

void* missing_of(const Call& call) {
  switch (call.missing) {
    case Missing::kStatus:
      return reinterpret_cast<void*>(&missing_status);
    case Missing::kText:
      return reinterpret_cast<void*>(&missing_text);
    case Missing::kNumber:
      return reinterpret_cast<void*>(&missing_number);
    case Missing::kNothing:
      break;
  }
  return reinterpret_cast<void*>(&missing_nothing);
}

std::atomic<bool> is_loaded{false}, is_told{false};
char why[512] = "";

// Beside this library; in a tree that was not installed, where its search path says. The library's
// own dlsym() answers programs: dlvsym() goes by it.
void* open_core() {
  Dl_info about{};
  if (dladdr(&kCount, &about) != 0 && about.dli_fname != nullptr) {
    const char* const end = std::strrchr(about.dli_fname, '/');
    const std::size_t length =
        end == nullptr ? 0 : static_cast<std::size_t>(end + 1 - about.dli_fname);
    char path[4096];
    if (length > 0 && length + std::strlen(kName) < sizeof path) {
      std::memcpy(path, about.dli_fname, length);
      std::strcpy(path + length, kName);
      if (access(path, F_OK) == 0) return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
  }
  return dlopen(kName, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

// The addresses of all functions, if it is the core that this library was built with.
const char* find_all(void* core, void* (&found)[kCount]) {
  for (std::size_t at = 0; at < kCount; ++at) {
    found[at] = dlvsym(core, kCalls[at].name, kAbi);
    if (found[at] == nullptr) return "it is of another version";
    const bool says_version = std::strcmp(kCalls[at].name, "tw_version") == 0;
    if (says_version &&
        std::strcmp(reinterpret_cast<const char* (*)()>(found[at])(), THINWIRE_VERSION) != 0) {
      return "it is of another version";
    }
  }
  return nullptr;
}

void tell(const char* cause) {
  if (is_told.exchange(true)) return;
  std::snprintf(why, sizeof why,
                "%s, which should lie beside the preload library, is not loaded: %s", kName,
                cause == nullptr ? "no reason given" : cause);
  log(LogLevel::kError, std::string("nothing is compressed: ") + why);
}

}  // namespace

// Threads that come at once find the same: none waits for another, which may hold the loader's
// lock.
void load_core() {
  if (is_loaded.load(std::memory_order_acquire)) return;
  void* found[kCount];
  void* const core = open_core();
  const char* const cause = core == nullptr ? dlerror() : find_all(core, found);
  if (core == nullptr || cause != nullptr) tell(cause);
  for (std::size_t at = 0; at < kCount; ++at) {
    void* const own = core != nullptr && cause == nullptr ? found[at] : missing_of(kCalls[at]);
    kCalls[at].place->store(own, std::memory_order_release);
  }
  is_loaded.store(true, std::memory_order_release);
}

const char* why_no_core() { return why; }

namespace {

// Before other threads are there, and before memory is scarce; and before this library's own
// objects are made, whose ends may call the core, as the core's objects then end after them.
__attribute__((constructor(101))) void load_at_start() { load_core(); }

}  // namespace
}  // namespace thinwire::shim
