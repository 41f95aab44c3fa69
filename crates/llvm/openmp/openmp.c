/* One unit, since it is compiled with every program that uses OpenMP. */
#include "team.c"
#include "loop.c"
#include "lock.c"
#include "task.c"
#include "query.c"
