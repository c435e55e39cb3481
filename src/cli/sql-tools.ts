/** What the commands on SQL programs use, in one module: loading it costs time that other commands do without. */
export * from '../campaign/sql/index.ts';
export { recordedProfile } from '../database/index.ts';
export * from '../explore/sql/index.ts';
export * from '../sql-program/index.ts';
