/** What the parts of one statement share while it is planned. */
import { assert } from '../../base/index.ts';
import {
  type Dialect,
  engineRules,
  notSupported,
  SqlError,
  type TableId,
  type TableLockMode,
  type Waiting,
  type SqlType,
  typeByName,
} from '../model/index.ts';
import { type Catalog, effectivePath } from '../catalog/catalog.ts';
import type { Relation, Table } from '../catalog/relation.ts';
import type { ParameterSlot } from '../expression.ts';
import { postgresHas } from '../known/server-names.ts';
import type { AccessChoice, TableLock } from '../statement.ts';
import type { PlanStep } from './plan-step.ts';
import type { Running } from '../execution.ts';
import { isTemporary } from '../catalog/name.ts';

/** What has to run before the statement itself because it may wait: data-modifying WITH, subqueries that lock rows. */
export type PreludeStep = (running: Running) => Waiting<void>;

/** Which of several ways a statement takes to the rows of a table: a position from 0. It is the same wherever the statement reads the table. */
export type WayOf = (table: string, ways: number) => number;

const firstWay: WayOf = () => 0;

/** A way to the rows of a table: `access.ts` has what else it says. */
interface IndexWay {
  readonly index: { readonly name: string };
}

export class Planning {
  readonly catalog: Catalog;
  readonly dialect: Dialect;
  readonly searchPath: readonly string[];
  readonly prelude: PreludeStep[] = [];
  /** What runs after it: data-modifying WITH that nothing reads. */
  readonly epilogue: PreludeStep[] = [];
  /** Common tables, by what `commonTables` has, that something reads. */
  readonly commonTablesRead = new Set<object>();
  /** What EXPLAIN prints. */
  readonly steps: PlanStep[] = [];
  /** Tables and views that were read. */
  readonly relationsRead = new Set<number>();
  /** Was a relation found whose rows are the catalog's own: of a system schema, or a sequence? */
  readsCatalog = false;
  /** Was one of them temporary? */
  readsTemporary = false;
  /** By which way each table is read, where there is more than one. */
  readonly accesses: AccessChoice[] = [];
  /** What it locks before it runs, in the order in which it names the tables. */
  readonly locks: TableLock[] = [];
  /** Does it write or lock? */
  writes = false;
  /** `Scope.refusesTruncation` of all its parts. */
  refusesTruncation = false;
  /** INSERT IGNORE: is a value that does not fit its column made to fit? */
  fitsValues = false;
  /** Does InnoDB lock what it only reads at every level? So do writes to a table that a join or a subquery reads, too, and INSERT and REPLACE of VALUES. */
  locksReads = false;
  /** Do scans lock the rows of a locking clause as they read them? */
  locksInScans = false;
  readonly #wayOf: WayOf;
  readonly #slots: ParameterSlot[] = [];

  constructor(
    options: {
      readonly catalog: Catalog;
      readonly dialect: Dialect;
      readonly searchPath: readonly string[];
      readonly wayOf?: WayOf;
    },
    parameterTypes: readonly (SqlType | undefined)[] = [],
  ) {
    this.catalog = options.catalog;
    this.dialect = options.dialect;
    this.searchPath = options.searchPath;
    this.#wayOf = options.wayOf ?? firstWay;
    for (const [index, type] of parameterTypes.entries()) this.#slots.push({ index, type });
  }

  /** The way to a table's rows among those that there are; what is taken for granted by it is noted. @param locks does it lock what it reads? */
  access<Way extends IndexWay>(table: Table, ways: readonly (Way | null)[], locks: boolean): Way | null {
    const names = ways.map((way) => (way === null ? 'as a whole' : `by index ${way.index.name}`));
    return ways[this.choose(table.name, names, locks)] ?? null;
  }

  /** The position of one of several ways to read a table, each named as `AccessChoice.taken` has it. @param table its name, and what it is read for where that matters */
  choose(table: string, ways: readonly string[], locks: boolean): number {
    return this.#choose(table, ways, { locks });
  }

  /** The same, of the rows of a subquery with which EXISTS compares a row that has changed. */
  choosePartner(table: string, ways: readonly string[]): number {
    return this.#choose(`${table} for EXISTS`, ways, { locks: false, isForRecheck: true });
  }

