// The kernels' library, opened when a GPU is first used.
#pragma once

#include <atomic>
#include <string>

#include "base/status.h"
#include "kernels/table.h"

namespace thinwire::kernels {

// Whether the file is this build's library of kernels, and whole; what is wrong with it, with its
// path, as kDevice. Nothing is loaded.
Status check_file(const std::string& path);

// The path at which this build expects the file: in the folder of the library that this code is in,
// or of the file that its link leads to.
std::string expected_path();

extern std::atomic<const Table*> opened_table;

// Opens the library if no call did before. nullptr if that fails, at later calls too.
const Table* open_library();

// Why open_library() has given nullptr.
const Status& open_status();

// nullptr if the library cannot be used. A load and a compare, after the first call.
inline const Table* table() {
  const Table* const opened = opened_table.load(std::memory_order_acquire);
  return opened != nullptr ? opened : open_library();
}

}  // namespace thinwire::kernels
