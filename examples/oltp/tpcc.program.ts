/** `moirai test examples/oltp/tpcc.program.ts` */
import { oltpProgram, workloads } from './program.ts';

export default oltpProgram(workloads.tpcc, { dialect: 'postgres', sessions: 2, transactions: 6, seed: 1 });
