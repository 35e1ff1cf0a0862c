#include "shim/mpi/native/stack_frame.h"

#include <pthread.h>
#include <unwind.h>

#include <cstddef>

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

_Unwind_Reason_Code keep_highest(_Unwind_Context* context, void* into) {
  std::uintptr_t& highest = *static_cast<std::uintptr_t*>(into);
  if (_Unwind_GetCFA(context) > highest) highest = _Unwind_GetCFA(context);
  return _URC_NO_REASON;
}

}  // namespace

OwnStack::OwnStack() : here_(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* first = nullptr;
  std::size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &first, &bytes) == 0) {
    first_ = reinterpret_cast<std::uintptr_t>(first);
    end_ = first_ + bytes;
  }
  pthread_attr_destroy(&attributes);
}

bool OwnStack::has_caller(const void* local) const {
  const auto there = reinterpret_cast<std::uintptr_t>(local);
  if (thread_has(here_)) return thread_has(there) && there > here_;
  // A stack of the program's own, whose bounds the system does not know.
  if (thread_has(there) || there < here_) return false;
  std::uintptr_t highest = 0;
  _Unwind_Backtrace(keep_highest, &highest);
  return there < highest;
}

bool is_on_stack(const void* local, const void* code) {
  Search search{.local = reinterpret_cast<std::uintptr_t>(local),
                .function = _Unwind_FindEnclosingFunction(const_cast<void*>(code))};
  if (search.function == nullptr) return true;
  _Unwind_Backtrace(look_at, &search);
  return !search.is_beyond || search.has_function;
}

}  // namespace thinwire::mpi
