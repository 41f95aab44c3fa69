// Two locks for two parts of one device, and a function that needs both.
// raceproof static --entry snd_play,snd_mix --locks linux
#include "kernel.h"

struct sound {
    spinlock_t ring_lock;
    struct mutex control_lock;
    int head, tail;
    int volume;
};

static struct sound sound = {.ring_lock = LOCK_UNLOCKED, .control_lock = LOCK_UNLOCKED};

void snd_play(int samples) {
    spin_lock(&sound.ring_lock);
    sound.head += samples; // NORACE
    spin_unlock(&sound.ring_lock);
    mutex_lock(&sound.control_lock);
    if (sound.volume == 0) // RACE!
        sound.volume = 5; // RACE!
    mutex_unlock(&sound.control_lock);
}

int snd_mix(int volume) {
    int space;
#ifndef RACY
    mutex_lock(&sound.control_lock);
#endif
    sound.volume = volume; // RACE!
    spin_lock(&sound.ring_lock);
    space = sound.head - sound.tail; // NORACE
    sound.tail++; // NORACE
    spin_unlock(&sound.ring_lock);
#ifndef RACY
    mutex_unlock(&sound.control_lock);
#endif
    return space;
}

#ifdef MODEL
THREADS(snd_play(4), snd_mix(7))
#endif
