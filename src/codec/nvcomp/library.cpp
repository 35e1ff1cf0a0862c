#include "codec/nvcomp/library.h"

#include <dlfcn.h>

#include <array>
#include <string>

#include "base/settings.h"

namespace thinwire::codec::nvcomp {
namespace {

constexpr const char* kFile = "libnvcomp.so.6";
constexpr unsigned kMajorVersion = 6;
constexpr const char* kAdvice =
    " (pip install nvidia-libnvcomp-cu13, or name libnvcomp.so.6 in THINWIRE_NVCOMP)";

struct Library {
  Status status;
  std::array<Entries, kEngineCount> engines{};
};

template <typename Function>
bool find(void* library, const std::string& name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name.c_str()));
  return function != nullptr;
}

bool find_engine(void* library, const char* engine, Entries& entries) {
  const std::string prefix = std::string("nvcompBatched") + engine;
  return find(library, prefix + "CompressGetRequiredAlignments", entries.encode_alignments) &&
         find(library, prefix + "CompressGetTempSize", entries.encode_temporary) &&
         find(library, prefix + "CompressGetMaxOutputChunkSize", entries.most_encoded) &&
         find(library, prefix + "CompressAsync", entries.encode) &&
         find(library, prefix + "DecompressGetRequiredAlignments", entries.decode_alignments) &&
         find(library, prefix + "DecompressGetTempSize", entries.decode_temporary) &&
         find(library, prefix + "DecompressAsync", entries.decode);
}

// The wheel of nvCOMP in the site-packages that this library was installed into, as
// thinwire/lib/libthinwire.so.0; empty if that cannot be told.
std::string wheel_beside_us() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&wheel_beside_us), &self) == 0) return "";
  std::string path = self.dli_fname;
  for (int level = 0; level < 3; ++level) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return "";
    path.resize(slash);
  }
  return path + "/nvidia/libnvcomp/lib64/" + kFile;
}

const char* named() { return setting_value("THINWIRE_NVCOMP"); }

void* open_library() {
  constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;
  if (const char* const path = named()) return dlopen(path, kFlags);
  if (void* library = dlopen(kFile, kFlags)) return library;
  const std::string wheel = wheel_beside_us();
  return wheel.empty() ? nullptr : dlopen(wheel.c_str(), kFlags);
}

Status missing(const std::string& what) { return {StatusCode::kUnsupported, what + kAdvice}; }

Library load() {
  Library loaded;
  void* const library = open_library();
  if (library == nullptr) {
    const char* const why = named() != nullptr ? dlerror() : nullptr;
    loaded.status = missing(std::string("nvCOMP 6 is not found") +
                            (why == nullptr ? "" : std::string(": ") + why));
    return loaded;
  }
  struct {
    std::uint32_t version;  // 1000 * major + 100 * minor + patch
    std::uint32_t cuda;
  } properties{};
  Code (*get_properties)(void*) = nullptr;
  bool sound = find(library, "nvcompGetProperties", get_properties) &&
               get_properties(&properties) == kSuccess;
  if (sound && properties.version / 1000 != kMajorVersion) {
    loaded.status = missing("nvCOMP 6 is needed, and version " +
                            std::to_string(properties.version / 1000) + " is what is found");
    return loaded;
  }
  for (int engine = 0; engine < kEngineCount; ++engine) {
    const auto at = static_cast<std::size_t>(engine);
    sound = sound && find_engine(library, kEngineNames[engine], loaded.engines[at]);
  }
  if (!sound) loaded.status = missing("what is found as nvCOMP lacks functions");
  return loaded;
}

// Never destroyed, and the library never unloaded: other threads may still be in it at the end.
const Library& library() {
  static const Library* const loaded = new Library(load());
  return *loaded;
}

}  // namespace

Status library_status() { return library().status; }

const Entries& entries_of(Engine engine) {
  return library().engines[static_cast<std::size_t>(engine)];
}

}  // namespace thinwire::codec::nvcomp
