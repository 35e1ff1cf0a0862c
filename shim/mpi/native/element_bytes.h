// The bytes of elements from any offset of their stream on, with no memory for the rest of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/type_map.h"

namespace thinwire::mpi {

// A datatype of the MPI that means the same bytes as another and names them bytes.

// Committed, with the map's extent. A message of any length may be received into elements of it,
// which for a type of larger elements some MPIs do not bear. Nothing if the MPI cannot say the
// type in its counts. The caller frees it.
std::optional<MPI_Datatype> make_byte_type(const TypeMap& map);

// Quickest if offsets ascend.
class ElementBytes {
 public:
  explicit ElementBytes(Elements elements) : elements_(std::move(elements)) {}

  void read(std::uint64_t offset, std::uint64_t bytes, std::byte* to);
  void write(std::uint64_t offset, std::uint64_t bytes, const std::byte* from);

 private:
  // The place of the byte at `offset`, and how many of the stream lie after it without a gap.
  struct Run {
    std::byte* at;
    std::uint64_t bytes;
  };
  Run run_at(std::uint64_t offset, std::uint64_t bytes);
  Run run_of_levels(std::uint64_t offset) const;
  Run run_of_segments(std::uint64_t offset);

  Elements elements_;
  std::size_t segment_ = 0;   // of a map without levels: the last one met,
  std::uint64_t before_ = 0;  // and the bytes of its element's stream before it
};

}  // namespace thinwire::mpi
