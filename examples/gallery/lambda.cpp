// $ raceproof check lambda.cpp
// A lambda captures by reference what it should have had for itself.
#include <thread>

int main() {
    int sum = 0;
    std::thread worker([&sum] { sum += 1; });
    sum += 2;
    worker.join();
    return sum == 3 ? 0 : 1;
}
