// A socket without connections.
// Shows: the network: datagrams
#include <netinet/in.h>
#include <sys/socket.h>

int main(void) {
    return socket(AF_INET, SOCK_DGRAM, 0) < 0; // REFUSED a socket that is not a stream
}
