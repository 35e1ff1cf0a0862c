// The state of a process of a crowd, what the library says of its communicators, and the figures of
// all processes.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "descriptors.h"
#include "thinwire/thinwire.h"
#include "thinwire/thinwire_nccl.h"

namespace crowd {

// The figures of one rank, or the largest of all ranks.
struct Found {
  double world = 0, parts = 0, there = 0, calls = 0, messages = 0, ring = 0, idle = 0,
         ends = 0;  // seconds
  int present = 0, wrong = 0;
  int before = 0, most = 0, at_end = 0;                // descriptors
  int threads = 0, kibibytes = 0, own = 0, share = 0;  // KiB; `share`: PSS
  long compressed_calls = 0, compressed_messages = 0;
};

// The figure of that name in a file of /proc/self.
inline int figure_of(const char* file, const std::string& name) {
  std::ifstream from(std::string("/proc/self/") + file);
  for (std::string word; from >> word;) {
    int value = 0;
    if (word == name && from >> value) return value;
  }
  return 0;
}

// The library's report; nothing without the library.
inline std::string report() {
  static const auto ask =
      reinterpret_cast<decltype(&tw_nccl_report)>(dlsym(RTLD_DEFAULT, "tw_nccl_report"));
  if (ask == nullptr) return "";
  std::string text;
  std::uint64_t bytes = 4096;
  do {
    text.assign(bytes, '\0');
    if (ask(text.data(), text.size(), &bytes) != TW_OK) return "";
  } while (bytes > text.size());
  return text;
}

// Communicators all of whose ranks have the library.
inline int present_in(const std::string& text) {
  int count = 0;
  constexpr const char* kWords = "ranks have it\"";
  for (std::size_t at = 0; (at = text.find(kWords, at)) != std::string::npos; ++at) ++count;
  return count;
}

inline long compressed_in(const std::string& text, const std::string& operation) {
  long count = 0;
  const std::string begin = '"' + operation + '"', figure = "\"compressed_calls\":";
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos; ++at) {
    const std::size_t found = text.find(figure, at);
    if (found != std::string::npos) count += std::atol(text.c_str() + found + figure.size());
  }
  return count;
}

template <typename Figure>
void take_most(Figure& most, Figure one) {
  most = std::max(most, one);
}

inline void add(Found& all, const Found& one, bool first) {
  for (const auto figure : {&Found::world, &Found::parts, &Found::there, &Found::calls,
                            &Found::messages, &Found::ring, &Found::idle, &Found::ends}) {
    take_most(all.*figure, one.*figure);
  }
  for (const auto figure : {&Found::before, &Found::most, &Found::at_end, &Found::threads,
                            &Found::kibibytes, &Found::own, &Found::share}) {
    take_most(all.*figure, one.*figure);
  }
  all.present = first ? one.present : std::min(all.present, one.present);
  all.wrong += one.wrong;
  all.compressed_calls += one.compressed_calls;
  all.compressed_messages += one.compressed_messages;
}

inline void print(const Found& all, int ranks) {
  std::printf("%d ranks, present in %d communicators, %d wrong\n", ranks, all.present, all.wrong);
  std::printf(
      "seconds: world %.2f, parts %.2f, there %.2f, collectives %.2f, all-to-all %.2f, "
      "ring %.2f, until idle %.2f, end %.2f\n",
      all.world, all.parts, all.there, all.calls, all.messages, all.ring, all.idle, all.ends);
  std::printf("descriptors: %d at first, %d at most, %d idle; %d threads; %d KiB\n", all.before,
              all.most, all.at_end, all.threads, all.kibibytes);
  std::printf("memory: %d KiB private, %d KiB by PSS\n", all.own, all.share);
  std::printf("compressed: %ld gathers, %ld messages\n", all.compressed_calls,
              all.compressed_messages);
}

}  // namespace crowd
