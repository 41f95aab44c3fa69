// The number of the thread decides where an iteration writes.
#include <omp.h>
static int x[4]; static int *p[2]={x,0};
int main(void){
#pragma omp parallel num_threads(2)
{ int t=omp_get_thread_num();
#pragma omp for schedule(dynamic)
for(int i=0;i<3;i++) p[t][i]=1;
} return 0;}
