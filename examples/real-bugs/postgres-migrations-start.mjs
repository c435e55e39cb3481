/** postgres-migrations: two processes start on a database without its tables. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlProgram } from 'moirai';

const empty = mkdtempSync(join(tmpdir(), 'no-migrations-'));
const address = { host: 'localhost', port: 5432, database: 'app', user: 'app', password: '' };

/** @param migrate the library's function, of one version */
export function start(migrate) {
  const run = ({ connect }) => migrate({ ...address, stream: connect }, empty);
  return sqlProgram({ dialect: 'postgres', schema: 'SELECT 1', sessions: { alice: run, bob: run } });
}
