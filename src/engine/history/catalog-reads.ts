/**
 * Queries of the system catalog, and the DDL that changes their answers: `is there a table of this name?`, then CREATE TABLE. The
 * answer of such a query is a register of the history, `information_schema.tables where table_name = 'jobs'`; DDL that changes the
 * number of rows that satisfy the condition writes it. DDL that finds its name taken has seen the change.
 */
import type { CatalogQuery } from '../../sql/index.ts';

/** The latest queries: DDL asks each of them again. */
const queriesMax = 20;

export interface CatalogRegister {
  readonly key: string;
  readonly condition: string;
  readonly initial: number;
  /** In the order of the DDL statements. */
  readonly changes: readonly CatalogChange[];
}

interface CatalogChange {
  readonly transaction: number;
  readonly rows: number;
  readonly at: number;
}

/** Of a register by a transaction: `change` is the position of the change that it saw, -1: none. */
export interface CatalogRead {
  readonly kind: 'catalog';
  readonly register: CatalogRegister;
  readonly change: number;
  readonly at: number;
}

interface AskedQuery {
  readonly session: number;
  readonly query: CatalogQuery;
  readonly changes: CatalogChange[];
  readonly register: CatalogRegister;
}

export class CatalogReads {
  #asked: AskedQuery[] = [];

  /** @param isSeen is the DDL of this transaction in the answer? Only an open transaction itself sees its own */
  asked(session: number, query: CatalogQuery, isSeen: (transaction: number) => boolean, at: number): CatalogRead {
    const rows = query.rows();
    const condition = query.text();
    const key = condition === '' ? query.relation : `${query.relation} where ${condition}`;
    const known = this.#asked.find(({ register }) => register.key === key);
    const changes = known?.changes ?? [];
    const register = known?.register ?? { key, condition, initial: rows, changes };
    this.#asked = [...this.#asked.slice(1 - queriesMax), { session, query, changes, register }];
    return { kind: 'catalog', register, change: changes.findLastIndex(({ transaction }) => isSeen(transaction)), at };
  }

  /** DDL has run, or what ran before is committed: queries asked in between did not see it. */
  defined(transaction: number, at: number): void {
    for (const each of this.#asked) {
      const rows = each.query.rows();
      const last = each.changes.at(-1)?.rows ?? each.register.initial;
      if (rows !== last) each.changes.push({ transaction, rows, at });
    }
  }

  /** DDL of this session found its name taken: what the session asked before now has another answer. */
  refused(session: number, at: number): CatalogRead[] {
    const own = this.#asked.filter((each) => each.session === session && each.changes.length > 0);
    return own.map(({ register, changes }) => ({ kind: 'catalog', register, change: changes.length - 1, at }));
  }

  clear(): void {
    this.#asked = [];
  }
}
