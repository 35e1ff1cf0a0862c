#include "nccl/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "thinwire/thinwire_nccl.h"

namespace thinwire::bench::nccl {
namespace {

// The text between two marks, the first of which is looked for in `text`; empty without them.
std::string_view between(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + from.size());
  return text.substr(0, text.find(to));
}

std::int64_t number(std::string_view text, const std::string& name) {
  const std::string digits(between(text, "\"" + name + "\": ", ","));
  return std::strtoll(digits.c_str(), nullptr, 10);
}

// `"reason": 3, "another": 4`
std::map<std::string, std::int64_t> reasons_of(std::string_view text) {
  std::map<std::string, std::int64_t> found;
  while (true) {
    const std::string_view name = between(text, "\"", "\"");
    if (name.empty()) return found;
    text.remove_prefix(static_cast<std::size_t>(name.data() + name.size() + 1 - text.data()));
    found[std::string(name)] =
        std::strtoll(std::string(between(text, ": ", ",")).c_str(), nullptr, 10);
  }
}

std::string_view newest(std::string_view report) {
  const std::size_t begin = report.rfind("\"presence\": ");
  return begin == std::string_view::npos ? std::string_view() : report.substr(begin);
}

}  // namespace

Counts Counts::since(const Counts& earlier) const {
  Counts made = *this;
  made.calls -= earlier.calls;
  made.compressed_calls -= earlier.compressed_calls;
  made.bytes -= earlier.bytes;
  made.wire_bytes -= earlier.wire_bytes;
  made.spilled_blocks -= earlier.spilled_blocks;
  for (const auto& [reason, calls] : earlier.raw_by_reason) made.raw_by_reason[reason] -= calls;
  return made;
}

void Counts::leave_out(const std::string& reason, std::int64_t bytes_of_each) {
  const auto found = raw_by_reason.find(reason);
  if (found == raw_by_reason.end()) return;
  calls -= found->second;
  bytes -= found->second * bytes_of_each;
  wire_bytes -= found->second * bytes_of_each;
  raw_by_reason.erase(found);
}

std::string Counts::reason() const {
  std::string found;
  std::int64_t most = 0;
  for (const auto& [reason, calls] : raw_by_reason) {
    if (calls <= most) continue;
    most = calls;
    found = reason;
  }
  return found;
}

Counts newest_counts(const std::string& report, const std::string& operation) {
  Counts counts;
  const std::string_view figures =
      between(newest(report), "\"" + operation + "\": {", "\"raw_by_reason\"");
  if (figures.empty()) return counts;
  counts.calls = number(figures, "calls");
  counts.compressed_calls = number(figures, "compressed_calls");
  counts.bytes = number(figures, "bytes");
  counts.wire_bytes = number(figures, "wire_bytes");
  counts.spilled_blocks = number(figures, "spilled_blocks");
  const std::string_view rest(figures.data() + figures.size());
  counts.raw_by_reason = reasons_of(between(rest, "{", "}"));
  return counts;
}

std::string newest_presence(const std::string& report) {
  return std::string(between(newest(report), "\"presence\": \"", "\""));
}

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
