// The stamp that the library writes after NCCL's part of a unique id: spec/nccl-helpers.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "agree/address.h"
#include "agree/agree.h"
#include "agree/secrets.h"

namespace thinwire::nccl::agree {

struct Stamp {
  Secret secret{};
  Address registrar;
};

// The address that NCCL has put into the id; nothing if there is none, or no room for a stamp.
std::optional<Address> room_for_stamp(IdView id);

void write_stamp(std::span<std::byte, kIdBytes> id, const Stamp& stamp);
std::optional<Stamp> read_stamp(IdView id);

}  // namespace thinwire::nccl::agree
