import type { Surroundings } from '../../sql/index.ts';
import type { Instance } from '../instance/index.ts';
import type { DrawnSequences } from './drawn-sequences.ts';
import type { NamedStatements } from './named-statements.ts';
import type { SessionState } from './session-state.ts';
import type { SessionTransaction } from './session-transaction.ts';

/** One session: what its statements and its functions work on. */
export interface SessionParts {
  readonly instance: Instance;
  readonly state: SessionState;
  readonly transaction: SessionTransaction;
  readonly named: NamedStatements;
  readonly sequences: DrawnSequences;
  /** What functions in SQL may ask. */
  readonly surroundings: Surroundings;
}
