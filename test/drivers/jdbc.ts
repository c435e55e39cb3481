/** JDBC drivers as Debian packages them. */
import type { Served } from './shop.ts';

export interface JdbcDriver {
  readonly name: string;
  readonly dialect: 'postgres' | 'mysql';
  readonly how: string;
  readonly jar: string;
  /** What its jar needs beside it. */
  readonly more: readonly string[];
  readonly debian: string;
  readonly url: (served: Served) => string;
  /** What `Shop.java` prints before the end of the lock wait. */
  readonly answer: readonly string[];
}

const folder = '/usr/share/java';

function answer(tables: string, violation: string): string[] {
  return [
    `tables: ${tables}`,
    'insert: [1, 2], a batch of 3',
    'select: [zoë 12.50 true true null, third 12.50 true true null]',
    'prepared: [2 12.50 true true, -, 2 12.50 true true, -, 2 12.50 true true, -, 2 12.50 true true, -]',
    'update: 1, delete: 1',
    'commit, rollback: 4.00',
    'isolation: [1.00 2.00, 1.00 1.00]',
    'savepoint: 6.00',
    `unique violation: ${violation}`,
    'lock wait',
  ];
}

export const pgjdbc: JdbcDriver = {
  name: 'pgjdbc',
  dialect: 'postgres',
  how: 'extended protocol, binary results from the fifth use',
  jar: `${folder}/postgresql.jar`,
  more: ['scram-client.jar', 'scram-common.jar'].map((jar) => `${folder}/${jar}`),
  debian: 'libpostgresql-jdbc-java',
  url: ({ host, port }) => `jdbc:postgresql://${host}:${port}/shop?user=ann`,
  answer: answer('[author, book]', '23505 0'),
};

export const connectorJ: JdbcDriver = {
  name: 'MariaDB Connector/J',
  dialect: 'mysql',
  how: 'text protocol, batches',
  jar: `${folder}/mariadb-java-client.jar`,
  more: [],
  debian: 'libmariadb-java',
  url: ({ host, port }) => `jdbc:mariadb://${host}:${port}/shop?user=root`,
  answer: answer('[author, book]', '23000 1062'),
};
