/** From transactions in the words of the schema to the templates of the robustness algorithms: numbers for tables, columns and rows. */
import type { Table } from '../sql/index.ts';
import { type Access, type AccessedRow, existence } from './access.ts';
import {
  type FoundPath,
  heldColumns,
  isRefused,
  type VersionColumns,
  versionColumns,
  withVersioned,
} from './optimistic-locks.ts';
import { isDelete, replacement, secondLook, tablesInsertedAfter, writesOfReplaced } from './replaced-rows.ts';
import { type ParentReferences, parentReferences, parentsOfRow } from './parent-references.ts';
import { absenceOf, isAbsent, variantsOf } from './variants.ts';
import { rowText } from './row-keys.ts';
import type { SearchLimits } from './robustness/chain-search.ts';
import type { NamedTemplateRow, Template, TemplateAccess, TemplateRow } from './robustness/templates.ts';
import { type ReadsOf, type ReadStatement, templatesAt } from './level-reads.ts';
import type { AnalyzedPath, AnalyzedTransaction } from './transactions.ts';
import type { Variant } from './variant.ts';

/** One way through a transaction, with what its rows are called. */
export interface PathTemplate {
  /** By how its reads see the database. */
  readonly templates: Readonly<Record<ReadsOf, Template>>;
  /** Of the list of transactions. */
  readonly transaction: number;
  readonly path: AnalyzedPath;
  readonly variant: Variant;
  /** By variable: the row it stands for. */
  readonly rows: readonly NamedRow[];
}

export interface NamedRow {
  readonly table: Table;
  readonly row: AccessedRow;
}

export interface Templates {
  readonly all: readonly PathTemplate[];
  /** Places of transactions with more variants than are followed. */
  readonly cut: readonly number[];
}

export interface RowRules {
  /** A row that is deleted and inserted again is another one to a statement that waits for it. */
  readonly replacesRows: boolean;
  /** Do locks last to the end of a path? Not where it is that of a unit with several transactions. */
  readonly keepsLocks: boolean;
}

/** Numbers of tables: what the transactions of a whole application do to which rows there are. */
export interface RowChanges {
  /** A row may be missing. */
  readonly inserted: ReadonlySet<number>;
  /** A row may be gone again, or have another key: of two transactions, both may insert it. */
  readonly removed: ReadonlySet<number>;
  readonly versions: VersionColumns;
  readonly references: ParentReferences;
}

const accessesMaxDefault = 500_000;

/**
 * @param limits beyond them, the other paths are cut
 * @param changes of the whole application, where these are not all of its transactions
 * @param known what was made of transactions before, with the same rules and changes
 */
export function templatesOf(
  transactions: readonly AnalyzedTransaction[],
  rules: RowRules,
  limits: Omit<SearchLimits, 'stepsMax'>,
  changes = rowChangesOf(transactions),
  known = new KnownTemplates(),
): Templates {
  const { isOver = () => false, accessesMax = accessesMaxDefault } = limits;
  let left = accessesMax;
  const made = transactions.map((one) => {
    const ofOne = known.of(one, () =>
      templatesOfOne(one, rules, { isOver, accessesMax: left }, changes, known.numbers),
    );
    left -= ofOne.accesses;
    return ofOne;
  });
  return {
    all: made.flatMap(({ all }, transaction) => all.map((template) => ({ ...template, transaction }))),
    cut: made.flatMap(({ isCut }, transaction) => (isCut ? [transaction] : [])),
  };
}

/** The templates of one transaction, whatever others there are. */
interface TemplatesOfOne {
  readonly all: readonly Omit<PathTemplate, 'transaction'>[];
  readonly isCut: boolean;
  readonly accesses: number;
}

/** Templates of transactions that are in several sets: their numbers of tables and constants are the same in all of them. */
export class KnownTemplates {
  readonly numbers = new Numbers();
  /** By the paths of a transaction, which another level leaves as they are. */
  readonly #made = new Map<AnalyzedTransaction['paths'], TemplatesOfOne>();
  #accesses = 0;

  /** What was cut may have room in another set. */
  of({ paths }: AnalyzedTransaction, make: () => TemplatesOfOne): TemplatesOfOne {
    const known = this.#made.get(paths);
    if (known !== undefined) return known;
    const made = make();
    this.#accesses += made.accesses;
    if (this.#accesses > knownAccessesMax) {
      this.#made.clear();
      this.#accesses = made.accesses;
    }
    if (!made.isCut) this.#made.set(paths, made);
    return made;
  }
}

const knownAccessesMax = 100_000;

function templatesOfOne(
  { paths, name }: AnalyzedTransaction,
  rules: RowRules,
  { isOver, accessesMax }: Required<Omit<SearchLimits, 'stepsMax'>>,
  changes: RowChanges,
  numbers: Numbers,
): TemplatesOfOne {
  const all: Omit<PathTemplate, 'transaction'>[] = [];
  const seen = new Set<string>();
  let hasCut = false;
  let accesses = 0;
  for (const path of paths) {
    const hasRoom = accesses < accessesMax && !isOver();
    const { variants, isCut } = hasRoom
      ? variantsOf(path, (table) => changes.inserted.has(table.id), rules)
      : unfollowed;
    hasCut ||= isCut;
    for (const variant of variants) {
      if (isRefused(path, variant)) continue;
      const { statements, rows } = new TemplateOfPath(numbers, rules, changes).of(path, variant);
      const key = JSON.stringify(statements);
      if (seen.has(key) || statements.length === 0) continue;
      seen.add(key);
      accesses += statements.reduce((sum, { moments }) => sum + moments.flat().length, 0);
      all.push({ templates: templatesAt(name, statements), path, variant, rows });
    }
  }
  return { all, isCut: hasCut, accesses };
}

