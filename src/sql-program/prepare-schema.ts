/** What a program's database holds before its sessions begin. */
import type { SqlDatabase } from '../database/index.ts';

/** @throws SqlError */
export async function prepareSchema(database: SqlDatabase, schema: readonly string[]): Promise<void> {
  const options = { user: 'schema', database: '', parameters: new Map(), onParameter: () => {}, isSetUp: true };
  const session = database.connect(options);
  for (const text of schema) for (const sql of session.split(text)) await session.execute(session.prepare(sql), []);
  session.close();
}
