export { administer } from './administer.ts';
export { execute } from './execute.ts';
export { schedule } from './schedule.ts';
export { orStackError, withStackLimit } from './statement-limits.ts';
export { currentStatement, prepareIn } from './statement-plans.ts';
export { usedDatabase } from './used-database.ts';
