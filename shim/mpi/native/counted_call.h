// A call of MPI together with its `_c` form, whose counts are MPI_Count.
#pragma once

#include <climits>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

template <typename Type>
constexpr bool is_buffer = std::is_same_v<Type, void*> || std::is_same_v<Type, const void*>;

// MPI's own rule for point-to-point calls and collectives: a count stands after its buffer, and an
// array of displacements after its array of counts. What else is an array of int is one of
// handles.
template <typename Second, typename Before, typename Type>
using WideParameter = std::conditional_t<
    std::is_same_v<Type, int> && is_buffer<Before>, MPI_Count,
    std::conditional_t<
        std::is_same_v<Type, const int*> && is_buffer<Before>, const MPI_Count*,
        std::conditional_t<std::is_same_v<Type, const int*> && std::is_same_v<Before, const int*> &&
                               is_buffer<Second>,
                           const MPI_Aint*, Type>>>;

template <typename Narrow>
struct Widened;
template <typename... Narrow>
struct Widened<int (*)(Narrow...)> {
  template <std::size_t At>
  using Shifted = std::tuple_element_t<At, std::tuple<int, int, Narrow...>>;
  template <std::size_t... At>
  static auto call(std::index_sequence<At...>)
      -> int (*)(WideParameter<Shifted<At>, Shifted<At + 1>, Narrow>...);
  using Call = decltype(call(std::index_sequence_for<Narrow...>()));
};

template <typename NarrowCall, typename WideCall>
class CallPair;

template <typename... Narrow, typename... Wide>
class CallPair<int (*)(Narrow...), int (*)(Wide...)> {
 public:
  int (*narrow)(Narrow...) = nullptr;
  int (*wide)(Wide...) = nullptr;  // of MPI 4; nullptr if the MPI has none

  int operator()(Narrow... arguments) const { return narrow(arguments...); }

  // Through the narrow form if the counts fit into it: every MPI has that.
  int operator()(Wide... arguments) const {
    if constexpr ((convertible<Narrow, Wide> && ...)) {
      if ((fits<Narrow>(arguments) && ...)) return narrow(narrowed<Narrow>(arguments)...);
    }
    return wide == nullptr ? MPI_ERR_COUNT : wide(arguments...);
  }

 private:
  template <typename To, typename From>
  static constexpr bool convertible = std::is_same_v<To, From> || std::is_same_v<To, int>;

  template <typename To, typename From>
  static bool fits(From value) {
    if constexpr (std::is_same_v<To, From>)
      return true;
    else
      return value <= INT_MAX;  // negative counts are the MPI's to judge
  }

  template <typename To, typename From>
  static To narrowed(From value) {
    if constexpr (std::is_same_v<To, From>)
      return value;
    else
      return value < 0 ? -1 : static_cast<To>(value);
  }
};

template <typename NarrowCall>
using CountedCall = CallPair<NarrowCall, typename Widened<NarrowCall>::Call>;

}  // namespace thinwire::mpi
