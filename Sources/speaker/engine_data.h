// SPDX-License-Identifier: GPL-3.0-or-later
//
// The engine's data files: what they are, and how they are read without opening anything.

#ifndef SPEAKER_ENGINE_DATA_H
#define SPEAKER_ENGINE_DATA_H

#include <stdbool.h>
#include <stdint.h>

/// Lists the files under the engine's data folder and keeps the contents of those that it reads in the middle of a
/// text: the dictionaries, one a language, because a text may switch to any of them. False when that failed.
bool engine_data_preload(const char *folder);

/// FNV-1a (64 bits) over the relative names, sizes and contents of all data files, in the order of their names: other
/// data makes other sound. The contents are taken eight bytes at a time. False when a file could not be read.
bool engine_data_fingerprint(uint64_t *fingerprint);

/// Whether a voice may be asked of the engine by this name: [A-Za-z0-9_-]+, and perhaps '+' and the name of a variant
/// whose file exists. The engine silently ignores a variant it does not have and overruns its buffers on long names.
bool engine_data_names_voice(const char *voice);

/// The kept contents of a data file by its absolute path; false when there is no such file or it is not kept.
bool engine_data_find_kept(const char *path, const char **contents, uint64_t *size);

#endif
