/**
 * What a step of a SQL session can do to others: which neighbours in a schedule may change places without anybody noticing. A step is one
 * statement or commit, from its start to its end or to a lock that it has to wait for. Said from the statement alone, and carefully:
 *
 * - `local`: only its own session sees it: a savepoint, the end of a transaction that took no lock and wrote nothing.
 * - `read`: a SELECT without locks below serializable. It sees what is committed, so two of them, or one and a write of an open
 *   transaction, come to the same in both orders.
 * - `write`: changes or locks rows in a transaction that stays open. Others may have to wait for it; readers do not see it.
 * - `global`: anything else: a commit of writes, an error (its locks go), definitions, sequences, randomness, and every statement of a
 *   serializable transaction, where reads leave traces (PostgreSQL) or locks (InnoDB), or of read uncommitted.
 */
import type { StatementEvent } from '../serve/index.ts';

export type StepClass = 'local' | 'read' | 'write' | 'global';

/** Do the two steps, of different sessions, come to the same in both orders? */
export function areIndependent(a: StepClass, b: StepClass): boolean {
  if (a === 'local' || b === 'local') return true;
  return (a === 'read' && b !== 'global') || (b === 'read' && a !== 'global');
}

/** What is known of the session when a statement has ended. */
export interface StepState {
  /** Is a transaction still open? */
  readonly isOpen: boolean;
  /** As `transaction_isolation` says it. */
  readonly isolation: string;
  /** Did the transaction lock or write anything before? */
  readonly hasLocked: boolean;
}

/** Statements that draw from something that all sessions share, or look at it, without a row being read or written. */
const shared =
  /\b(?:nextval|setval|currval|lastval|random|rand|uuid|gen_random_uuid|uuid_short|txid_\w+|pg_current_\w+|pg_\w*advisory\w*|get_lock|release_lock|is_free_lock|connection_id|pg_backend_pid|set_config|pg_notify)\b/i;

export function stepClass({ sql, error }: StatementEvent, { isOpen, isolation, hasLocked }: StepState): StepClass {
  if (error !== null || shared.test(sql)) return 'global';
  const level = isolation.toLowerCase().replaceAll('-', ' ');
  const word = firstWord(sql);
  if (quiet.test(word)) {
    // MySQL: BEGIN, and turning autocommit on, commit what is open.
    if (hasLocked && /\b(?:begin|start|autocommit)\b/i.test(sql)) return 'global';
    return /\bsnapshot\b/i.test(sql) ? 'read' : 'local';
  }
  if (/^(?:commit|end|rollback|abort)$/.test(word))
    return hasLocked || isOpen || /\bto\b|\bchain\b/i.test(sql) ? 'global' : 'local';
  if (level !== 'read committed' && level !== 'repeatable read') return 'global';
  if (word === 'select') return isPlainRead(sql) ? 'read' : isOpen ? 'write' : 'global';
  return /^(?:insert|update|delete)$/.test(word) && isOpen ? 'write' : 'global';
}

/** Does the statement leave locks or versions behind, as far as its words say? */
export function mayLock(sql: string): boolean {
  const word = firstWord(sql);
  return !quiet.test(word) && !(word === 'select' && isPlainRead(sql));
}

const quiet = /^(?:begin|start|set|show|savepoint|release|use)$/;

/** Words inside texts count as well: that only makes it more careful. */
function isPlainRead(sql: string): boolean {
  return !/\b(?:for|lock|into|insert|update|delete)\b/i.test(sql);
}

/** Comments and brackets before it make the class `global`. */
function firstWord(sql: string): string {
  return (/^\s*([a-z]+)/i.exec(sql)?.[1] ?? '').toLowerCase();
}
