// Arguments of std::thread are copied unless passed by reference.
#include <functional>
#include <thread>

static void add(int &target, int amount) {
    target += amount; // RACE!
}

int main() {
    int total = 0;
    std::thread worker(add, std::ref(total), 5);
#ifdef RACY
    total++; // RACE!
    worker.join();
#else
    worker.join();
    total++;
#endif
    return total != 6 && total != 5 && total != 1;
}
