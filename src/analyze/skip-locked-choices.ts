/**
 * SKIP LOCKED in a serial order: any rows may be locked by others, so that each statement with it runs once with every set of rows left out. Another session of the
 * serial order's database locks them while the statement runs.
 */
import type { Node, SelectStmt } from '@pgsql/types';
import type { Chooser } from '../base/index.ts';
import { columnAtCell, primaryKey, quotedName, statementTree, type Table } from '../sql/index.ts';
import type { Dialect } from './application.ts';
import { engineOf } from './engines.ts';
import type { ProgramClient, QueryResult } from '../sql-program/index.ts';
import { skips } from './skip-locked.ts';
import { aliasOf, partsOf } from './sql-tree.ts';

export function usesSkipLocked(sql: string): boolean {
  return /\bskip\s+locked\b/i.test(sql);
}

/** Of each table: with more, 2^n sets of rows are too many. */
const rowsMax = 3;

export class ChoosingClient implements ProgramClient {
  readonly #client: ProgramClient;
  readonly #locker: ProgramClient;
  readonly #chooser: Chooser;
  readonly #dialect: Dialect;
  readonly #tableNamed: (name: string) => Table | undefined;

  /** @param locker a session that does nothing else */
  constructor(
    client: ProgramClient,
    locker: ProgramClient,
    chooser: Chooser,
    dialect: Dialect,
    tableNamed: (name: string) => Table | undefined,
  ) {
    this.#client = client;
    this.#locker = locker;
    this.#chooser = chooser;
    this.#dialect = dialect;
    this.#tableNamed = tableNamed;
  }

  async query(sql: string, parameters?: readonly unknown[]): Promise<QueryResult> {
    if (!usesSkipLocked(sql)) return this.#client.query(sql, parameters);
    const locks = await this.#locks(sql);
    const chosen = this.#chooser.choose(2 ** locks.length);
    if (chosen === 0) return this.#client.query(sql, parameters);
    // It waits where it wants a row that it was to skip.
    await this.#client.query(engineOf[this.#dialect].limitWaits);
    await this.#locker.query('BEGIN');
    try {
      for (const [at, lock] of locks.entries()) if ((chosen >> at) % 2 === 1) await this.#locker.query(lock);
      return await this.#client.query(sql, parameters);
    } finally {
      await this.#locker.query('ROLLBACK');
    }
  }

  end(): void {
    this.#client.end();
    this.#locker.end();
  }

  /** For each row that the statement may leave out, a statement that locks it. */
  async #locks(sql: string): Promise<readonly string[]> {
    const locks: string[] = [];
    for (const table of this.#skippedTables(statementTree(sql, this.#dialect))) {
      const cells = primaryKey(table)?.parts.map(({ cell }) => columnAtCell(table, cell)?.name ?? '') ?? [];
      if (cells.length === 0) continue;
      const keys = cells.map((name) => quotedName(name, this.#dialect));
      const name = quotedName(table.name, this.#dialect);
      const { rows } = await this.#locker.query(`SELECT ${keys.join(', ')} FROM ${name} ORDER BY ${keys.join(', ')}`);
      for (const row of rows.slice(0, rowsMax)) {
        const equal = cells.map((cell, at) => `${keys[at]} = '${String(row[cell]).replaceAll("'", "''")}'`);
        locks.push(`SELECT 1 FROM ${name} WHERE ${equal.join(' AND ')} FOR UPDATE`);
      }
    }
    return locks;
  }

  #skippedTables(tree: Node | null): readonly Table[] {
    const selects = tree === null ? [] : partsOf(tree).selects;
    return [...new Set(selects.flatMap((select) => this.#tablesOf(select)))];
  }

  #tablesOf(select: SelectStmt): readonly Table[] {
    const { relations } = partsOf(select.fromClause ?? []);
    return relations.flatMap((relation) =>
      skips(select, aliasOf(relation)) ? (this.#tableNamed(relation.relname ?? '') ?? []) : [],
    );
  }
}
