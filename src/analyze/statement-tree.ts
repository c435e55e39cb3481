/** A statement's text as the tree of PostgreSQL's grammar, MySQL's too. */
import type { Node } from '@pgsql/types';
import { parseMysql, parseStatement } from '../sql/index.ts';
import { SqlError } from '../sql/model/index.ts';
import type { Dialect } from './application.ts';

/** `null`: no statement. @throws SqlError */
export function statementTree(sql: string, dialect: Dialect): Node | null {
  return parsers[dialect](sql);
}

const parsers: Readonly<Record<Dialect, (sql: string) => Node | null>> = {
  postgres: parseStatement,
  mysql: (sql) => {
    const parsed = parseMysql(sql);
    if (parsed.kind === 'tree') return parsed.tree;
    if (parsed.kind === 'effects' || parsed.kind === 'into') return { SelectStmt: parsed.query };
    if (parsed.kind === 'statement' && parsed.statement.kind === 'empty') return null;
    throw new SqlError(
      '0A000',
      `${/^\s*(\w*)/.exec(sql)?.[1]?.toUpperCase()} is neither SELECT, INSERT, UPDATE nor DELETE`,
    );
  },
};
