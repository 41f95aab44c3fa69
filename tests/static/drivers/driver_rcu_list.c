// RCU: readers follow a pointer that writers replace; in the racy twin the writer changes the object in place.
// raceproof static --entry acl_check,acl_update --locks linux
#include "kernel.h"

struct acl {
    int allowed;
    int version;
};

static DEFINE_SPINLOCK(writers);
static struct acl versions[3];
static struct acl *current = &versions[0];
static int used = 1;

int acl_check(int user) {
    int allowed;
    rcu_read_lock();
    struct acl *acl = rcu_dereference(current); // NORACE
    allowed = acl->allowed; // RACE!
    rcu_read_unlock();
    return allowed == user;
}

void acl_update(int user) {
    spin_lock(&writers);
#ifdef RACY
    current->allowed = user; // RACE!
#else
    if (used < 3) { // NORACE
        struct acl *fresh = &versions[used++]; // NORACE
        fresh->allowed = user; // NORACE
        rcu_assign_pointer(current, fresh); // NORACE
    }
#endif
    spin_unlock(&writers);
}

#ifdef MODEL
THREADS(acl_check(1), acl_update(2))
#endif
