// SPDX-License-Identifier: GPL-3.0-or-later
//
// The engine's data files: their list, and access to them without opening anything.

#ifndef SPEAKER_ENGINE_DATA_H
#define SPEAKER_ENGINE_DATA_H

#include <stdbool.h>
#include <stdint.h>

/// Lists the files under the engine's data folder, and keeps the contents of the dictionaries, one for each language.
/// The engine reads these in the middle of a text, because a text may change to any language. Returns false on failure.
bool engine_data_preload(const char *folder);

/// An FNV-1a hash (64 bits) over the relative names, sizes and contents of all data files, in the order of their names,
/// because different data gives different sound. The contents are hashed eight bytes at a time. Returns false when a
/// file could not be read.
bool engine_data_fingerprint(uint64_t *fingerprint);

/// Returns whether the engine may be asked for a voice of this name: [A-Za-z0-9_-]+, optionally followed by '+' and the
/// name of a variant whose file exists. The engine silently ignores an unknown variant, and long names overrun its
/// buffers.
bool engine_data_names_voice(const char *voice);

/// Returns the kept contents of a data file by its absolute path; false when the file does not exist or is not kept.
bool engine_data_find_kept(const char *path, const char **contents, uint64_t *size);

#endif
