// The device layer of a build without CUDA: all memory is host memory, and GPUs are refused.
#include "device/context.h"
#include "device/copy.h"
#include "device/enqueue.h"
#include "device/memory_layout.h"
#include "device/place.h"
#include "device/places.h"
#include "device/pool.h"
#include "device/pool_parts.h"
#include "device/stream.h"
#include "device/work_stream.h"

namespace thinwire::device {
namespace {

Status absent() { return {StatusCode::kUnsupported, "this build of Thinwire has no CUDA"}; }

}  // namespace

struct WorkStreamState {};

ContextGuard::~ContextGuard() = default;
Result<ContextGuard> ContextGuard::enter(int) { return absent(); }
Result<ContextGuard> ContextGuard::enter_any() { return absent(); }

bool on_device(const void*) { return false; }
Result<Place> place_of(const void*) { return Place{}; }

void give_back(std::byte* data) {
  if (data != nullptr && !take_back_host(data)) say_not_on_loan();
}
Result<Lease> acquire_pinned(std::uint64_t) { return absent(); }
Result<Lease> acquire_device(int, std::uint64_t, bool) { return absent(); }
bool park(const Lease&) { return false; }
void unpark(const Lease&) {}
PoolCounters describe_pool(Memory memory, int) {
  return memory == Memory::kHost ? host_counters() : PoolCounters{};
}
void set_idle_bound(std::uint64_t bytes) { set_host_idle_bound(bytes); }

WorkStream::WorkStream(std::unique_ptr<WorkStreamState> state) : state_(std::move(state)) {}
WorkStream::WorkStream(WorkStream&&) noexcept = default;
WorkStream& WorkStream::operator=(WorkStream&& other) noexcept {
  state_ = std::move(other.state_);
  return *this;
}
WorkStream::~WorkStream() = default;
StreamHandle WorkStream::stream() const { return nullptr; }
std::byte* WorkStream::workspace() const { return nullptr; }
Outcome* WorkStream::outcome() const { return nullptr; }
Result<Outcome> WorkStream::wait() { return absent(); }
Result<Outcome> WorkStream::wait_for_last() { return absent(); }
Result<std::byte*> WorkStream::borrow_pinned(std::uint64_t) { return absent(); }
Result<std::byte*> WorkStream::borrow_on_device(std::uint64_t) { return absent(); }
Status WorkStream::finish() { return absent(); }
Status WorkStream::copy(void*, const void*, std::uint64_t) { return absent(); }
void WorkStream::leave_context() {}
Status WorkStream::reserve(std::uint64_t, bool) { return absent(); }
Status WorkStream::order_after(StreamHandle) { return absent(); }
Result<WorkStream> acquire_work_stream(int, std::uint64_t) { return absent(); }
bool is_capturing(StreamHandle) { return false; }
Order::~Order() = default;
Status Order::begin(StreamHandle) { return absent(); }
Status Order::end(StreamHandle) { return absent(); }
int device_of_stream(StreamHandle, int fallback) { return fallback; }
Result<int> device_count() { return absent(); }

Result<StartedCopy> start_copy(void*, const void*, std::uint64_t, int) { return absent(); }
Status finish_copy(const StartedCopy&) { return absent(); }

Status enqueue_copy(std::byte*, const std::byte*, std::uint64_t, StreamHandle) { return absent(); }
Status enqueue_copy_rows(std::byte*, std::uint64_t, const std::byte*, std::uint64_t, std::uint64_t,
                         std::uint64_t, StreamHandle) {
  return absent();
}
Status enqueue_host(void (*)(void*), void*, StreamHandle) { return absent(); }
Status enqueue_clear(std::byte*, std::uint64_t, StreamHandle) { return absent(); }
Status enqueue_time(std::uint64_t*, StreamHandle) { return absent(); }
Status enqueue_gather(const Places&, const std::byte*, std::byte*, StreamHandle) {
  return absent();
}

Status enqueue_pack(const LayoutView&, const std::byte*, std::byte*, std::uint64_t, int,
                    StreamHandle) {
  return absent();
}
Status enqueue_unpack(const LayoutView&, const std::byte*, std::byte*, std::uint64_t, int,
                      StreamHandle) {
  return absent();
}

}  // namespace thinwire::device
