// SPDX-License-Identifier: GPL-3.0-or-later
//
// Functions that libespeak-ng takes from the C library, and gets from this program instead.

#ifndef SPEAKER_ENGINE_IMPORTS_H
#define SPEAKER_ENGINE_IMPORTS_H

#include <stdbool.h>

/// Whether the engine's calls come to this program at all; without that, no child could be confined.
bool engine_imports_are_taken(void);

/// From here on this process sees the kept data files (engine_data.h) and no others, and opens none.
void engine_imports_serve_kept_files_only(void);

/// Begins the engine's random numbers anew, as in a process that has drawn none.
void engine_imports_restart_random(void);

#endif
