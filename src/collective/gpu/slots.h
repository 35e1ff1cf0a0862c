// Enqueues the kernels of slots; kUnsupported in a build without CUDA, kDevice if a kernel does
// not start. All pointers are memory that the stream's device reaches; mailboxes and records are
// pinned.
#pragma once

#include <span>

#include "base/status.h"
#include "collective/slots/work.h"
#include "device/stream.h"

namespace thinwire::collective {

// As SlotWork's steps of these names; enqueue_find() is what its differ() does first, and
// enqueue_collect() what its resolve() does. `arrived` is
// a word that is 0 before and after, needed where there is an end that copies out of lent memory.
Status enqueue_factor(std::byte* to, const SlotFactor& factor, device::StreamHandle stream);
Status enqueue_seal(std::span<const SealStep> all, std::span<const device::Outcome> before,
                    device::StreamHandle stream);
Status enqueue_finish(std::span<const FinishStep> all, Dtype dtype, const RunEnd* end,
                      unsigned* arrived, device::StreamHandle stream);
Status enqueue_run_report(const RunEnd& end, unsigned* arrived, device::StreamHandle stream);

Status enqueue_tell(const RangeStep& step, Dtype dtype, device::StreamHandle stream);
Status enqueue_collect(const std::byte* blocks, int ranks, BoundRecord& record,
                       device::StreamHandle stream);

Status enqueue_find(const DifferStep& step, Dtype dtype, device::StreamHandle stream);
Status enqueue_differ(const DifferStep& step, Dtype dtype, device::StreamHandle stream);
Status enqueue_match(const RestoreStep& step, device::StreamHandle stream);
Status enqueue_restore(const RestoreStep& step, Dtype dtype, device::StreamHandle stream);

// One kernel for all of it; `arrived` is needed where there are slots or an end.
Status enqueue_sum(const SumStep& step, Dtype dtype, std::span<const FinishStep> slots,
                   const RunEnd* end, unsigned* arrived, device::StreamHandle stream);

}  // namespace thinwire::collective
