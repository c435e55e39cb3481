/** Keyv on PostgreSQL: two processes store their first value; each makes the table where there is none. */
import { once } from 'node:events';
import { sqlProgram } from 'moirai';

/** @param KeyvPostgres the library, of one version */
export function firstValue(KeyvPostgres) {
  const set = async ({ name, connect }) => {
    // The library has one pool for the process and makes another for another address. It closes only the last; a connection that is used once closes itself.
    const uri = `postgresql://app@localhost/app?application_name=${name}`;
    const keyv = new KeyvPostgres({ uri, stream: connect, max: 1, maxUses: 1 });
    const failed = once(keyv, 'error').then(([error]) => Promise.reject(error));
    await Promise.race([keyv.set(name, 'value'), failed]);
  };
  return sqlProgram({ dialect: 'postgres', schema: 'SELECT 1', sessions: { alice: set, bob: set } });
}
