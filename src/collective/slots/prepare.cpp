#include "collective/slots/prepare.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "collective/slots/device_slots.h"
#include "collective/slots/enqueue.h"
#include "device/enqueue.h"
#include "device/pool.h"
#include "device/work_stream.h"

namespace thinwire::collective {
namespace {

// The transport of one of two ranks, whose other one has nothing to say.
class Silent : public transport::StreamTransport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  Status begin_group() override { return {}; }
  Status end_group() override { return {}; }
  Status send(int, ByteView, device::StreamHandle) override { return {}; }
  Status receive(int, MutableByteView, device::StreamHandle) override { return {}; }
  Status all_gather(MutableByteView, device::StreamHandle) override { return {}; }
  Status broadcast(int, MutableByteView, device::StreamHandle) override { return {}; }
  Status check() override { return {}; }
};

class One : public SlotRuns {
 public:
  explicit One(const SlotRun& run) : run_(run) { link_.transport = std::make_unique<Silent>(); }
  std::uint32_t count() const override { return 1; }
  SlotRun run(std::uint32_t) const override { return run_; }
  SlotLink& link(std::uint32_t) const override { return link_; }

 private:
  SlotRun run_;
  mutable SlotLink link_;
};

// All exchanges, a sum if there is one, an encode and a decode of each; what it has "received"
// is no slot, so that nothing is decoded and nothing taken from the mailbox, which is aborted to be
// sure.
Status launch_all(const SlotCall& call, device::WorkStream& stream, int device) {
  const auto plan = SlotPlan::make(call, device_needs);
  if (!plan.ok()) return plan.status();
  const std::uint64_t values = aligned(call.bytes_of(partition_of(call).total));
  const std::uint64_t lent = aligned((*plan)->device_bytes());
  const std::uint64_t room = 2 * values + lent + call.reference_bytes;
  const auto memory = device::acquire_device(device, room, false);
  if (!memory.ok()) return memory.status();
  const std::uint64_t record = aligned(record_bytes(**plan));
  const auto pinned = device::acquire_pinned(record + Mailbox::kLeastBytes);
  if (!pinned.ok()) return pinned.status();
  std::byte* const mailbox = pinned->data() + record;
  if (Status status = open_mailbox(mailbox, Mailbox::kLeastBytes); !status.ok()) return status;
  abort_mailbox(mailbox_at(mailbox));
  const One runs({.plan = plan->get(),
                  .number = 0,
                  .send = memory->data(),
                  .receive = memory->data() + values,
                  .lent = memory->data() + 2 * values,
                  .mailbox = &mailbox_at(mailbox),
                  .record = pinned->data(),
                  .references = memory->data() + 2 * values + lent,
                  .forgets = true,
                  .stream = stream.stream()});
  const Status enqueued = enqueue_slots(runs);
  const Status ended = stream.finish();
  return enqueued.ok() ? ended : enqueued;
}

Status launch_time(device::WorkStream& stream) {
  const auto pinned = device::acquire_pinned(sizeof(std::uint64_t));
  if (!pinned.ok()) return pinned.status();
  auto* const at = reinterpret_cast<std::uint64_t*>(pinned->data());
  const Status enqueued = device::enqueue_time(at, stream.stream());
  const Status ended = stream.finish();
  return enqueued.ok() ? ended : enqueued;
}

// The same call of two ranks, with memory for one result.
SlotCall call_with_references(SlotCall call) {
  call.operation = SlotOperation::kAllgather;
  call.premultiplied = false;
  call.count = 5000;
  call.reference_bytes =
      kReferenceTableBytes +
      ReferenceKey{.block_bytes = call.bytes_of(call.count), .blocks = 2}.bytes();
  return call;
}

// Rank 0 of as many nodes as make slots go to more ranks than are sealed at once, and to some more:
// encodes that seal their slots do that for the first rank alone.
SlotCall call_in_levels(SlotCall call) {
  constexpr std::uint32_t kNodes = kMostSteps + 4;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < 2 * kNodes; ++rank) nodes.push_back(rank / 2);
  call.ranks = static_cast<int>(nodes.size());
  call.nodes = std::make_shared<const SlotNodes>(nodes);
  call.premultiplied = false;
  call.count = 5000;
  return call;
}

}  // namespace

Status load_kernels(const codec::Spec& spec, int device) {
  auto stream = device::acquire_work_stream(device, 0);
  if (!stream.ok()) return stream.status();
  if (Status status = launch_time(*stream); !status.ok()) return status;
  SlotCall call;
  call.operation = SlotOperation::kAllreduce;
  call.way = SlotWay::kDirect;
  call.capacity = {kWholeCapacity, kWholeCapacity};
  call.spec = spec;
  call.ranks = 2;
  for (const Dtype dtype :
       {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBf16, Dtype::kE4m3, Dtype::kE5m2}) {
    const bool named = spec.kind == codec::Spec::Kind::kCodec;
    if (named && !spec.codec->takes(dtype)) continue;
    call.dtype = dtype;
    call.operation = is_added(dtype) ? SlotOperation::kAllreduce : SlotOperation::kAllgather;
    call.way = is_added(dtype) ? SlotWay::kDirect : SlotWay::kPlanned;
    // Some kernels are of small arrays, some of large ones.
    for (const std::uint64_t count : {std::uint64_t{5000}, std::uint64_t{600'000}}) {
      call.count = count;
      call.premultiplied = call.reduces() && count > 5000;
      const Status status = launch_all(call, *stream, device);
      // A shape that the spec names may not fit these.
      if (!status.ok() && status.code() == StatusCode::kDevice) return status;
    }
    std::vector<SlotCall> others{call_in_levels(call)};
    if (!named || spec.codec->lossless) others.push_back(call_with_references(call));
    for (const SlotCall& other : others) {
      const Status status = launch_all(other, *stream, device);
      if (!status.ok() && status.code() == StatusCode::kDevice) return status;
    }
  }
  return {};
}

}  // namespace thinwire::collective
