// blockq's options as users write them.
#pragma once

#include "codec/blockq/options.h"
#include "codec/codec.h"

namespace thinwire::codec::blockq {

inline constexpr const char* kOptionsText =
    "bits=<8 or 4>, format=<int8, int4, e4m3 or mxfp8>, block=<32, 64 or 128>, "
    "scale=<bf16 or e8m0>, hadamard=<0 or 1>, round=<nearest or stochastic>, seed=<number>";

Result<std::uint64_t> parse(std::span<const Option> options);
std::string describe(std::uint64_t parameter);
Status check(std::uint64_t parameter, Dtype dtype, int rank);

}  // namespace thinwire::codec::blockq
