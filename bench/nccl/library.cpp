#include "nccl/library.h"

#include <dlfcn.h>

#include <stdexcept>

#include "thinwire/thinwire_nccl.h"

namespace thinwire::bench::nccl {
namespace {

template <typename Function>
Function find(void* where, const std::string& name) {
  const auto found = reinterpret_cast<Function>(dlsym(where, name.c_str()));
  if (found == nullptr) throw std::runtime_error("this NCCL has no " + name);
  return found;
}

auto report_function() {
  return reinterpret_cast<decltype(&tw_nccl_report)>(dlsym(RTLD_DEFAULT, "tw_nccl_report"));
}

void* open(const std::string& path) {
  // For all to see: the preload library looks for it there.
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  return handle;
}

}  // namespace

Library::Library(const std::string& path)
    : handle_(open(path)),
      on_host_(dlsym(handle_, "ncclOnHostMemory") != nullptr),
      raw_(calls_named("pnccl", handle_)),
      plain_(calls_named("nccl", RTLD_DEFAULT)) {}

Calls Library::calls_named(const std::string& prefix, void* where) const {
  Calls found{};
  found.all_gather = find<decltype(&ncclAllGather)>(where, prefix + "AllGather");
  found.reduce_scatter = find<decltype(&ncclReduceScatter)>(where, prefix + "ReduceScatter");
  found.all_reduce = find<decltype(&ncclAllReduce)>(where, prefix + "AllReduce");
  found.broadcast = find<decltype(&ncclBroadcast)>(where, prefix + "Broadcast");
  found.all_to_all =
      reinterpret_cast<decltype(&ncclAlltoAll)>(dlsym(where, (prefix + "AlltoAll").c_str()));
  found.send = find<decltype(&ncclSend)>(where, prefix + "Send");
  found.receive = find<decltype(&ncclRecv)>(where, prefix + "Recv");
  found.group_start = find<decltype(&ncclGroupStart)>(where, prefix + "GroupStart");
  found.group_end = find<decltype(&ncclGroupEnd)>(where, prefix + "GroupEnd");
  return found;
}

int Library::version() const {
  int version = 0;
  nccl::check(find<decltype(&ncclGetVersion)>(RTLD_DEFAULT, "ncclGetVersion")(&version),
              "ncclGetVersion");
  return version;
}

ncclUniqueId Library::make_id() const {
  ncclUniqueId id{};
  nccl::check(find<decltype(&ncclGetUniqueId)>(RTLD_DEFAULT, "ncclGetUniqueId")(&id),
              "ncclGetUniqueId");
  return id;
}

ncclComm_t Library::make(int ranks, const ncclUniqueId& id, int rank) const {
  ncclComm_t comm = nullptr;
  const auto make = find<decltype(&ncclCommInitRank)>(RTLD_DEFAULT, "ncclCommInitRank");
  nccl::check(make(&comm, ranks, id, rank), "ncclCommInitRank");
  return comm;
}

void Library::end(ncclComm_t comm) const {
  const auto end = find<decltype(&ncclCommDestroy)>(RTLD_DEFAULT, "ncclCommDestroy");
  nccl::check(end(comm), "ncclCommDestroy");
}

void Library::check(ncclComm_t comm) const {
  using Ask = decltype(&ncclCommGetAsyncError);
  ncclResult_t error = ncclSuccess;
  nccl::check(find<Ask>(RTLD_DEFAULT, "ncclCommGetAsyncError")(comm, &error),
              "ncclCommGetAsyncError");
  nccl::check(error, "a call on the stream");
}

void* Library::function(const char* name) const { return dlsym(handle_, name); }

bool Library::counts_calls() const { return !report().empty(); }

std::string Library::report() const {
  const auto ask = report_function();
  std::uint64_t bytes = 0;
  std::string text;
  // Another thread's call may make it longer in between.
  while (ask != nullptr && ask(text.data(), text.size(), &bytes) == TW_OK && bytes > text.size()) {
    text.resize(bytes + 256);
  }
  return text.c_str();
}

Counts Library::counts(const char* operation) const { return newest_counts(report(), operation); }

std::string Library::presence() const { return newest_presence(report()); }

void check(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  throw std::runtime_error(std::string(call) + " failed: NCCL's error " +
                           std::to_string(static_cast<int>(result)));
}

}  // namespace thinwire::bench::nccl
