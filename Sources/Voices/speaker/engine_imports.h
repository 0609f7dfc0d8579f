// SPDX-License-Identifier: GPL-3.0-or-later
//
// Functions of the C library for which libespeak-ng uses this program's versions.

#ifndef SPEAKER_ENGINE_IMPORTS_H
#define SPEAKER_ENGINE_IMPORTS_H

#include <stdbool.h>

/// Returns whether the engine's calls reach this program at all. Otherwise no child could be confined.
bool engine_imports_are_taken(void);

/// Restricts this process to the kept data files (engine_data.h). It can open no files from then on.
void engine_imports_serve_kept_files_only(void);

/// Resets the engine's random numbers to those of a new process.
void engine_imports_restart_random(void);

#endif
