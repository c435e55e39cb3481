/**
 * Which way to a table's rows was taken where a server may take another and it makes a difference: InnoDB locks what it passes on the way, and
 * PostgreSQL's serializable transactions remember it (SIREAD locks). What a run shows then holds for servers that choose the same way.
 */
import { createHash } from 'node:crypto';
import type { EngineProfile } from '../../engine/index.ts';
import { type IsolationName, type QueryStatement, statementLine } from '../../sql/index.ts';

/** One table in one statement. */
export interface AssumedAccess {
  readonly table: string;
  readonly statement: string;
  /** `by index accounts_owner`, `as a whole`. */
  readonly taken: string;
  /** Its position among the ways that there are: 0 is the likely one. */
  readonly way: number;
  /** How many ways there are. */
  readonly ways: number;
}

export class AssumedAccesses {
  readonly #byKey = new Map<string, AssumedAccess>();
  readonly #others = new Map<string, AssumedAccess>();
  /** The level at which a statement was noted last. */
  readonly #noted = new WeakMap<QueryStatement, IsolationName>();

  get list(): readonly AssumedAccess[] {
    return mergedAccesses([[...this.#byKey.values()]]);
  }

  /** Those that decide about the order of rows alone, which is also that of their locks: no verdict names them. */
  get ofOrder(): readonly AssumedAccess[] {
    return [...this.#others.values()];
  }

  note(sql: string, statement: QueryStatement, engine: EngineProfile, isolation: IsolationName): void {
    if (this.#noted.get(statement) === isolation) return;
    this.#noted.set(statement, isolation);
    for (const choice of statement.accesses) {
      const { table, taken, way, ways } = choice;
      const depends = engine.dependsOnWay(choice, statement, isolation);
      if (depends === 'nothing') continue;
      const known = depends === 'locks' ? this.#byKey : this.#others;
      const key = `${table}\0${taken}\0${sql}`;
      if (!known.has(key)) known.set(key, { table, statement: statementLine(sql), taken, way, ways });
    }
  }
}

/** Positions of ways by `accessKey`; the likely way, 0, is left out. */
export type Ways = Readonly<Record<string, number>>;

/** A place where a statement reads a table, as six characters: replay tokens hold it. */
export function accessKey({ table, statement }: Pick<AssumedAccess, 'table' | 'statement'>): string {
  const bits = createHash('sha256')
    .update(JSON.stringify([table, statementLine(statement)]))
    .digest()
    .readUInt32BE();
  return (bits % 36 ** 6).toString(36).padStart(6, '0');
}

export function wayOf(ways: Ways = {}, access: Pick<AssumedAccess, 'table' | 'statement'>): number {
  return Object.keys(ways).length === 0 ? 0 : (ways[accessKey(access)] ?? 0);
}

/** One clause for each table and way, for those who judge by it. */
export function assumedClauses(accesses: Iterable<AssumedAccess>): readonly string[] {
  const clauses = [...accesses].map(({ table, taken }) => `the server reads ${table} ${taken}, and in no other way`);
  return [...new Set(clauses)].toSorted();
}

/** One clause for each place that is not read in the likely way, for those who look at a failing run. */
export function unlikelyClauses(accesses: Iterable<AssumedAccess>): readonly string[] {
  return [...accesses]
    .filter(({ way }) => way !== 0)
    .map(({ table, taken, statement }) => `${table} read ${taken} by: ${statement}`);
}

/** Lists of several runs as one. */
export function mergedAccesses(lists: Iterable<readonly AssumedAccess[]>): readonly AssumedAccess[] {
  const byKey = new Map<string, AssumedAccess>();
  for (const list of lists) for (const each of list) byKey.set(mergeKey(each), each);
  return [...byKey.values()];
}

function mergeKey({ table, taken, statement }: AssumedAccess): string {
  return `${table}\0${taken}\0${statement}`;
}
