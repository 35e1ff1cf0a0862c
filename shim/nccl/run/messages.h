// Messages, as both of their ends know them: by their bytes. NCCL moves these as they are, so one
// end may call them by another type than the other, of which it knows nothing. Pure but for the
// settings, which ranks compare.
#pragma once

#include <cstdint>

#include "run/call.h"
#include "run/plans.h"

namespace thinwire::nccl {

// Types that slots hold.
inline constexpr std::uint32_t kFloats[] = {TW_F32,  TW_F64,     TW_F16,
                                            TW_BF16, TW_F8_E4M3, TW_F8_E5M2};
bool is_of_floats(std::uint32_t dtype);

std::uint64_t message_bytes(const Call& call);

// The choice of the policy and the settings for the message as values of that type, with reasons.
Choice choice_as(const Call& call, std::uint32_t dtype);

// Whether a message of so many bytes could be coded as values of some type.
bool could_be_coded(const Call& call);

// The kind of those of about one size, under the same codecs as whatever they are sent.
std::uint64_t message_key(const Call& call);

// Plans a message as values of that type, of which the bytes are a whole number.
PlanKey message_plan(const Call& call, std::uint32_t dtype);

}  // namespace thinwire::nccl
