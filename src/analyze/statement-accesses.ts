/**
 * From the text of a statement to what it does to rows, through the project's own SQL front end. Conservative: a read may be of more columns and
 * rows than the server reads; a write or a lock, which keeps others out, is never more than the server's.
 */
import type { DeleteStmt, InsertStmt, Node, RangeVar, SelectStmt, UpdateStmt } from '@pgsql/types';
import { SqlError } from '../sql/model/index.ts';
import { type Column, type MysqlCall, type Table, columnNamed, isSystemTable, statementTree } from '../sql/index.ts';
import { type Access, existence, type Moments } from './access.ts';
import type { Dialect, Statement, Value } from './application.ts';
import { effectOf } from './called-functions.ts';
import { exactNumber, keepsValue } from './key-constants.ts';
import { checksOfDelete, checksOfUpdate, checksOfWrite } from './constraint-accesses.ts';
import { insertAccesses, onDuplicateOf } from './insert-accesses.ts';
import { type Source, sourcesOf, uniqueIndexes, indexColumns, type ValueOf } from './row-keys.ts';
import { type Schema, tableNamed } from './schema.ts';
import type { SnapshotReads } from './level-reads.ts';
import { isExclusive, isLockedBy, isOfTaken, lockingClauses, skips, takenRows } from './skip-locked.ts';
import { StatementColumns } from './statement-columns.ts';
import { increasedColumns, sameWhereEqual } from './version-updates.ts';
import { aliasOf, namesOf, partsOf, type Parts, tablesInFrom } from './sql-tree.ts';

export type StatementAccesses =
  | ({ readonly kind: 'understood' } & Reading)
  | { readonly kind: 'not-understood'; readonly reason: string };

/** Never throws: what cannot be read has a reason. */
export function accessesOf(statement: Statement, schema: Schema): StatementAccesses {
  const ofSchema = knownAccesses.get(schema) ?? new Map<string, StatementAccesses>();
  if (ofSchema.size >= knownMax) ofSchema.clear();
  knownAccesses.set(schema, ofSchema);
  const key = JSON.stringify(statement);
  const found = ofSchema.get(key) ?? readAccesses(statement, schema);
  ofSchema.set(key, found);
  return found;
}

/** A transaction is read again with each change of one of its statements. */
const knownAccesses = new WeakMap<Schema, Map<string, StatementAccesses>>();
const knownMax = 5_000;

function readAccesses(statement: Statement, schema: Schema): StatementAccesses {
  try {
    return { kind: 'understood', ...readingOf(statement, schema) };
  } catch (error) {
    if (error instanceof NotReadable || error instanceof SqlError)
      return { kind: 'not-understood', reason: error.message };
    throw error;
  }
}

/** What the reader does not know. */
class NotReadable extends Error {}

interface Reading extends TreeReading {
  /** Of a SELECT from one table: its columns, by the names that the result has for them. */
  readonly shows: ReadonlyMap<string, string>;
  /** Is its result one row where it finds that of its key, and else none? */
  readonly findsOneRow: boolean;
}

interface TreeReading {
  readonly moments: Moments;
  readonly readsSnapshot: SnapshotReads;
}

function readingOf(statement: Statement, schema: Schema): Reading {
  const tree = statementTree(statement.sql, schema.dialect);
  if (tree === null) return { moments: [], readsSnapshot: 'none', findsOneRow: false, shows: new Map() };
  const findsOne = findsOneRow(tree, statement);
  const outputs = findsOne && 'SelectStmt' in tree ? new StatementColumns(tree, schema).outputs : [];
  const shows = new Map([...outputs].map(([name, { column }]) => [name, column]));
  return { ...treeReadingOf(tree, statement, schema), findsOneRow: findsOne, shows };
}

function treeReadingOf(tree: Node, of: Statement, schema: Schema): TreeReading {
  const statement = new StatementReader(tree, of, schema);
  if ('SelectStmt' in tree) return statement.select(tree.SelectStmt);
  // MySQL 8.0 manual, 17.7.3: the SELECT of an INSERT and the subqueries of an UPDATE lock what they read, and so read the latest rows.
  const latest = (moments: Moments): TreeReading => ({
    moments: oneByOne[schema.dialect](moments),
    readsSnapshot: 'none',
  });
  if ('InsertStmt' in tree) return latest(statement.insert(tree.InsertStmt));
  if ('UpdateStmt' in tree) return latest(statement.update(tree.UpdateStmt));
  if ('DeleteStmt' in tree) return latest(statement.delete(tree.DeleteStmt));
  throw new NotReadable(
    `${Object.keys(tree)[0]?.replace(/Stmt$/, '').toUpperCase()} is neither SELECT, INSERT, UPDATE nor DELETE`,
  );
}

