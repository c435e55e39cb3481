/** `moirai test examples/oltp/wikipedia.program.ts` */
import { oltpProgram, workloads } from './program.ts';

export default oltpProgram(workloads.wikipedia, { dialect: 'postgres', sessions: 2, transactions: 6, seed: 1 });
