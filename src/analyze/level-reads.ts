/** A template as a level makes it: when its reads see the database, and which of them hold no lock. */
import type { Template, TemplateStatement } from './robustness/templates.ts';

export type ReadsOf =
  /** Each statement reads what is committed when it begins; what it locks is said row by row. */
  | 'by statement'
  /** Every plain SELECT reads what the first one read; what writes or locks reads the latest rows and locks all that it reads. */
  | 'one snapshot'
  /** Every statement locks all that it reads. */
  | 'locked';

/** Which reads of a statement are of the transaction's snapshot, where it has one: those of a plain SELECT, or those of subqueries of a locking one. */
export type SnapshotReads = 'all' | 'some' | 'none';

export interface ReadStatement {
  readonly readsSnapshot: SnapshotReads;
  /** What it reads of the snapshot, if only some, is the first. */
  readonly moments: readonly TemplateStatement[];
}

export function templatesAt(name: string, statements: readonly ReadStatement[]): Readonly<Record<ReadsOf, Template>> {
  const all = statements.flatMap(({ moments }) => moments);
  return {
    'by statement': { name, statements: all },
    'one snapshot': { name, ...inOneSnapshot(statements) },
    locked: { name, statements: all, unlocked: new Set() },
  };
}

/**
 * Every plain SELECT reads when the first one does. A read stays in its place as well where that may be what it sees: of a table that the transaction wrote before, since
 * it then sees its own row with what others had committed to it, and where it is not known which statement made the snapshot.
 */
function inOneSnapshot(statements: readonly ReadStatement[]): Pick<Template, 'statements' | 'unlocked'> {
  const first = statements.findIndex(({ readsSnapshot }) => readsSnapshot !== 'none');
  const ofSnapshot = ({ readsSnapshot, moments }: ReadStatement): readonly TemplateStatement[] =>
    readsSnapshot === 'all' ? moments : readsSnapshot === 'some' ? moments.slice(0, 1) : [];
  const snapshot = statements.flatMap((one) => ofSnapshot(one).flat());
  const isCertain = statements[first]?.readsSnapshot === 'all';
  const placed: TemplateStatement[] = [];
  const unlocked = new Set<number>();
  const written = new Set<number>();
  for (const [at, one] of statements.entries()) {
    if (at === first) {
      unlocked.add(placed.length);
      placed.push(snapshot);
    }
    const accesses = one.moments.flat();
    const stays = one.readsSnapshot !== 'all' || !isCertain || accesses.some(({ table }) => written.has(table));
    if (stays && !isCertain)
      for (const moment of ofSnapshot(one)) unlocked.add(placed.length + one.moments.indexOf(moment));
    if (stays) placed.push(...one.moments);
    for (const { table, writes } of accesses) if (writes !== 0) written.add(table);
  }
  return { statements: placed, unlocked };
}
