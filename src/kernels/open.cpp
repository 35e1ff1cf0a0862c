#include "kernels/open.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/gpu_side.h"
#include "base/log.h"
#include "device/machine.h"
#include "kernels_build.h"

namespace thinwire::kernels {

constinit std::atomic<const Table*> opened_table{nullptr};

namespace {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

// The path under which this code was loaded, absolute.
std::string own_path() {
  Dl_info self{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&own_path), &self, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0) {
    return "";
  }
  std::string path = self.dli_fname;
  if (path.starts_with('/')) return path;
  // The loader keeps the folder that a relative path meant when it was given.
  std::string folder(2 * PATH_MAX, '\0');
  if (map == nullptr || dlinfo(map, RTLD_DI_ORIGIN, folder.data()) != 0) return "";
  folder.resize(std::strlen(folder.c_str()));
  return folder + "/" + path.substr(path.rfind('/') + 1);
}

// The file that the link leads to, if it is one.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real == nullptr ? path : real.get();
}

// Judges the file, once.
const Status& file_status() {
  static const Status* const judged = [] {
    auto* const status = new Status(check_file(expected_path()));
    if (!status->ok()) log(LogLevel::kError, status->message());
    return status;
  }();
  return *judged;
}

bool has_codecs_of_this_build(const Table& table) {
  bool alike = std::memcmp(table.build, THINWIRE_KERNELS_BUILD, kBuildDigits) == 0;
#define CODEC_SIDE(name, zeros, has_seal, blocks)                                                \
  alike = alike && table.of_##name.leaves_zeros == zeros && table.of_##name.seals == has_seal && \
          table.of_##name.takes_blocks == blocks;
#include "kernels/functions.def"
  return alike;
}

Status load() {
  if (!file_status().ok()) return file_status();
  const std::string path = expected_path();
  std::string why;
  if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
    using Get = const Table* (*)();
    const auto get = reinterpret_cast<Get>(dlsym(library, kSymbol));
    const Table* const table = get == nullptr ? nullptr : get();
    if (table != nullptr && has_codecs_of_this_build(*table)) {
      opened_table.store(table, std::memory_order_release);
      return {};
    }
    why = path + " has other contents than its note tells";
  } else {
    const char* const said = dlerror();
    why = said == nullptr ? path : said;
  }
  Status failed(StatusCode::kDevice, "the GPU side cannot be used: " + why);
  log(LogLevel::kError, failed.message());
  return failed;
}

}  // namespace

std::string expected_path() {
  const std::string own = own_path();
  const std::string beside = folder_of(own) + kFile;
  if (access(beside.c_str(), F_OK) == 0) return beside;
  const std::string beside_target = folder_of(resolved(own)) + kFile;
  return access(beside_target.c_str(), F_OK) == 0 ? beside_target : beside;
}

// Never destroyed: other threads may still ask at the end.
const Status& open_status() {
  static const Status* const status = new Status(load());
  return *status;
}

const Table* open_library() {
  return open_status().ok() ? opened_table.load(std::memory_order_acquire) : nullptr;
}

}  // namespace thinwire::kernels

namespace thinwire {

Status gpu_side_status() {
  return device::machine_may_have_gpu() ? kernels::file_status() : Status();
}

}  // namespace thinwire
