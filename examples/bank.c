// Two tellers move money between accounts. One of them forgot a lock.
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account savings = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account checking = {PTHREAD_MUTEX_INITIALIZER, 100};

static void deposit(struct account *account, long amount) {
    pthread_mutex_lock(&account->lock);
    account->balance += amount;
    pthread_mutex_unlock(&account->lock);
}

static long withdraw(struct account *account, long amount) {
    if (account->balance < amount)
        return 0;
    pthread_mutex_lock(&account->lock);
    account->balance -= amount;
    pthread_mutex_unlock(&account->lock);
    return amount;
}

static void *teller(void *arg) {
    (void)arg;
    deposit(&checking, withdraw(&savings, 80));
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, teller, NULL);
    pthread_create(&two, NULL, teller, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("savings %ld, checking %ld\n", savings.balance, checking.balance);
    return 0;
}
