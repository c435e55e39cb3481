/** A SQL program of a hundred schedules, in a file that threads can load. */
import { countingProgram } from '../../src/sql-program/counting-program.test-support.ts';

// Programs are default exports.
// oxlint-disable-next-line import/no-default-export
export default countingProgram({ a: 1, b: 1, c: 1 });
