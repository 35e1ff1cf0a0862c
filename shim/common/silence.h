// Why nothing was compressed, as the end of a run says it: what was left raw, by reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thinwire::shim {

// Whether the user, or `thinwire run`, which names "auto" too, has asked for compression. A bare
// preload has not.
bool is_asked_for();

// Another line on standard error has told why nothing is compressed. Any thread.
void silence_is_explained();
bool is_silence_explained();

// Writes a size as "64KiB".
std::string size_text(std::uint64_t bytes);

class LeftRaw {
 public:
  // `one` as in "message". What `may_be_small` is worth a word only if there was much of it.
  void add(std::uint64_t count, const char* one, const std::string& why, bool may_be_small);

  // The most frequent first: "3 messages (would not gain), ..."; "" if it is not worth a word.
  std::string text() const;

 private:
  struct Entry {
    std::uint64_t count;
    std::string text;
  };
  std::vector<Entry> entries_;
  std::uint64_t small_ = 0;
  bool has_large_ = false;
};

}  // namespace thinwire::shim
