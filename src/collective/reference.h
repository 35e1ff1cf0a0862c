// The earlier result that all ranks have agreed to code a call against.
#pragma once

#include <cstdint>
#include <span>

#include "collective/program.h"
#include "message/delta.h"

namespace thinwire::collective {

struct CallReference {
  std::uint64_t number = 0;
  const std::byte* values = nullptr;          // of all blocks, one after the other
  std::span<const std::uint64_t> first_byte;  // of each block there
  std::uint32_t sends_block = kNone;          // the one that this rank codes against it
  double ordinary_share = 1;                  // what ordinary coding would leave of a byte of it

  message::Reference piece(std::uint32_t block, std::uint64_t offset) const {
    return {number, values + first_byte[block] + offset};
  }
};

}  // namespace thinwire::collective
