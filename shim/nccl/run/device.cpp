#include "run/device.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "native/call_native.h"
#include "native/cuda.h"
#include "run/memory.h"
#include "run/service.h"
#include "run/transport.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

struct OfDevice {
  std::once_flag once;
  std::atomic<tw_status> status{TW_DEVICE};
  std::once_flag once_for_sums;
  bool has_room_for_sums = false;
};

// Whoever loads for one GPU keeps nobody waiting who has another.
OfDevice& known(int device) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const by_device = new std::map<int, OfDevice>;
  const std::lock_guard lock(*mutex);
  return (*by_device)[device];
}

tw_status load(ncclComm_t comm, int device, const tw_codec* codec) {
  const tw_stream_transport table = transport_over(comm, 0, 1);
  tw_stream_comm_options options{};
  options.size = sizeof options;
  options.codec = codec;
  tw_stream_comm* made = nullptr;
  tw_status status = tw_stream_comm_create(&table, &options, &made);
  if (status == TW_OK) status = tw_stream_comm_prepare(made, device);
  if (status != TW_OK) {
    tw_log(TW_LOG_WARNING, (std::string("no call of NCCL will be compressed on GPU ") +
                            std::to_string(device) + ": " + tw_last_error())
                               .c_str());
  }
  tw_stream_comm_destroy(made);
  return status;
}

tw_status load(ncclComm_t comm, int device) {
  for (const CodecUse& each : settings().codecs) {
    if (!each.could_compress()) continue;
    if (const tw_status status = load(comm, device, each.codec); status != TW_OK) return status;
  }
  return TW_OK;
}

}  // namespace

int device_of(ncclComm_t comm) {
  int device = kHostOnly;
  if (streams() != Streams::kCuda) return kHostOnly;
  const Inside inside;
  return real().CommCuDevice(comm, &device) == ncclSuccess ? device : kHostOnly;
}

void prepare_device_of(ncclComm_t comm) {
  const int device = device_of(comm);
  if (device == kHostOnly) return;
  OfDevice& of = known(device);
  std::call_once(of.once, [&] { of.status = load(comm, device); });
}

namespace {

// A part of a large sum takes three times its bytes at the most (run/in_order.cpp).
constexpr std::uint64_t kRoomForSums = 64 << 20;

bool take_room_for_sums(int device) {
  if (free_bytes_of_gpu(device) < kRoomForSums) return false;
  std::uint64_t got = 0;
  void* const taken = take_working(device, kRoomForSums, &got);
  if (taken != nullptr) give_working(taken);
  return taken != nullptr;
}

}  // namespace

bool has_room_for_sums(int device) {
  if (!start_service()) return false;
  if (device == kHostOnly && streams() == Streams::kCuda) return true;
  if (prepared(device) != TW_OK) return false;
  OfDevice& of = known(device);
  std::call_once(of.once_for_sums, [&] { of.has_room_for_sums = take_room_for_sums(device); });
  return of.has_room_for_sums;
}

tw_status prepared(int device) {
  if (device == kHostOnly) return streams() == Streams::kCuda ? TW_DEVICE : TW_OK;
  return known(device).status;
}

}  // namespace thinwire::nccl
