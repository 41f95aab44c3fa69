// A descriptor of `epoll` in the list of another.
// Shows: descriptors: `epoll` descriptors inside another's list
#include <sys/epoll.h>

int main(void) {
    int outer = epoll_create1(0), inner = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event); // REFUSED another `epoll` descriptor
}