const unfollowed = { variants: [], isCut: true };

export function rowChangesOf(transactions: readonly AnalyzedTransaction[]): RowChanges {
  const paths = transactions.flatMap((one) => one.paths);
  const accesses = paths.flat().flatMap(({ moments }) => moments.flat());
  const tablesOf = (isWanted: (access: Access) => boolean): ReadonlySet<number> =>
    new Set(accesses.flatMap((access) => (isWanted(access) ? [access.table.id] : [])));
  // REPLACE deletes rows of other keys, and what ON CONFLICT writes may be a key.
  const removes = (access: Access): boolean => isDelete(access) || access.overwrites === true;
  const removed = tablesOf(removes);
  return {
    inserted: tablesOf(({ inserts }) => inserts),
    removed,
    versions: versionColumns(accesses, removed),
    references: parentReferences(paths, removed),
  };
}

/** Columns beyond this share one bit: they conflict where they need not, never the other way round. */
const bitsMax = 30;

class Numbers {
  readonly #tables = new Map<number, number>();
  readonly #constants = new Map<string, number>();
  readonly #references = new Map<string, number>();

  table({ id }: Table): number {
    const known = this.#tables.get(id) ?? this.#tables.size;
    this.#tables.set(id, known);
    return known;
  }

  columns(table: Table, names: ReadonlySet<string>): number {
    const all = [existence, replacement, ...table.columns.map(({ name }) => name)];
    return [...names].reduce((bits, name) => bits | (1 << Math.min(all.indexOf(name), bitsMax)), 0);
  }

  constant(text: string): number {
    return numberOf(text, this.#constants);
  }

  reference(name: string): number {
    return numberOf(name, this.#references);
  }
}

function numberOf(name: string, numbers: Map<string, number>): number {
  const known = numbers.get(name) ?? numbers.size;
  numbers.set(name, known);
  return known;
}

type NamedAccessedRow = Extract<AccessedRow, { kind: 'key' | 'new' }>;

class TemplateOfPath {
  readonly #numbers: Numbers;
  readonly #rules: RowRules;
  readonly #changes: RowChanges;
  readonly #variables = new Map<string, number>();
  readonly #rows: NamedRow[] = [];

  constructor(numbers: Numbers, rules: RowRules, changes: RowChanges) {
    this.#changes = changes;
    this.#numbers = numbers;
    this.#rules = rules;
  }

  of(
    path: AnalyzedPath,
    variant: Variant,
  ): { readonly statements: readonly ReadStatement[]; readonly rows: readonly NamedRow[] } {
    const statements = path.map(({ moments, isUndone, readsSnapshot }, at): ReadStatement => {
      const insertedLater = this.#rules.replacesRows ? tablesInsertedAfter(path, at) : new Set<Table>();
      const kept = moments.map((accesses) =>
        accesses.flatMap((access): TemplateAccess[] => {
          const left = this.#withoutHeld(absenceOf(access, at, variant), at, { path, variant });
          if (left === undefined) return [];
          const whole = writesOfReplaced(left, insertedLater);
          return [this.#access(isUndone ? { ...whole, writes: new Set(), locks: false, creates: false } : whole)];
        }),
      );
      const absent = moments.flat().filter((access) => this.#rules.replacesRows && isAbsent(access, variant.absent));
      const again = absent.flatMap(secondLook).map((access) => this.#access(access));
      return { readsSnapshot, moments: [...kept, again].filter((accesses) => accesses.length > 0) };
    });
    return { statements: statements.filter(({ moments }) => moments.length > 0), rows: this.#rows };
  }

  /** A column that an optimistic lock finds as it was read counts as read by the lock only. */
  #withoutHeld(access: Access | undefined, at: number, found: FoundPath): Access | undefined {
    if (access === undefined) return undefined;
    const held = heldColumns({ at, access }, found, () => true);
    if (held.size === 0) return access;
    const guarded = withVersioned(held, access.table, this.#changes.versions);
    const reads = new Set([...access.reads].filter((name) => !guarded.has(name)));
    return reads.size === 0 ? undefined : { ...access, reads };
  }

  #access(access: Access): TemplateAccess {
    const { table, row, reads, writes, locks, creates = false } = access;
    const parents = parentsOfRow(access, this.#changes.references).map(({ name, parent, row: named }) => ({
      reference: this.#numbers.reference(name),
      table: this.#numbers.table(parent),
      row: this.#named(parent, named),
    }));
    return {
      table: this.#numbers.table(table),
      row: this.#row(table, row),
      reads: this.#numbers.columns(table, reads),
      writes: this.#numbers.columns(table, writes),
      locks,
      ...(creates && !this.#changes.removed.has(table.id) ? { creates } : {}),
      ...(parents.length > 0 ? { parents } : {}),
    };
  }

  #row(table: Table, row: AccessedRow): TemplateRow {
    return row.kind === 'condition' || row.kind === 'taken' ? { kind: row.kind } : this.#named(table, row);
  }

  #named(table: Table, row: NamedAccessedRow): NamedTemplateRow {
    // Constants of other keys may be of the same row.
    if (row.kind === 'key' && row.isPrimary && row.constant !== null)
      return { kind: 'constant', constant: this.#numbers.constant(`${table.id} ${row.constant}`) };
    const text = rowText(table, row) ?? `new ${this.#rows.length}`;
    const known = this.#variables.get(text);
    if (known !== undefined) return { kind: 'variable', variable: known };
    this.#variables.set(text, this.#rows.length);
    this.#rows.push({ table, row });
    return { kind: 'variable', variable: this.#rows.length - 1 };
  }
}
