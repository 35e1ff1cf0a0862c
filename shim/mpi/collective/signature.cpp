#include "shim/mpi/collective/signature.h"

#include <bit>
#include <iterator>

namespace thinwire::mpi {
namespace {

const tw_codec* uncompressed() {
  static const tw_codec* const off = [] {
    tw_codec* made = nullptr;
    tw_codec_create("off", &made);
    return made;
  }();
  return off;
}

constexpr Signature kKinds[] = {kOfF32,    kOfF64,    kOfOthers, kOfWords1,
                                kOfWords2, kOfWords4, kOfWords8};
constexpr int kKindCount = std::size(kKinds);

}  // namespace

// Each kind that some rank has, as the largest of ones and zeros; and the largest size.
bool agree_on_signature(Part& part, CallQueue& queue) {
  float own[kKindCount + 1], all[kKindCount + 1] = {};
  for (int at = 0; at < kKindCount; ++at) own[at] = (part.signature & kKinds[at]) != 0 ? 1 : 0;
  own[kKindCount] = static_cast<float>(std::bit_width(part.bytes));
  tw_collective collective{};
  collective.size = sizeof collective;
  collective.operation = TW_ALLREDUCE;
  collective.dtype = TW_F32;
  collective.reduction = TW_MAXIMUM;
  collective.send = own;
  collective.receive = all;
  collective.count = std::size(own);
  collective.codec = uncompressed();
  collective.flags = TW_AS_AGREED;  // nothing is coded, and the program's thread may be planning
  Signature whole = kNothing;
  if (tw_comm_run(queue.comm(), &collective, nullptr) == TW_OK) {
    for (int at = 0; at < kKindCount; ++at) whole |= all[at] > 0 ? kKinds[at] : kNothing;
    part.largest_bits = static_cast<std::uint32_t>(all[kKindCount]);
  }
  part.is_open = false;
  return part.take(whole);
}

}  // namespace thinwire::mpi
