// Field by field: members of a union overlap, fields of a structure do not.
#include <pthread.h>

struct packet {
    int kind;
    union {
        int number;
        char text[4];
    } body;
    int checksum;
};

static struct packet packet;

static void *number(void *arg) {
    struct packet *p = arg;
    p->body.number = 7; // RACE!
    return NULL;
}

static void *other(void *arg) {
    struct packet *p = arg;
    p->checksum = 99; // NORACE
#ifdef RACY
    p->body.text[1] = 'x'; // RACE!
#endif
    return NULL;
}

int main(void) {
    pthread_t a, b;
    packet.kind = 1; // NORACE
    pthread_create(&a, NULL, number, &packet);
    pthread_create(&b, NULL, other, &packet);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return packet.body.number; // NORACE
}
