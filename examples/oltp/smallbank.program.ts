/** `moirai test examples/oltp/smallbank.program.ts` */
import { oltpProgram, workloads } from './program.ts';

export default oltpProgram(workloads.smallbank, { dialect: 'postgres', sessions: 2, transactions: 4, seed: 1 });