/** Variables keep a value from one statement to the next. */
function isOfVariables(own: MysqlCall): boolean {
  switch (own.kind) {
    case 'set variable':
    case 'set user variable':
    case 'user variable':
      return true;
    case 'if':
    case 'div':
    case 'xor':
    case 'binary':
    case 'text of bytes':
    case 'epoch':
    case 'trim':
    case 'variable':
    case 'default of variable':
      return false;
  }
}

class StatementReader {
  readonly #parts: Parts;
  readonly #valueOf: ValueOf;
  readonly #schema: Schema;
  /** Tables by the names under which columns are qualified; one table may have several. */
  readonly #aliases = new Map<string, Table>();

  readonly #tree: Node;
  /** The name by which later statements use its rows. */
  readonly #result: string | null;

  constructor(tree: Node, { parameters, result }: Pick<Statement, 'parameters' | 'result'>, schema: Schema) {
    this.#tree = tree;
    this.#result = result;
    this.#parts = partsOf(tree);
    this.#valueOf = (node, column) => valueOf(node, parameters, column);
    this.#schema = schema;
    this.#requireReadable(tree);
    for (const relation of this.#parts.relations) {
      const table = this.#table(relation);
      if (table !== undefined) this.#aliases.set(aliasOf(relation), table);
    }
  }

