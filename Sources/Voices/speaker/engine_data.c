// SPDX-License-Identifier: GPL-3.0-or-later

#define _GNU_SOURCE
#include "engine_data.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT = 4096, NAME_PART_LIMIT = 30 };

static const char kept_suffix[] = "_dict";
static const char variant_folder[] = "voices/!v/";

static struct data_file {
  char *name;  // Relative to the folder.
  uint64_t size;
  const char *contents;  // NULL unless kept.
} files[FILE_LIMIT];
static size_t file_count;
static char *folder_prefix;
static size_t folder_prefix_length;

static int note_file(const char *path, const struct stat *status, int type, struct FTW *place) {
  (void)place;
  if (type != FTW_F) return 0;
  if (file_count == FILE_LIMIT) return 1;
  char *name = strdup(path + folder_prefix_length);
  if (name == NULL) return 1;
  files[file_count++] = (struct data_file){name, (uint64_t)status->st_size, NULL};
  return 0;
}

static int by_name(const void *left, const void *right) {
  return strcmp(((const struct data_file *)left)->name, ((const struct data_file *)right)->name);
}

static bool is_kept(const struct data_file *file) {
  size_t length = strlen(file->name), suffix = sizeof kept_suffix - 1;
  return length > suffix && strcmp(file->name + length - suffix, kept_suffix) == 0 && file->size > 0;
}

static bool read_whole(const struct data_file *file, char *contents) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s%s", folder_prefix, file->name) >= (int)sizeof path) return false;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  uint64_t done = 0;
  while (done < file->size) {
    ssize_t got = read(descriptor, contents + done, file->size - done);
    if (got <= 0) break;
    done += (uint64_t)got;
  }
  close(descriptor);
  return done == file->size;
}

/// Keeps the contents in one file-backed mapping, instead of many mappings or anonymous memory, so that a fork copies
/// neither pages nor page tables. The mapping is sealed, so that no process can change the bytes that the others read.
static bool keep_contents(void) {
  uint64_t total = 0;
  for (size_t index = 0; index < file_count; index++) total += is_kept(&files[index]) ? files[index].size : 0;
  int memory = memfd_create("engine-data", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return false;
  bool kept = total > 0 && ftruncate(memory, (off_t)total) == 0;
  char *contents = kept ? mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) : MAP_FAILED;
  kept = contents != MAP_FAILED;
  uint64_t offset = 0;
  for (size_t index = 0; kept && index < file_count; index++) {
    if (!is_kept(&files[index])) continue;
    kept = read_whole(&files[index], contents + offset);
    offset += files[index].size;
  }
  if (contents != MAP_FAILED) munmap(contents, total);
  kept = kept && fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  const char *sealed = kept ? mmap(NULL, total, PROT_READ, MAP_PRIVATE, memory, 0) : MAP_FAILED;
  close(memory);
  if (sealed == MAP_FAILED) return false;
  offset = 0;
  for (size_t index = 0; index < file_count; index++) {
    if (!is_kept(&files[index])) continue;
    files[index].contents = sealed + offset;
    offset += files[index].size;
  }
  return true;
}

bool engine_data_preload(const char *folder) {
  if (asprintf(&folder_prefix, "%s/", folder) < 0) return false;
  folder_prefix_length = strlen(folder_prefix);
  if (nftw(folder, note_file, 16, 0) != 0) return false;
  qsort(files, file_count, sizeof files[0], by_name);
  return keep_contents();
}

static uint64_t fnv1a(uint64_t hash, const void *bytes, size_t count) {
  for (size_t index = 0; index < count; index++) {
    hash = (hash ^ ((const unsigned char *)bytes)[index]) * 0x100000001b3u;
  }
  return hash;
}

/// Computes the same hash over eight bytes at a time. Byte by byte, the engine's 13 MB would dominate the start time.
static uint64_t fnv1a_by_words(uint64_t hash, const char *bytes, size_t count) {
  size_t whole = count / sizeof hash * sizeof hash;
  for (size_t index = 0; index < whole; index += sizeof hash) {
    uint64_t word;
    memcpy(&word, bytes + index, sizeof word);
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return fnv1a(hash, bytes + whole, count - whole);
}

bool engine_data_fingerprint(uint64_t *fingerprint) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t index = 0; index < file_count; index++) {
    const struct data_file *file = &files[index];
    hash = fnv1a(hash, file->name, strlen(file->name) + 1);
    hash = fnv1a(hash, &file->size, sizeof file->size);
    if (file->contents != NULL) {
      hash = fnv1a_by_words(hash, file->contents, file->size);
      continue;
    }
    char *contents = malloc(file->size + 1);
    bool whole = contents != NULL && read_whole(file, contents);
    if (whole) hash = fnv1a_by_words(hash, contents, file->size);
    free(contents);
    if (!whole) return false;
  }
  *fingerprint = hash;
  return true;
}

static const struct data_file *find(const char *name) {
  struct data_file wanted = {.name = (char *)name};
  return bsearch(&wanted, files, file_count, sizeof files[0], by_name);
}

bool engine_data_names_voice(const char *voice) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  size_t base = strspn(voice, letters);
  if (base == 0 || base > NAME_PART_LIMIT) return false;
  if (voice[base] == 0) return true;
  const char *variant = voice + base + 1;
  size_t length = strspn(variant, letters);
  if (voice[base] != '+' || length == 0 || length > NAME_PART_LIMIT || variant[length] != 0) return false;
  char name[sizeof variant_folder + NAME_PART_LIMIT];
  snprintf(name, sizeof name, "%s%s", variant_folder, variant);
  return find(name) != NULL;
}

bool engine_data_find_kept(const char *path, const char **contents, uint64_t *size) {
  if (folder_prefix == NULL || strncmp(path, folder_prefix, folder_prefix_length) != 0) return false;
  const struct data_file *file = find(path + folder_prefix_length);
  if (file == NULL || file->contents == NULL) return false;
  *contents = file->contents;
  *size = file->size;
  return true;
}
