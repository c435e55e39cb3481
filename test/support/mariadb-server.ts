/** A real MariaDB for tests that compare with it. */
import { startInnodbServer } from './innodb-server.ts';
import { findProgram, MissingServer, shared, type TestServer } from './server-process.ts';

/** User root without a password, database test, on 127.0.0.1. @throws MissingServer */
export const startMariadb: () => Promise<TestServer> = shared(() => {
  const program = findProgram(['mariadbd', '/usr/sbin/mariadbd']);
  if (program === undefined) {
    throw new MissingServer('no MariaDB server is installed; on Debian: apt-get install mariadb-server');
  }
  const install = findProgram(['mariadb-install-db']) ?? 'mariadb-install-db';
  const creation = [install, '--auth-root-authentication-method=normal', '--skip-test-db'] as const;
  return startInnodbServer({ name: 'mariadb', program, creation, settings: ['--skip-name-resolve'] });
});