  select(select: SelectStmt): TreeReading {
    const reads = this.#readsOfSelects();
    const locking = lockingClauses(select);
    if (locking.length === 0) return { moments: [reads], readsSnapshot: 'all' };
    const locked = this.#sourcesOf(select).flatMap((source) => {
      const isLocked = locking.some((clause) => isExclusive(clause) && isLockedBy(clause, source.alias));
      return isLocked ? this.#accesses(source, this.#columnsOf(source), new Set(), true) : [];
    });
    const others = unlocked(reads, locked);
    // FOR SHARE reads the latest rows, too; its lock is left out.
    const isShared = locking.some(({ strength }) => strength === 'LCS_FORSHARE' || strength === 'LCS_FORKEYSHARE');
    const hasSubqueries = this.#parts.selects.length > 1 || locking.some(({ lockedRels }) => lockedRels !== undefined);
    return {
      moments: oneByOne[this.#schema.dialect](afterSnapshot(reads, locked)),
      readsSnapshot: others.length > 0 && (hasSubqueries || !isShared) ? 'some' : 'none',
    };
  }

  insert(insert: InsertStmt): Moments {
    const table = this.#requireTable(insert.relation);
    this.#requireComputing(table.columns.map((column) => column.default));
    this.#requireComputing(table.checks);
    const reads = this.#readsOfSelects();
    const read = new Set([existence]);
    if (onDuplicateOf(insert) !== 'fail' || insert.returningClause !== undefined)
      for (const name of this.#columnsOf({ table, alias: aliasOf(insert.relation ?? {}) })) read.add(name);
    const reading = { valueOf: this.#valueOf, result: this.#result, schema: this.#schema };
    const writes = insertAccesses(insert, table, read, reading);
    const checks = writes.flatMap((access) => checksOfWrite(access, this.#schema));
    const deletes = onDuplicateOf(insert) === 'replace' ? checksOfDelete(table, this.#schema) : [];
    // VALUES reads no snapshot: it waits for a row that another transaction inserts under the same key, and sees it.
    return afterSnapshot(reads, [...writes.map(({ access }) => access), ...checks, ...deletes]);
  }

  update(update: UpdateStmt): Moments {
    const target = this.#target(update.relation, update.fromClause, update.whereClause);
    this.#requireComputing(target.table.checks);
    const written = this.#assignedColumns(update, target.table);
    const keyColumns = new Set(uniqueIndexes(target.table).flatMap((index) => indexColumns(target.table, index)));
    const movesRow = [...written].some((name) => keyColumns.has(name));
    if (movesRow) written.add(existence);
    // A row with another key is another row from then on.
    const rows: Source = movesRow ? { ...target, rows: [{ kind: 'condition' }] } : target;
    const values = new Map(
      this.#assignments(update).map(({ name, node }) => {
        const column = columnNamed(target.table, name, this.#schema.dialect);
        return [column?.name ?? name, this.#valueOf(node, column)] as const;
      }),
    );
    const increases = increasedColumns(this.#assignments(update), target, this.#valueOf, this.#schema.dialect);
    const found = this.#accesses(rows, this.#columnsOf(target), written, false);
    // A row that gets another key may be in the way of any row.
    const having = movesRow ? new Map<string, Value>() : undefined;
    const writes = found.map((access): Access => ({ ...access, increases, ...(having && { having }) }));
    const checks = checksOfUpdate(target.table, written, values, this.#schema);
    return afterSnapshot(
      [...this.#readsOfSelects(), ...this.#readsOfOthers(update.fromClause, update.whereClause, update.relation)],
      [...writes, ...checks],
    );
  }

  delete(statement: DeleteStmt): Moments {
    const target = this.#target(statement.relation, statement.usingClause, statement.whereClause);
    const all = new Set([existence, ...target.table.columns.map(({ name }) => name)]);
    const writes = this.#accesses(target, this.#columnsOf(target), all, false);
    const checks = checksOfDelete(target.table, this.#schema);
    const others = this.#readsOfOthers(statement.usingClause, statement.whereClause, statement.relation);
    return afterSnapshot([...this.#readsOfSelects(), ...others], [...writes, ...checks]);
  }

  // ---- rows

  #readsOfSelects(): readonly Access[] {
    return this.#parts.selects.flatMap((select) =>
      this.#sourcesOf(select).flatMap((source) =>
        this.#accesses(source, this.#columnsOf(source), new Set(), skips(select, source.alias)),
      ),
    );
  }

  #sourcesOf(select: SelectStmt): readonly Source[] {
    const isOutermost = 'SelectStmt' in this.#tree && this.#tree.SelectStmt === select;
    const result = isOutermost ? this.#result : null;
    const isLimited = select.limitCount !== undefined || select.limitOffset !== undefined;
    return this.#sources(select.fromClause ?? [], select.whereClause).map((source) =>
      takenRows(isLimited ? withoutSome(source) : source, select, result),
    );
  }

  #sources(from: readonly Node[], where: Node | undefined): readonly Source[] {
    const tables = tablesInFrom(from, where).flatMap((each) => {
      const table = this.#table(each.relation);
      return table === undefined ? [] : [{ ...each, table }];
    });
    return sourcesOf(tables, { valueOf: this.#valueOf, schema: this.#schema });
  }

  #target(relation: RangeVar | undefined, from: readonly Node[] = [], where: Node | undefined): Source {
    this.#requireTable(relation);
    const sources = this.#sources([{ RangeVar: relation ?? {} }, ...from], where);
    // MySQL has LIMIT here, too.
    const target = withoutSome(sources[0] as Source);
    const isTaken = target.rows[0]?.kind === 'condition' && isOfTaken(this.#tree, from, where, this.#common);
    return isTaken ? { ...target, rows: [{ kind: 'taken' }] } : target;
  }

  /** UPDATE ... FROM, DELETE ... USING */
  #readsOfOthers(
    from: readonly Node[] = [],
    where: Node | undefined,
    relation: RangeVar | undefined,
  ): readonly Access[] {
    const [, ...others] = this.#sources([{ RangeVar: relation ?? {} }, ...from], where);
    return others.flatMap((source) => this.#accesses(source, this.#columnsOf(source), new Set(), false));
  }

  #accesses(
    { table, rows, mayMiss, equals: all }: Source,
    reads: ReadonlySet<string>,
    writes: ReadonlySet<string>,
    locks: boolean,
  ): readonly Access[] {
    const equals = sameWhereEqual(all, table, this.#schema.dialect);
    return rows.map((row) => ({ table, row, reads, writes, locks, mayMiss, inserts: false, equals, having: equals }));
  }

  // ---- columns

  /** Every column that a reference anywhere in the statement may mean, and that the row is there. */
  #columnsOf({ table, alias }: Pick<Source, 'table' | 'alias'>): Set<string> {
    const found = new Set([existence]);
    for (const reference of this.#parts.columns) {
      const names = namesOf(reference);
      const qualifier = names.length > 1 ? names.at(-2) : undefined;
      if (qualifier !== undefined && qualifier !== alias && qualifier !== 'excluded') continue;
      const last = names.at(-1);
      if (last === null || (qualifier === undefined && last === alias))
        for (const { name } of table.columns) found.add(name);
      else {
        const column = columnNamed(table, last ?? '', this.#schema.dialect);
        if (column !== undefined) found.add(column.name);
      }
    }
    return found;
  }

  #assignments({ targetList = [] }: UpdateStmt): readonly { readonly name: string; readonly node: Node | undefined }[] {
    return targetList.flatMap((node) =>
      'ResTarget' in node ? [{ name: node.ResTarget.name ?? '', node: node.ResTarget.val }] : [],
    );
  }

  #assignedColumns(update: UpdateStmt, table: Table): Set<string> {
    const names = this.#assignments(update).map(
      ({ name }) => columnNamed(table, name, this.#schema.dialect)?.name ?? name,
    );
    const generated = table.columns
      .filter((column) => column.generated !== null || column.onUpdate !== null)
      .map(({ name }) => name);
    return new Set([...names, ...generated]);
  }

  // ---- tables

  #table(relation: RangeVar): Table | undefined {
    const { schemaname, relname = '' } = relation;
    if (isSystemTable[this.#schema.dialect](relation)) return undefined;
    const table = tableNamed(this.#schema, schemaname, relname);
    if (table !== undefined) return table;
    if (this.#commonTables().includes(relname)) return undefined;
    const isView = this.#schema.catalog.relation(schemaname ?? 'public', relname) !== undefined;
    const unread = this.#schema.unread.tables.get(relname);
    const why = unread === undefined ? '' : `: ${unread}`;
    throw new NotReadable(isView ? `${relname} is not a table` : `the schema has no table ${relname}${why}`);
  }

  #requireTable(relation: RangeVar | undefined): Table {
    const table = this.#table(relation ?? {});
    if (table === undefined) throw new NotReadable(`${relation?.relname} is not a table`);
    const trigger = this.#schema.unread.triggers.get(table.name);
    if (trigger !== undefined) throw new NotReadable(`${trigger} of ${table.name} runs with it`);
    return table;
  }

  #commonTables(): readonly string[] {
    return this.#common;
  }
  #common: readonly string[] = [];

  #requireReadable(tree: Node): void {
    this.#common = [...JSON.stringify(tree).matchAll(/"ctename":"([^"]*)"/g)].map(([, name = '']) => name);
    if (/"ctequery":\{"(?:Insert|Update|Delete|Merge)Stmt"/.test(JSON.stringify(tree)))
      throw new NotReadable('a WITH that writes');
    this.#requireComputing(tree);
  }

  /** No function in it, a tree or a list of them, reads or writes rows. */
  #requireComputing(tree: object): void {
    for (const call of partsOf(tree).functions) {
      if (call.own !== undefined) {
        if (isOfVariables(call.own)) throw new NotReadable('a variable');
        continue;
      }
      const effect = effectOf(call, this.#schema);
      if (effect !== undefined) throw new NotReadable(effect);
    }
  }
}

/** @param column that has it */
function valueOf(node: Node | undefined, parameters: readonly Value[], column?: Column): Value | undefined {
  if (node === undefined) return undefined;
  if ('ParamRef' in node) return parameters[(node.ParamRef.number ?? 1) - 1];
  if ('TypeCast' in node) {
    const value = valueOf(node.TypeCast.arg, parameters, column);
    if (value === undefined || column === undefined || keepsValue(node.TypeCast, column)) return value;
    return { kind: 'expression', operator: `cast ${JSON.stringify(node.TypeCast.typeName)}`, operands: [value] };
  }
  if (!('A_Const' in node)) return undefined;
  const { ival, fval, sval, boolval, isnull } = node.A_Const;
  if (isnull === true) return { kind: 'constant', value: null };
  if (sval !== undefined) return { kind: 'constant', value: sval.sval ?? '' };
  if (fval !== undefined) return { kind: 'constant', value: exactNumber(fval.fval ?? '') };
  if (boolval !== undefined) return { kind: 'constant', value: boolval.boolval ?? false };
  return { kind: 'constant', value: ival?.ival ?? 0 };
}

/**
 * At read committed a statement that has to wait for a row looks at that row again when it gets it, and at the rest never: what it reads beside the rows
 * that it names by key, writes and locks, it may have read before another transaction (PostgreSQL manual, "Read Committed Isolation Level").
 */
function afterSnapshot(reads: readonly Access[], writes: readonly Access[]): Moments {
  const finds = writes.filter(
    ({ row, writes: written, locks, reads: read }) =>
      row.kind === 'condition' && read.size > 0 && (written.size > 0 || locks),
  );
  const others = unlocked(reads, [...writes, ...finds]);
  if (others.length === 0 && finds.length === 0) return [writes];
  if (writes.length === 0) return [others];
  return [[...others, ...finds.map((access) => ({ ...access, writes: new Set<string>(), locks: false }))], writes];
}

/** Of several keys, LIMIT leaves out some rows. Of one, it leaves out none. */
function withoutSome(source: Source): Source {
  return source.rows.length > 1 ? { ...source, mayMiss: true } : source;
}

/** Reads of rows that no lock of the statement covers. */
function unlocked(reads: readonly Access[], locked: readonly Access[]): readonly Access[] {
  return reads.filter((read) => !locked.some((write) => isRereadBy(write, read)));
}

/**
 * InnoDB looks at the rows of a statement that locks one after another, and keeps no lock on one whose further condition is false (at read committed), so that
 * others may change it before the next is read. PostgreSQL reads all of them in one snapshot.
 */
const oneByOne: Readonly<Record<Dialect, (moments: Moments) => Moments>> = {
  postgres: (moments) => moments,
  mysql: (moments) => {
    const [last = [], ...before] = moments.toReversed();
    const mayMiss = last.filter(({ row, mayMiss: may, reads }) => row.kind === 'key' && may && reads.size > 0);
    if (last.length < 2 || mayMiss.length === 0) return moments;
    const looked = mayMiss.map((access) => ({ ...access, writes: new Set<string>(), locks: false, inserts: false }));
    return [[...before.flat(), ...looked], last];
  },
};

/** Is the read that of a locking SELECT, which looks at the row again under its lock? A subquery of an UPDATE does not. */
function isRereadBy(write: Access, read: Access): boolean {
  if (!write.locks || write.table !== read.table || JSON.stringify(write.row) !== JSON.stringify(read.row))
    return false;
  return [...read.reads].every((name) => write.reads.has(name));
}

/** No join, subquery, aggregate or OFFSET, and no INSERT but of one row that may be there already. */
function findsOneRow(tree: Node, { parameters }: Statement): boolean {
  const { relations, selects, functions } = partsOf(tree);
  if (relations.length !== 1) return false;
  if ('SelectStmt' in tree)
    return selects.length === 1 && functions.length === 0 && !mayLeaveOut(tree.SelectStmt, parameters);
  if (!('InsertStmt' in tree)) return selects.length === 0;
  const { selectStmt } = tree.InsertStmt;
  const values = selectStmt !== undefined && 'SelectStmt' in selectStmt ? selectStmt.SelectStmt.valuesLists : undefined;
  return ['keep', 'replace'].includes(onDuplicateOf(tree.InsertStmt)) && values?.length === 1;
}

/** A row that its condition lets through. Libraries bind the numbers of LIMIT and OFFSET. */
function mayLeaveOut(
  { groupClause, havingClause, limitCount, limitOffset, lockingClause = [] }: SelectStmt,
  parameters: readonly Value[],
): boolean {
  const numberOf = (node: Node): number | undefined => {
    const value = valueOf(node, parameters);
    return value?.kind === 'constant' && value.value !== null ? Number(value.value) : undefined;
  };
  const hasRoom = limitCount === undefined || (numberOf(limitCount) ?? 0) > 0;
  const skipsRows = limitOffset !== undefined && numberOf(limitOffset) !== 0;
  const skipsLocked = lockingClause.some(
    (node) => 'LockingClause' in node && node.LockingClause.waitPolicy === 'LockWaitSkip',
  );
  return groupClause !== undefined || havingClause !== undefined || skipsRows || !hasRoom || skipsLocked;
}
