// The operations that calls are of, as the table in native/taken.h has them; and names of these and
// of types.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "native/taken.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {

enum Operation {
#define THINWIRE_NCCL_CALL(name, ...) k##name,
  THINWIRE_NCCL_OPERATIONS(THINWIRE_NCCL_CALL, THINWIRE_NCCL_CALL)
#undef THINWIRE_NCCL_CALL
      kOperations
};

// Traits of an operation, of which it may have several.
enum Trait : unsigned {
  kReduces = 1,
  kOfRoot = 2,      // the root alone gives
  kAtRoot = 4,      // the root alone gets
  kToAll = 8,       // all have all values afterwards, as they were given
  kBlockEach = 16,  // who gives has a block for each rank
  kOfMessages = 32  // a collective of which NCCL makes messages
};

struct OperationRow {
  const char* name;
  std::uint32_t of_policy;  // both ends of a message are asked for alike
  std::uint32_t of_stream;  // none for messages
  unsigned traits;
};

inline constexpr OperationRow kOperationRows[kOperations] = {
#define THINWIRE_NCCL_COLLECTIVE(name, kind, policy, stream, traits) \
  {#name, policy, stream, traits},
#define THINWIRE_NCCL_MESSAGE(name) {#name, TW_POLICY_SEND, TW_STREAM_ALLREDUCE, 0},
    THINWIRE_NCCL_OPERATIONS(THINWIRE_NCCL_COLLECTIVE, THINWIRE_NCCL_MESSAGE)
#undef THINWIRE_NCCL_MESSAGE
#undef THINWIRE_NCCL_COLLECTIVE
};

inline const char* operation_name(int operation) { return kOperationRows[operation].name; }

// The name of a tw_dtype; "" for none.
inline const char* type_text(std::uint32_t dtype) {
  return dtype < kDtypeCount ? dtype_name(static_cast<Dtype>(dtype)) : "";
}

}  // namespace thinwire::nccl
