// Error handlers of the program's, which the library runs for the MPI: what its own calls hold is
// put in order first, as the handler may leave them by longjmp().
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <mutex>
#include <utility>

#include "shim/mpi/native/real.h"
#include "shim/mpi/native/under_way.h"
#include "shim/mpi/state/guards.h"

using namespace thinwire::mpi;

namespace {

// The MPI hands a handler nothing of the library's, so each function of the program's has a
// function of ours. Programs have a few; mpi4py has 16 of each kind.
constexpr std::size_t kMost = 64;

template <typename Handle>
class Handlers {
 public:
  using Function = void(Handle*, int*, ...);

  // Stands in for `function`: that itself where it is none or no place is left.
  static Function* stand_in(Function* function) {
    if (function == nullptr) return nullptr;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    for (std::size_t at = 0; at < kMost; ++at) {
      // Places are never free again: the MPI may keep a handler that the program has freed.
      if (programs_[at] == nullptr) programs_[at] = function;
      if (programs_[at] == function) return kHandlers[at];
    }
    return function;
  }

 private:
  // Two arguments more are what MPIs hand on besides those of the standard.
  template <std::size_t kAt>
  static void run(Handle* handle, int* error, ...) {
    va_list more;
    va_start(more, error);
    void* const third = va_arg(more, void*);
    void* const fourth = va_arg(more, void*);
    va_end(more);
    give_up_guard();
    put_in_order(*error);
    programs_[kAt].load()(handle, error, third, fourth);
  }

  template <std::size_t... kAt>
  static constexpr std::array<Function*, kMost> all(std::index_sequence<kAt...>) {
    return {run<kAt>...};
  }

  inline static constinit std::array<std::atomic<Function*>, kMost> programs_{};
  static constexpr std::array<Function*, kMost> kHandlers = all(std::make_index_sequence<kMost>());
};

}  // namespace

#define THINWIRE_CREATE_HANDLER(Kind)                                                          \
  extern "C" int MPI_##Kind##_create_errhandler(MPI_##Kind##_errhandler_function* function,    \
                                                MPI_Errhandler* handler) {                     \
    return real().Kind##_create_errhandler(Handlers<MPI_##Kind>::stand_in(function), handler); \
  }                                                                                            \
  THINWIRE_ALSO_PMPI(Kind##_create_errhandler)

THINWIRE_CREATE_HANDLER(Comm);
// Their requests are completed by the same calls as those of messages.
THINWIRE_CREATE_HANDLER(Win);
THINWIRE_CREATE_HANDLER(File);
