// A thread with little stack, as task runtimes make them.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
#include <functional>

namespace thinwire {

// Returns when `work` has run there.
inline void run_on_small_stack(std::size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_t thread{};
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  const auto body = [](void* of) -> void* {
    (*static_cast<std::function<void()>*>(of))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace thinwire
