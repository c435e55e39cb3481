/** `moirai test examples/oltp/voter.program.ts` */
import { oltpProgram, workloads } from './program.ts';

export default oltpProgram(workloads.voter, { dialect: 'postgres', sessions: 2, transactions: 4, seed: 1 });
