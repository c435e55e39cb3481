/** What each database's levels let a schedule do, in the words of the theory. */
import type { IsolationName } from '../sql/index.ts';
import type { Dialect } from './application.ts';
import type { Level } from './robustness/access.ts';
import { weakened, weakestLevels } from './robustness/allocate.ts';
import type { SearchLimits } from './robustness/chain-search.ts';
import type { Template } from './robustness/templates.ts';
import type { ReadsOf } from './level-reads.ts';

export interface LevelRule {
  readonly level: Level;
  readonly reads: ReadsOf;
}

export interface EngineLevels {
  /** `null`: it is not analyzed. */
  readonly rules: Readonly<Record<IsolationName, LevelRule | null>>;
  /** Weakest first. Where all transactions have the last one, every schedule is serializable. */
  readonly names: readonly IsolationName[];
  readonly weakest: (set: AllocatedSet) => readonly IsolationName[];
}

/** Transactions for which levels are sought. */
export interface AllocatedSet {
  readonly templates: readonly Template[];
  /** The transaction of each template, by number. */
  readonly programOf: readonly number[];
  readonly count: number;
  readonly limits: SearchLimits;
  /** @param levels by transaction */
  readonly isRobust: (levels: readonly IsolationName[]) => boolean;
}

const postgresNames: Readonly<Record<Level, IsolationName>> = {
  RC: 'read committed',
  SI: 'repeatable read',
  SSI: 'serializable',
};

/** READ UNCOMMITTED is READ COMMITTED; REPEATABLE READ is snapshot isolation; SERIALIZABLE adds what makes it serializable (manual, chapter 13.2). */
const postgres: EngineLevels = {
  rules: {
    'read uncommitted': { level: 'RC', reads: 'by statement' },
    'read committed': { level: 'RC', reads: 'by statement' },
    'repeatable read': { level: 'SI', reads: 'by statement' },
    serializable: { level: 'SSI', reads: 'by statement' },
  },
  names: ['read committed', 'repeatable read', 'serializable'],
  weakest: ({ templates, programOf, limits }) =>
    weakestLevels(templates, programOf, limits).map((level) => postgresNames[level]),
};

/**
 * InnoDB (MySQL 8.0 manual, 17.7.2.1 "Transaction Isolation Levels" and 17.7.2.3 "Consistent Nonlocking Reads"). What writes or locks reads the latest
 * committed row at every level, no level refuses a write because of a snapshot, and at SERIALIZABLE a SELECT locks what it reads. So where another
 * transaction overwrites what a transaction has read, and commits first, that read took no lock; whether this can happen depends on the level of the
 * reader alone (docs/analyze.md).
 */
const innodb: EngineLevels = {
  rules: {
    // It reads what may be rolled back.
    'read uncommitted': null,
    'read committed': { level: 'RC', reads: 'by statement' },
    'repeatable read': { level: 'RC', reads: 'one snapshot' },
    serializable: { level: 'RC', reads: 'locked' },
  },
  names: ['read committed', 'repeatable read', 'serializable'],
  weakest: ({ count, isRobust }) =>
    weakened(
      Array.from({ length: count }, (): IsolationName => 'serializable'),
      innodb.names,
      isRobust,
    ),
};

export const levelsOf: Readonly<Record<Dialect, EngineLevels>> = { postgres, mysql: innodb };
