// Exports of the kernels' library: its table, and the note by which its file is known.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <type_traits>
#include <utility>

#include "codec/registry.h"
#include "kernels/table.h"
#include "kernels_build.h"

namespace thinwire::kernels {
namespace {

StatusCode told(const Status& status, Failure& failure) {
  if (!status.ok()) {
    std::snprintf(failure.text, sizeof failure.text, "%s", status.message().c_str());
  }
  return status.code();
}

// No exception passes from one library into another.
template <typename Call>
StatusCode in_parts(Failure& failure, Call&& call) noexcept {
  try {
    return told(call(), failure);
  } catch (const std::exception& error) {
    std::snprintf(failure.text, sizeof failure.text, "%s", error.what());
    return StatusCode::kInternal;
  }
}

template <auto kFunction>
struct Entry;
template <typename... Parameters, Status (*kFunction)(Parameters...)>
struct Entry<kFunction> {
  static StatusCode run(Failure& failure, Parameters... parameters) {
    return in_parts(failure, [&] { return kFunction(parameters...); });
  }
};

template <const codec::DeviceCodec& kCodec>
struct OfCodec {
  static std::uint64_t workspace_bytes(const codec::Layout& layout, std::uint64_t parameter) {
    return kCodec.workspace_bytes(layout, parameter);
  }
  static StatusCode encode(Failure& failure, const codec::EncodeJob& job) {
    return in_parts(failure, [&] { return kCodec.encode(job); });
  }
  static StatusCode decode(Failure& failure, const codec::DecodeJob& job) {
    return in_parts(failure, [&] { return kCodec.decode(job); });
  }
  static CodecSide side() {
    return {workspace_bytes,     encode,       decode,
            kCodec.leaves_zeros, kCodec.seals, kCodec.takes_blocks};
  }
};

Table make_table() {
  Table table{.build = {},
#define RUNTIME(name, ...) .name = ::name,
#define FUNCTION(space, entry, name, ...) .entry = Entry<&space::name>::run,
#define CODEC_SIDE(name, ...) .of_##name = OfCodec<codec::k##name##Device>::side(),
#include "kernels/functions.def"
              .cudaGetErrorString = ::cudaGetErrorString,
              .cudaGetLastError = ::cudaGetLastError,
              .key_ranges = collective::key_ranges};
  static_assert(sizeof THINWIRE_KERNELS_BUILD == kBuildDigits + 1);
  std::copy_n(THINWIRE_KERNELS_BUILD, kBuildDigits, table.build);
  return table;
}

}  // namespace
}  // namespace thinwire::kernels

// By a call, as the file has no constructor of its own.
extern "C" __attribute__((visibility("default"))) const thinwire::kernels::Table*
thinwire_kernels() {
  static const thinwire::kernels::Table table = thinwire::kernels::make_table();
  return &table;
}

asm(".pushsection .note.thinwire, \"a\", %note\n"
    ".balign 4\n"
    ".long 9, 64, 1\n"
    ".asciz \"Thinwire\"\n"
    ".balign 4\n"
    ".ascii \"" THINWIRE_KERNELS_BUILD
    "\"\n"
    ".popsection\n");
