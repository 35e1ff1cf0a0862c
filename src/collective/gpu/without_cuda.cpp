// The kernels of a build without CUDA: there are none, and no value lies on a GPU.
#include "collective/gpu/kernels.h"
#include "collective/gpu/slots.h"

namespace thinwire::collective {
namespace {

Status absent() { return {StatusCode::kUnsupported, "this build of Thinwire has no CUDA"}; }

}  // namespace

Status enqueue_combine(Reduction, Dtype, std::uint64_t, std::byte*, const std::byte*,
                       device::StreamHandle) {
  return absent();
}

Status enqueue_sum_of_arrays(Dtype, std::uint64_t, const Operands&, std::byte*,
                             device::StreamHandle) {
  return absent();
}

std::uint64_t key_ranges(std::uint64_t) { return 1; }

Status enqueue_key_ranges(Dtype, std::uint64_t, const std::byte*, KeyRange*, device::StreamHandle) {
  return absent();
}

Status enqueue_factor(std::byte*, const SlotFactor&, device::StreamHandle) { return absent(); }

Status enqueue_seal(std::span<const SealStep>, std::span<const device::Outcome>,
                    device::StreamHandle) {
  return absent();
}

Status enqueue_finish(std::span<const FinishStep>, Dtype, const RunEnd*, unsigned*,
                      device::StreamHandle) {
  return absent();
}

Status enqueue_run_report(const RunEnd&, unsigned*, device::StreamHandle) { return absent(); }

Status enqueue_tell(const RangeStep&, Dtype, device::StreamHandle) { return absent(); }

Status enqueue_collect(const std::byte*, int, BoundRecord&, device::StreamHandle) {
  return absent();
}

Status enqueue_find(const DifferStep&, Dtype, device::StreamHandle) { return absent(); }

Status enqueue_differ(const DifferStep&, Dtype, device::StreamHandle) { return absent(); }

Status enqueue_match(const RestoreStep&, device::StreamHandle) { return absent(); }

Status enqueue_restore(const RestoreStep&, Dtype, device::StreamHandle) { return absent(); }

Status enqueue_sum(const SumStep&, Dtype, std::span<const FinishStep>, const RunEnd*, unsigned*,
                   device::StreamHandle) {
  return absent();
}

}  // namespace thinwire::collective
