// What the library writes behind NCCL's part of a unique id: spec/nccl-helpers.md.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "agree/address.h"
#include "agree/agree.h"

namespace thinwire::nccl::agree {

// Names a communicator, and shows that one is of its ranks.
using Secret = std::array<std::byte, 16>;

struct Stamp {
  Secret secret{};
  Address registrar;
};

Secret random_secret();

// Of the part of a communicator that a split gives one color.
Secret derive(const Secret& parent, std::uint64_t split, std::int32_t color);

// The address that NCCL has put into the id; nothing where there is none, or no room for a stamp.
std::optional<Address> room_for_stamp(IdView id);

void write_stamp(std::span<std::byte, kIdBytes> id, const Stamp& stamp);
std::optional<Stamp> read_stamp(IdView id);

}  // namespace thinwire::nccl::agree
