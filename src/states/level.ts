/**
 * The levels that commit tests define, as a table: Soethout, van der Storm and Vinju, SEFM 2020 Workshops, Table 1, after Crooks,
 * Pu, Alvisi and Clement, PODC 2017. The tests themselves are in `commit-tests.ts`; `docs/commit-tests.md` shows this table.
 *
 * Two names differ from those of the axiomatic levels, because the levels do. `preread` is what the paper calls Read Committed: it
 * is strictly weaker than the axiomatic read-committed, for each read may look at another state, also at an older one than the read
 * before it. And no test here but session-snapshot-isolation knows sessions.
 */
import { InputError } from '../base/index.ts';

/** Each after all those that it implies. */
export const commitTestLevels = [
  'read-uncommitted',
  'preread',
  'read-atomic',
  'parallel-snapshot-isolation',
  'snapshot-isolation',
  'session-snapshot-isolation',
  'serializable',
  'strict-serializable',
] as const;

/** A level by its name among the commit tests. */
export type CommitTestLevel = (typeof commitTestLevels)[number];

/** Levels whose verdict depends on nothing but the operations of each transaction: neither times nor sessions. */
export type TimelessLevel = Exclude<CommitTestLevel, 'session-snapshot-isolation' | 'strict-serializable'>;

/** A row of the table. */
export interface CommitTestInfo {
  /** What the literature calls the level. */
  readonly title: string;
  /** The test of a transaction T in an execution e; s_p is the state before T, s_T the one after it. */
  readonly test: string;
  /** The paper's TLA+, where it has the level. */
  readonly tla?: string;
  /** The next weaker levels: an execution that passes this test passes theirs. */
  readonly implies: readonly CommitTestLevel[];
  readonly source: string;
}

const table1 = 'SEFM 2020, Table 1';
const memory = 'Crooks et al. 2017 from memory';

/** The commit tests by level, in words, with their sources. */
export const commitTestTable: Record<CommitTestLevel, CommitTestInfo> = {
  'read-uncommitted': { title: 'Read Uncommitted', test: 'true', tla: 'TRUE', implies: [], source: table1 },
  preread: {
    title: 'Read Committed, in the sense of the commit tests',
    test: 'PREREAD(T)',
    tla: 'Preread(e, T)',
    implies: ['read-uncommitted'],
    source: table1,
  },
  'read-atomic': {
    title: 'Read Atomic',
    test: 'PREREAD(T), and for all reads a, b of T: if the transaction that made first(a) writes the key of b, then first(a) <= last(b)',
    implies: ['preread'],
    source: `${memory}; s12f/tlads, SIB_ISOLATION.tla (first(b) for last(b): the same where values are unique)`,
  },
  'parallel-snapshot-isolation': {
    title: 'Parallel Snapshot Isolation',
    test: 'PREREAD(T), and for all T1 that precede T and operations o of T: if T1 writes the key of o, then s_T1 <= last(o)',
    implies: ['read-atomic'],
    source: `${memory}; s12f/tlads, SIB_ISOLATION.tla`,
  },
  'snapshot-isolation': {
    title: 'Snapshot Isolation',
    test: 'for some s: COMPLETE(T, s) and NO-CONF(T, s)',
    tla: '\\E s \\in toSet(states(e)): Complete(e, T, s) /\\ NoConf(e, T, s)',
    implies: ['parallel-snapshot-isolation'],
    source: table1,
  },
  'session-snapshot-isolation': {
    title: 'Session Snapshot Isolation, by the order of sessions alone',
    test: 'for some s: COMPLETE(T, s) and NO-CONF(T, s) and s_T1 <= s for all T1 before T in its session',
    implies: ['snapshot-isolation'],
    source: `${memory}; without its clauses on commit timestamps`,
  },
  serializable: {
    title: 'Serializability',
    test: 'COMPLETE(T, s_p)',
    tla: 'Complete(e, T, parentState(e, T))',
    implies: ['snapshot-isolation'],
    source: table1,
  },
  'strict-serializable': {
    title: 'Strict Serializability',
    test: 'COMPLETE(T, s_p), and s_T1 <= s_p for all T1 that ended before T started',
    tla: 'Complete(e, T, Sp) /\\ \\A o \\in transactions(e): strictBefore(o, T, ts) => beforeOrEqualInExecution(e, parentState(e, o), Sp)',
    implies: ['serializable'],
    source: `${table1}, with result states for parent states`,
  },
};

/**
 * `read-committed` is understood as `preread`, which is what verdicts then say.
 * @throws InputError `level/unknown`
 */
export function parseCommitTestLevel(text: string): CommitTestLevel {
  const found = commitTestLevels.find((level) => level === text);
  if (found !== undefined) return found;
  if (text === 'read-committed') return 'preread';
  throw new InputError(
    'level/unknown',
    `unknown level of commit tests "${text}"; levels: ${commitTestLevels.join(', ')}`,
  );
}
