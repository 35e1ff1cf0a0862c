// The differences between the codecs of nvCOMP (8 to 12), one row each. NVIDIA's library is used if
// it is installed. See spec/codec-nvcomp.md.
#pragma once

#include <cstdint>

#include "codec/registry.h"

namespace thinwire::codec::nvcomp {

// Families of nvCOMP's entry points; their order is that of kEngineNames.
enum class Engine { kAns, kBitcomp, kCascaded, kLz4 };
inline constexpr int kEngineCount = 4;
inline constexpr const char* kEngineNames[kEngineCount] = {"ANS", "Bitcomp", "Cascaded", "LZ4"};

inline constexpr std::uint32_t kEveryDtype = dtype_bit(Dtype::kBytes) | dtype_bit(Dtype::kF32) |
                                             dtype_bit(Dtype::kF64) | dtype_bit(Dtype::kF16) |
                                             dtype_bit(Dtype::kBf16);
inline constexpr std::uint32_t kBoundedDtypes =
    dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF64) | dtype_bit(Dtype::kF16);

struct Row {
  CodecId id;
  const char* name;
  const char* summary;
  const char* options;
  const char* example;
  Engine engine;
  bool lossless;
  bool has_algorithms;  // takes algorithm=
  std::uint32_t dtypes;
  int chunk_log;  // of a chunk's bytes, if the spec says nothing
};

inline constexpr int kRowCount = 5;

inline constexpr Row kRows[kRowCount] = {
    {8, "nvcomp-ans", "nvCOMP's rANS: lossless, by the frequency of exponents; GPUs only",
     "chunk=<bytes>", "nvcomp-ans", Engine::kAns, true, false, kEveryDtype, 16},
    {9, "nvcomp-bitcomp", "nvCOMP's Bitcomp: lossless, by differences and widths; GPUs only",
     "algorithm=default|sparse,chunk=<bytes>", "nvcomp-bitcomp", Engine::kBitcomp, true, true,
     kEveryDtype, 16},
    {10, "nvcomp-cascaded",
     "nvCOMP's Cascaded: lossless, by runs, differences and widths; GPUs only", "chunk=<bytes>",
     "nvcomp-cascaded", Engine::kCascaded, true, false, kEveryDtype, 16},
    {11, "nvcomp-lz4", "nvCOMP's LZ4: lossless, by repetitions; GPUs only", "chunk=<bytes>",
     "nvcomp-lz4", Engine::kLz4, true, false, kEveryDtype, 14},
    {12, "nvcomp-bitcomp-lossy", "nvCOMP's Bitcomp under a bound of the error; GPUs only",
     "abs=<bound>|delta=<step>,algorithm=default|sparse,chunk=<bytes>",
     "nvcomp-bitcomp-lossy:abs=0.00048828125", Engine::kBitcomp, false, true, kBoundedDtypes, 16},
};

// The codecs' GPU sides, in builds with CUDA only, in the order of kRows.
extern const DeviceCodec kDevices[kRowCount];

}  // namespace thinwire::codec::nvcomp
