// A pointer that a thread keeps from one chunk to the next.
static int x;
int main(void){
#pragma omp parallel num_threads(2)
{ int *q=&x;
#pragma omp for schedule(dynamic)
for(int i=0;i<2;i++) {
#pragma omp atomic
 *q+=1;
 q=0;}
} return 0;}
