/** What `moirai test` was asked to do. */
import type { ConstrainingLevel } from '../isolation/index.ts';
import type { StrategyName } from '../mockdb/index.ts';

export interface TestOptions {
  readonly level: ConstrainingLevel | 'all';
  readonly runs: number;
  readonly seed: number;
  readonly replay?: string;
  readonly strategy: StrategyName;
  /** Absent: as the program says. */
  readonly conflicts?: 'retry' | 'abort';
  readonly abortRate: number;
  readonly timeoutMs: number;
  readonly json: boolean;
  readonly color: boolean;
}
