// Two threads take turns. C++20.
// Shows: threads: C++20 semaphores
#include <semaphore>
#include <thread>

static std::binary_semaphore ping(1), pong(0);
static int ball;

static void play(std::binary_semaphore &mine, std::binary_semaphore &other) {
    mine.acquire();
    ball++; // RACE!
    other.release();
}

int main() {
    std::thread second([] { play(pong, ping); });
#ifdef RACY
    ping.acquire();
    pong.release();
    ball++; // RACE!
#else
    play(ping, pong);
#endif
    second.join();
    return ball == 2 ? 0 : 1;
}
