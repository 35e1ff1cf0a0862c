// A thread's own object, also for calls that come while the thread or the process ends.
#pragma once

#include <pthread.h>

namespace thinwire {

// Made at first use and deleted with the thread. A `thread_local` object that has a destructor may
// be gone when a destructor of the program's own, or a function of atexit(), makes its last call;
// this one outlives them, and a still later call has another one made. What the main thread had
// stays as the process ends.
template <typename T>
T& of_thread() {
  static thread_local T* own = nullptr;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void* ended) {
      own = nullptr;
      delete static_cast<T*>(ended);
    });
    return made;
  }();
  if (own == nullptr) {
    own = new T;
    pthread_setspecific(key, own);
  }
  return *own;
}

}  // namespace thinwire
