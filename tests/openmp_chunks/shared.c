// One iteration changes what another one reads.
static int x[3]; static int *p=x;
int main(void){
#pragma omp parallel num_threads(2)
{
#pragma omp for schedule(dynamic)
for(int i=0;i<3;i++) {
 if (i==2) { int *n=0;
#pragma omp atomic write
  p=n; }
 else { int *r;
#pragma omp atomic read
 r=p;
 r[i]=1; } }
} return 0;}
