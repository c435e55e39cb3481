/** Two serializable transactions that have nothing in common where the server reads `jobs` by its index on `owner`. */
import { type SqlConnection, sqlProgram } from '../../src/program/index.ts';
import { onPostgres } from '../../src/sql-program/engines.test-support.ts';

export const schema = `DROP TABLE IF EXISTS jobs; CREATE TABLE jobs (id int PRIMARY KEY, owner int, n int);
  INSERT INTO jobs VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0); CREATE INDEX jobs_owner ON jobs (owner);`;
export const reading = 'SELECT n FROM jobs WHERE owner = $1';
export const writing = 'UPDATE jobs SET n = n + 1 WHERE owner = $1';

// Programs are default exports.
// oxlint-disable-next-line import/no-default-export
export default sqlProgram({ dialect: 'postgres', schema, sessions: { a: increment(10), b: increment(30) } });

function increment(owner: number) {
  return (connection: SqlConnection): Promise<void> =>
    onPostgres(connection, async (client) => {
      await client.query('BEGIN');
      await client.query(reading, [owner]);
      await client.query(writing, [owner]);
      await client.query('COMMIT');
    });
}
