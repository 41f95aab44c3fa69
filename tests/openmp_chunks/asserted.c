// Which thread got which chunk decides whether an assertion fails.
#include <assert.h>
#include <omp.h>
static int by[3];
int main(void){
#pragma omp parallel num_threads(2)
{
#pragma omp for schedule(dynamic)
for(int i=0;i<3;i++) by[i]=omp_get_thread_num();
}
assert(!(by[0]==1 && by[1]==0 && by[2]==1));
return 0;}
