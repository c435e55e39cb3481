/** Which database a source uses, by the drivers that it imports and by what it configures its libraries with. */
import type { Dialect } from '../application.ts';
import type { TypeScript } from './load-typescript.ts';
import { isSource } from './project.ts';

export interface DatabaseEvidence {
  readonly dialect: Dialect;
  /** The first file that says so, and what it says: a module, `client: 'mysql2'`. */
  readonly file: string;
  readonly text: string;
}

const drivers: Readonly<Record<Dialect, RegExp>> = {
  postgres:
    /^(?:pg|pg-promise|postgres|slonik|@neondatabase\/serverless|@vercel\/postgres|drizzle-orm\/(?:node-postgres|postgres-js|pg-core|neon-\w+|vercel-postgres))$/,
  mysql: /^(?:mysql2?|mysql2\/promise|mariadb|drizzle-orm\/(?:mysql2|mysql-core))$/,
};

/** Of Knex, Sequelize, TypeORM and Prisma; Kysely's are classes. */
const settings: Readonly<Record<Dialect, RegExp>> = {
  postgres: /\b(?:client|dialect|type|provider)\s*[:=]\s*['"`](?:pg|postgres(?:ql)?)['"`]|\bPostgresDialect\b/,
  mysql: /\b(?:client|dialect|type|provider)\s*[:=]\s*['"`](?:mysql2?|mariadb)['"`]|\bMysqlDialect\b/,
};

/** At most one for each dialect. O(length of the files) */
export function databasesOf(ts: TypeScript, files: ReadonlyMap<string, string>): readonly DatabaseEvidence[] {
  const read = [...files].filter(([file]) => isSource(file) || file.endsWith('.prisma'));
  return (['postgres', 'mysql'] as const).flatMap((dialect) => {
    for (const [file, source] of read) {
      const imported = ts.preProcessFile(source, true, true).importedFiles.map(({ fileName }) => fileName);
      const text = imported.find((name) => drivers[dialect].test(name)) ?? settings[dialect].exec(source)?.[0];
      if (text !== undefined) return [{ dialect, file, text }];
    }
    return [];
  });
}
