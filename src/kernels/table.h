// The kernels' library as the others see it: one table of C functions (decision 0105). All sides
// are of one build, so that structs are alike; memory of the C++ library passes between none, as
// each library may have one of its own.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "codec/nvcomp/device.h"
#include "collective/gpu/kernels.h"
#include "collective/gpu/slots.h"
#include "device/enqueue.h"
#include "device/memory_layout.h"
#include "device/places.h"
#include "message/fills/work.h"

namespace thinwire::kernels {

inline constexpr const char* kFile = "libthinwire_kernels.so";
inline constexpr const char* kSymbol = "thinwire_kernels";

// The note in the file that tells the build: this name, and so many hexadecimal digits.
inline constexpr char kNoteName[] = "Thinwire";
inline constexpr std::uint32_t kNoteType = 1;
inline constexpr std::size_t kBuildDigits = 64;

// The text of what failed, cut if it is too long.
struct Failure {
  char text[480];
};

// A function that returns a Status, as one that gives its parts.
template <typename Function>
struct InParts;
template <typename... Parameters>
struct InParts<Status(Parameters...)> {
  using Type = StatusCode (*)(Failure&, Parameters...);
};

struct CodecSide {
  std::uint64_t (*workspace_bytes)(const codec::Layout& layout, std::uint64_t parameter);
  StatusCode (*encode)(Failure& failure, const codec::EncodeJob& job);
  StatusCode (*decode)(Failure& failure, const codec::DecodeJob& job);
  bool leaves_zeros;
  bool seals;
  bool takes_blocks;
};

}  // namespace thinwire::kernels

// An entry's type is named among the names of its function's parameters.
#define FUNCTION(space, entry, name, parameters, ...) \
  namespace space {                                   \
  using entry##_of_kernels = Status parameters;       \
  }
#include "kernels/functions.def"

namespace thinwire::kernels {

struct Table {
  char build[kBuildDigits];  // first, in every build
#define RUNTIME(name, parameters, ...) decltype(&::name) name;
#define FUNCTION(space, entry, name, parameters, ...) \
  InParts<space::entry##_of_kernels>::Type entry;
#define CODEC_SIDE(name, ...) CodecSide of_##name;
#include "kernels/functions.def"
  decltype(&::cudaGetErrorString) cudaGetErrorString;
  decltype(&::cudaGetLastError) cudaGetLastError;
  decltype(&collective::key_ranges) key_ranges;
};

}  // namespace thinwire::kernels
