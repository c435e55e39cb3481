/** A run whose mistakes are the user's: another dialect, a schema that fails. */
import { InputError } from '../base/index.ts';
import type { Profile } from '../database/index.ts';
import type { SqlProgram } from '../program/index.ts';
import { SqlError } from '../sql/model/index.ts';
import type { SqlRunOptions } from './sql-run-options.ts';
import { runSqlProgram, type SqlRun } from './sql-run.ts';

/** @throws InputError `program/dialect` */
export function checkDialect({ dialect }: SqlProgram, profile: Profile): void {
  if (dialect === profile.dialect) return;
  throw new InputError('program/dialect', `the program speaks ${dialect} and the database ${profile.dialect}`);
}

/** What the functions of a run draw from, such as `random()`. */
export function seedOf(seed: number, run: number): number {
  return seed * 1_000_003 + run;
}

/** A run; a schema that fails is bad input. */
export async function checkedRun(program: SqlProgram, options: SqlRunOptions): Promise<SqlRun> {
  try {
    return await runSqlProgram(program, options);
  } catch (error) {
    throw schemaFault(error);
  }
}

/** An error of the schema as bad input; any other as it is. */
export function schemaFault(error: unknown): unknown {
  if (!(error instanceof SqlError)) return error;
  return new InputError('program/schema', `the schema: ${error.message} (${error.code})`);
}
