// The shim's own declarations of PMIx against a real pmix.h, at compile time.
#include <gtest/gtest.h>

#if __has_include(<pmix.h>)
#include <pmix.h>

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "shim/mpi/job/pmix_abi.h"

namespace thinwire::mpi::pmix {
namespace {

static_assert(kMaxNamespace == PMIX_MAX_NSLEN);
static_assert(kMaxKey == PMIX_MAX_KEYLEN);
static_assert(kRankWildcard == PMIX_RANK_WILDCARD);
static_assert(kScopeGlobal == PMIX_GLOBAL);
static_assert(kTypeBool == PMIX_BOOL);
static_assert(kTypeString == PMIX_STRING);
static_assert(std::string_view(kLocalPeers) == PMIX_LOCAL_PEERS);
static_assert(kTypeInt == PMIX_INT);
static_assert(std::string_view(kImmediate) == PMIX_IMMEDIATE);
static_assert(std::string_view(kRefreshCache) == PMIX_GET_REFRESH_CACHE);
static_assert(std::string_view(kTimeout) == PMIX_TIMEOUT);
static_assert(kNotFound == PMIX_ERR_NOT_FOUND);
static_assert(kNotSupported == PMIX_ERR_NOT_SUPPORTED);
static_assert(PMIX_SUCCESS == 0);

static_assert(sizeof(Process) == sizeof(pmix_proc_t));
static_assert(offsetof(Process, name_space) == offsetof(pmix_proc_t, nspace));
static_assert(offsetof(Process, rank) == offsetof(pmix_proc_t, rank));

static_assert(sizeof(Value) == sizeof(pmix_value_t));
static_assert(alignof(Value) == alignof(pmix_value_t));
static_assert(offsetof(Value, type) == offsetof(pmix_value_t, type));
static_assert(offsetof(Value, data) == offsetof(pmix_value_t, data));
static_assert(sizeof(Value::type) == sizeof(pmix_value_t::type));
static_assert(sizeof(bool) == sizeof(pmix_value_t{}.data.flag));

static_assert(sizeof(Info) == sizeof(pmix_info_t));
static_assert(offsetof(Info, key) == offsetof(pmix_info_t, key));
static_assert(offsetof(Info, flags) == offsetof(pmix_info_t, flags));
static_assert(offsetof(Info, value) == offsetof(pmix_info_t, value));

// Calls pass the same number of arguments, each of the same size.
template <typename One, typename Other>
struct SameCall : std::false_type {};
template <typename... One, typename... Other>
struct SameCall<int (*)(One...), pmix_status_t(Other...)>
    : std::bool_constant<sizeof...(One) == sizeof...(Other) &&
                         (... && (sizeof(One) == sizeof(Other)))> {};

static_assert(sizeof(pmix_status_t) == sizeof(int));
static_assert(SameCall<InitCall, decltype(PMIx_Init)>::value);
static_assert(SameCall<FinalizeCall, decltype(PMIx_Finalize)>::value);
static_assert(SameCall<PutCall, decltype(PMIx_Put)>::value);
static_assert(SameCall<CommitCall, pmix_status_t()>::value);
static_assert(SameCall<GetCall, decltype(PMIx_Get)>::value);

TEST(PmixAbi, IsThatOfThisPmixHeader) { SUCCEED() << "compiled"; }

}  // namespace
}  // namespace thinwire::mpi::pmix

#else

TEST(PmixAbi, IsThatOfThisPmixHeader) { GTEST_SKIP() << "no pmix.h found"; }

#endif