  #choose(table: string, ways: readonly string[], use: Pick<AccessChoice, 'locks' | 'isForRecheck'>): number {
    const way = this.#wayAmong(table, ways.length);
    const taken = ways[way];
    if (ways.length > 1 && taken !== undefined) this.accesses.push({ table, taken, way, ways: ways.length, ...use });
    return way;
  }

  lock(table: TableId, mode: TableLockMode): void {
    if (!this.locks.some((lock) => lock.table === table && lock.mode === mode))
      this.locks.push({ table, mode, ifLocked: 'wait' });
  }

  /** A table of FROM that is locked for writing: MySQL asks for one metadata lock, not for a reader's and then more. */
  lockOnce(table: TableId, mode: TableLockMode): void {
    const at = this.locks.findIndex((lock) => lock.table === table && lock.mode === 'access share');
    if (at < 0) this.lock(table, mode);
    else this.locks[at] = { table, mode, ifLocked: 'wait' };
  }

  /** The same as `access` chooses, for a second look at it. */
  wayAmong<Way>(table: Table, ways: readonly (Way | null)[]): Way | null {
    return ways[this.#wayAmong(table.name, ways.length)] ?? null;
  }

  #wayAmong(table: string, ways: number): number {
    return ways < 2 ? 0 : this.#wayOf(table, ways);
  }

  /** `$n`, from 1. */
  parameter(number: number): ParameterSlot {
    if (number < 1 || number > 65_535) throw new SqlError('42P02', `there is no parameter $${number}`);
    while (this.#slots.length < number) this.#slots.push({ index: this.#slots.length, type: undefined });
    const slot = this.#slots[number - 1];
    assert(slot !== undefined, `parameter ${number} has no slot`);
    return slot;
  }

  parameterTypes(fallback: SqlType): SqlType[] {
    return this.#slots.map(({ type }) => (type === undefined || type.name === 'unknown' ? fallback : type));
  }

  /** A type by its name or `schema.name`; users' types along the search path. @throws SqlError 42704 */
  type(name: string, position = -1): SqlType {
    const [schema, bare] = name.includes('.') ? splitOnce(name) : [undefined, name];
    const path = schema === undefined ? effectivePath(this.searchPath) : [schema];
    if (path.includes('pg_catalog')) {
      const known = typeByName(bare);
      if (known !== undefined) return known;
    }
    for (const each of path) {
      const own = this.catalog.type(each, bare);
      if (own !== undefined) return own.type;
    }
    if (path.includes('pg_catalog') && isTypeOfServer[this.dialect](bare))
      throw notSupported(`type ${bare}`, position > 0 ? position : undefined);
    throw new SqlError('42704', `type "${name}" does not exist`, position > 0 ? { position } : {});
  }

  /** @throws SqlError 42P01 */
  relation(range: RelationName): Relation {
    const found = this.findRelation(range);
    if (found !== undefined) return found;
    const { schemaname, relname = '', location } = range;
    const name = schemaname === undefined ? relname : `${schemaname}.${relname}`;
    if (isSystemTable[this.dialect](range)) throw notSupported(`the table ${name}`, (location ?? -1) + 1 || undefined);
    throw new SqlError(
      '42P01',
      `relation "${name}" does not exist`,
      location === undefined ? {} : { position: location + 1 },
    );
  }

  findRelation(range: RelationName): Relation | undefined {
    const found = this.#search(range);
    this.readsCatalog ||= found?.kind === 'virtual' || found?.kind === 'sequence';
    return found;
  }

  #search({ schemaname, relname = '' }: RelationName): Relation | undefined {
    if (schemaname === undefined) return this.catalog.find([relname], this.searchPath);
    if (schemaname === 'pg_temp') {
      const own = this.searchPath.find(isTemporary);
      return own === undefined ? undefined : this.catalog.relation(own, relname);
    }
    if (engineRules[this.dialect].hasCapitalCatalog && schemaname.toLowerCase() === 'information_schema') {
      return this.catalog.relation('information_schema', relname.toLowerCase());
    }
    if (this.#isDatabase(schemaname)) return this.catalog.find([relname], this.searchPath);
    return this.catalog.relation(schemaname, relname);
  }

  /** Where a new object goes. @throws SqlError 3F000 */
  creationSchema(schemaname: string | undefined): string {
    const first = this.searchPath.find((name) => !name.startsWith('pg_') && this.catalog.hasSchema(name)) ?? 'public';
    if (schemaname === undefined || this.#isDatabase(schemaname)) return first;
    if (!this.catalog.hasSchema(schemaname)) throw new SqlError('3F000', `schema "${schemaname}" does not exist`);
    return schemaname;
  }

  #isDatabase(name: string): boolean {
    return engineRules[this.dialect].databasesAreSchemas && !this.catalog.hasSchema(name);
  }
}

const isTypeOfServer: Readonly<Record<Dialect, (name: string) => boolean>> = {
  postgres: (name) => postgresHas.type(name),
  mysql: () => false,
};

export interface RelationName {
  readonly schemaname?: string;
  readonly relname?: string;
  readonly location?: number;
}

/** Does the server have it among its system tables? PostgreSQL's of information_schema have to be named with it. */
export const isSystemTable: Readonly<Record<Dialect, (range: RelationName) => boolean>> = {
  postgres: ({ schemaname, relname = '' }) => {
    const mayBe =
      schemaname === undefined ? relname.startsWith('pg_') : /^(pg_catalog|information_schema)$/.test(schemaname);
    return mayBe && postgresHas.catalogColumns(relname) !== undefined;
  },
  mysql: ({ schemaname }) =>
    ['information_schema', 'performance_schema', 'mysql', 'sys'].includes(schemaname?.toLowerCase() ?? ''),
};

function splitOnce(name: string): [string, string] {
  const dot = name.indexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}
