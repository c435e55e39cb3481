/** What `moirai test` was asked to do. */
import type { ConstrainingLevel } from '../../isolation/index.ts';
import type { StrategyName } from '../../mockdb/index.ts';
import type { ReportFiles } from '../page/report-file.ts';
import type { RecordedRun } from '../../program/index.ts';

export interface SqlTestOptions {
  readonly engine?: string;
  readonly isolation?: string;
  readonly level?: string;
  readonly granularity?: string;
  readonly runs?: number;
  /** Absent: the likely access paths. */
  readonly plans?: 'all';
}

export interface TestOptions {
  readonly level: ConstrainingLevel | 'all';
  /** For SQL programs: as they were given. */
  readonly sql?: SqlTestOptions;
  readonly runs: number;
  readonly seed: number;
  readonly replay?: string;
  /** The run that printed the token, where it is kept. */
  readonly recorded?: RecordedRun;
  readonly strategy: StrategyName;
  /** Absent: as the program says. */
  readonly conflicts?: 'retry' | 'abort';
  readonly abortRate: number;
  /** For one run. */
  readonly timeoutMs: number;
  /** For all of them. Absent: any. */
  readonly timeMaxMs?: number;
  readonly files: ReportFiles;
  readonly json: boolean;
  readonly color: boolean;
}
