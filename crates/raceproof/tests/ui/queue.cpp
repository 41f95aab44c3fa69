// Two C++ threads append to a list without a lock.
#include <thread>

struct Item {
    int value;
    Item *next;
};

class Queue {
  public:
    void push(Item *item) {
        item->next = head_; // RACE!
        head_ = item;       // RACE!
    }

  private:
    Item *head_ = nullptr;
};

static Queue queue;

int main() {
    static Item items[2] = {{1, nullptr}, {2, nullptr}};
    std::thread other([] { queue.push(&items[0]); });
    queue.push(&items[1]);
    other.join();
}
