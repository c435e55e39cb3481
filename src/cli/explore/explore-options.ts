/** What `moirai explore` was asked to do. */
import type { ReportFiles } from '../page/report-file.ts';
import { InputError } from '../../base/index.ts';
import type { BaseLevel } from '../../explore/index.ts';
import type { RecordedRun } from '../../program/index.ts';
import type { ConstrainingLevel } from '../../isolation/index.ts';

export interface ExploreCommandOptions {
  readonly level: ConstrainingLevel | 'all';
  /** For SQL programs on an engine: explore the likely access paths, or all combinations of them. */
  readonly plans: 'likely' | 'all';
  /** For SQL programs: as they were given. */
  readonly sql: {
    readonly engine?: string | undefined;
    readonly isolation?: string | undefined;
    readonly level?: string | undefined;
    readonly granularity?: string | undefined;
  };
  /** For SQL programs on an engine: try what may mend the program? */
  readonly remedies: boolean;
  readonly historiesMax: number | null;
  readonly timeMaxMs: number | null;
  /** Of one search for a commit order. */
  readonly stepsMax: number | null;
  readonly timeoutMs: number;
  /** Kinds of violations that are shown. */
  readonly violationsMax: number;
  /** Worker threads. */
  readonly jobs: number;
  /** Say how many histories to expect, and explore nothing? */
  readonly estimates: boolean;
  /** Stop at the first violation? */
  readonly failsFast: boolean;
  /** The level that is explored where `level` cannot be. */
  readonly base: BaseLevel;
  /** Run every session in every run? */
  readonly reruns: boolean;
  readonly drawing: 'dot' | 'mermaid' | null;
  readonly replay: string | null;
  /** The run that printed the token, where it is kept. */
  readonly recorded: RecordedRun | null;
  /** The file to write a checkpoint to, and the one to continue from. */
  readonly checkpoint: string | null;
  readonly resume: string | null;
  readonly files: ReportFiles;
  readonly json: boolean;
  readonly color: boolean;
}

/** Of a program that reads and writes keys. @throws InputError `option/remedies`, `option/plans`, `option/engine`, `option/isolation`, `option/granularity` */
export function refuseSqlOptions({ sql, plans, remedies }: ExploreCommandOptions): void {
  if (remedies)
    throw new InputError('option/remedies', '--remedies is for SQL programs; this program reads and writes keys');
  if (plans === 'all')
    throw new InputError('option/plans', '--plans is for SQL programs; this program reads and writes keys');
  for (const option of ['engine', 'isolation', 'granularity'] as const) {
    if (sql[option] !== undefined)
      throw new InputError(`option/${option}`, `--${option} is for SQL programs; this program reads and writes keys`);
  }
}
