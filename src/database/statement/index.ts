export { administer } from './administer.ts';
export { execute } from './execute.ts';
export { schedule } from './schedule.ts';
export { orStackError, withLimits } from './limit-errors.ts';
export { currentStatement, prepareIn } from './statement-plans.ts';
export { usedDatabase } from './used-database.ts';
