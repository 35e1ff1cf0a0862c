// Objects that are loaded in this process, as the loader's own tables in memory say it: programs,
// libraries and modules, their symbols and the words that the loader fills in.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace thinwire::mpi {

struct LoadedObject {
  std::string path;                  // empty for the program
  std::uintptr_t base = 0, end = 0;  // where it is loaded
  ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * calls = nullptr;
  std::size_t call_bytes = 0;
  const ElfW(Rela) * others = nullptr;
  std::size_t other_bytes = 0;
  const std::uint32_t* hash = nullptr;      // of System V
  const std::uint32_t* gnu_hash = nullptr;  // either may be missing

  bool contains(const void* at) const {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    return address >= base && address < end;
  }
  std::size_t symbol_count() const;
  // Whether it has a symbol itself, by its own table: no look-up that others may answer.
  bool defines(const char* name) const;
};

// The objects with symbols, without those that dlmopen() has loaded.
std::vector<LoadedObject> loaded_objects();

// Whether the loader writes the address of a symbol there, as it is: a call's slot or a pointer.
bool is_of_symbol(const ElfW(Rela) & word);

// How often this process has loaded something.
unsigned long long times_loaded();

template <typename T>
T at_address(std::uintptr_t address) {
  return reinterpret_cast<T>(address);
}

// Makes the pages of some bytes writable, if they are not, for as long as it lives. What they are
// besides, as executable, they stay.
class Writable {
 public:
  Writable(const void* first, std::size_t bytes);
  ~Writable();
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;

  bool is_writable() const { return is_writable_; }

 private:
  void* pages_ = nullptr;
  std::size_t bytes_ = 0;
  int before_ = 0;
  bool is_writable_ = false, is_changed_ = false;
};

// False if its page cannot be made writable.
bool write_word(void** place, void* value);

}  // namespace thinwire::mpi
