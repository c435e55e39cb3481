/**
 * A real MySQL for tests that compare with it, where there is one: Debian's stable release has none, so MOIRAI_MYSQLD names it. Debian's unstable
 * one has `mysql-server-core`, which runs from a folder with the libraries that it depends on, through a script that sets the library path.
 */
import { startInnodbServer } from './innodb-server.ts';
import { shared, type TestServer } from './server-process.ts';

/** The program, or undefined: tests of MySQL are skipped, as the machine of everyday work has none. */
export const mysqld: string | undefined = process.env['MOIRAI_MYSQLD'];

/**
 * User root without a password, database test, on 127.0.0.1. Foreign keys are InnoDB's own, as before MySQL 9.6, unless `settings` say otherwise:
 * those of the layer above hide deadlocks in 9.7.4 (test/recording/claims.test.ts).
 */
export function startMysql(program: string, settings: readonly string[] = []): () => Promise<TestServer> {
  return shared(() =>
    startInnodbServer({
      name: 'mysql',
      program,
      creation: [program, '--initialize-insecure'],
      settings: [
        '--mysqlx=OFF',
        '--disable-log-bin',
        '--secure-file-priv=NULL',
        '--loose-innodb-native-foreign-keys=ON',
        ...settings,
      ],
    }),
  );
}
