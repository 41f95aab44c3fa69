/* Functions of raceproof for programs under test. Found by `#include <raceproof.h>` without further flags. */
#ifndef RACEPROOF_H
#define RACEPROOF_H

#ifdef __cplusplus
extern "C" {
#endif

/* Any value from lo to hi, both included. A search tries every value of a range of up to 128; of a larger one it tries
   the ends, 0, 1, -1 and what the program compares with, and then does not call anything absent. */
long raceproof_choose(long lo, long hi);

#ifdef __cplusplus
}
#endif

#endif
