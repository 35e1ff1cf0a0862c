// The few declarations of the PMIx standard (version 4, sections 3 and 5) that the shim needs. Its
// layouts are fixed by the standard's ABI; declared here so that building the shim needs no PMIx
// package. tests/shim holds them against a real pmix.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thinwire::mpi::pmix {

inline constexpr std::size_t kMaxNamespace = 255;
inline constexpr std::size_t kMaxKey = 511;
inline constexpr std::uint32_t kRankWildcard = UINT32_MAX - 1;
inline constexpr std::uint8_t kScopeGlobal = 3;
inline constexpr std::uint16_t kTypeBool = 1;
inline constexpr std::uint16_t kTypeString = 3;
inline constexpr std::uint16_t kTypeInt = 6;
inline constexpr int kNotFound = -46;
inline constexpr int kNotSupported = -47;
inline constexpr const char* kLocalPeers = "pmix.lpeers";
inline constexpr const char* kImmediate = "pmix.immediate";
inline constexpr const char* kRefreshCache = "pmix.get.refresh";
inline constexpr const char* kTimeout = "pmix.timeout";

struct Process {
  char name_space[kMaxNamespace + 1];
  std::uint32_t rank;
};

struct Value {
  std::uint16_t type;
  union Data {
    bool flag;
    int integer;
    char* string;
    struct {  // the largest member
      char* name;
      char* value;
      char separator;
    } widest;
  } data;
};

struct Info {
  char key[kMaxKey + 1];
  std::uint32_t flags;
  Value value;
};

using InitCall = int (*)(Process*, Info*, std::size_t);
using FinalizeCall = int (*)(const Info*, std::size_t);
using PutCall = int (*)(std::uint8_t scope, const char* key, Value*);
using CommitCall = int (*)();
using GetCall = int (*)(const Process*, const char* key, const Info*, std::size_t, Value**);

}  // namespace thinwire::mpi::pmix
