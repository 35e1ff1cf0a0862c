// The shape in which a codec sees a message.
#pragma once

#include <cstdint>
#include <optional>

#include "shim/mpi/native/datatypes.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// The codec spec's own shape; else the datatype's, where the message is one element of it; else a
// line. Nothing where a lossy codec's stated shape does not fit the message.
std::optional<tw_shape> shape_of(const tw_codec* codec, const TypeFacts& type, std::uint64_t bytes);

}  // namespace thinwire::mpi
