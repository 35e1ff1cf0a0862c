#include "shim/mpi/native/stack_frame.h"

#include <unwind.h>

#include <cstdint>

namespace thinwire::mpi {
namespace {

struct Search {
  std::uintptr_t local;
  void* function;             // that is to have it
  void* last = nullptr;       // function of the frame before
  bool is_beyond = false;     // a frame above `local` has been seen
  bool has_function = false;  // `local` is in a frame of `function`
};

// Frames come from the innermost on. What the unwinder tells of a frame is its lowest address.
_Unwind_Reason_Code look_at(_Unwind_Context* context, void* into) {
  Search& search = *static_cast<Search*>(into);
  if (_Unwind_GetCFA(context) > search.local) {
    search.is_beyond = true;
    search.has_function = search.last == search.function;
    return _URC_NORMAL_STOP;
  }
  search.last = reinterpret_cast<void*>(_Unwind_GetRegionStart(context));
  return _URC_NO_REASON;
}

}  // namespace

bool is_on_stack(const void* local, const void* code) {
  Search search{.local = reinterpret_cast<std::uintptr_t>(local),
                .function = _Unwind_FindEnclosingFunction(const_cast<void*>(code))};
  if (search.function == nullptr) return true;
  _Unwind_Backtrace(look_at, &search);
  return !search.is_beyond || search.has_function;
}

}  // namespace thinwire::mpi
