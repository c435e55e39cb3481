/** A user's program while it loads and runs: who is at work, and what to say when it never comes back. */
import { type CampaignOptions, formatTimeout, type Timeout } from '../../campaign/index.ts';
import { InputError } from '../../base/index.ts';
import type { Evidence } from '../../evidence/index.ts';
import { isSqlProgram, type Program, type SqlProgram } from '../../program/index.ts';
import type { EarlierFailures } from '../failures/earlier-failures.ts';
import type { ExitCode, Host, Ending, EndReason, Watch } from '../host.ts';
import { graceMs, type LoadOptions, ModuleLoading } from './module-loading.ts';

/** What ended a tool in the middle of something: the user, or a run that did not give the thread back. */
export type Cut = { readonly kind: 'interrupted' } | { readonly kind: 'stuck'; readonly timeout: Timeout };

/** Of what is known so far: it was cut off. @param underWay what did not end, where it is neither a session nor the invariant */
export function cutEvidence(evidence: Evidence, cut: Cut, underWay: string | null = null): Evidence {
  const { session } = cut.kind === 'stuck' ? cut.timeout : { session: null };
  const late = underWay ?? (session === null ? 'the invariant' : `session "${session}"`);
  return {
    ...evidence,
    cut: [...evidence.cut, cut.kind === 'interrupted' ? 'interrupted' : `${late} did not end in time`],
  };
}

export class UserProgram {
  readonly #file: string;
  readonly #isJson: boolean;
  readonly #timeoutMs: number;
  readonly #loading: ModuleLoading;
  readonly #host: Host;
  readonly #watch: Watch;
  #names: readonly string[] | null = null;
  #session: number | null = null;
  #lastOperation: () => string = () => 'nothing yet';
  #report: ((cut: Cut) => Ending) | null = null;

  /** @param timeoutMs for one run */
  constructor(file: string, options: LoadOptions, host: Host) {
    this.#file = file;
    this.#isJson = options.json;
    this.#timeoutMs = options.timeoutMs;
    this.#loading = new ModuleLoading(file, options, host);
    this.#host = host;
    this.#watch = host.watch(this.#loading.limitMs, (reason) => this.#endingOf(reason));
  }

  /** `null`: not in time, or the user had enough before. */
  async load(): Promise<Program | SqlProgram | null> {
    const program = await this.#loading.finish(() => this.#host.loadProgram(this.#file), this.#watch);
    this.#names = program?.sessionNames ?? null;
    if (program !== null) this.#watch.limit(this.#timeoutMs + graceMs);
    return program;
  }

  /** Says that the module did not load in time. */
  late(): ExitCode {
    const ending = this.#loading.late;
    // Before it is printed: else the watchdog may print it as well.
    this.stop();
    return printEnding(ending, this.#host);
  }

  /** What is known when it ends in the middle of something. */
  onCut(report: (cut: Cut) => Ending): void {
    this.#report = report;
  }

  onTurn(): NonNullable<CampaignOptions['onTurn']> {
    return (session, lastOperation) => {
      this.#session = session;
      this.#lastOperation = lastOperation;
      this.#watch.beat();
    };
  }

  stop(): void {
    this.#watch.stop();
  }

  #endingOf(reason: EndReason): Ending {
    if (this.#names === null) return this.#loading.ending(reason);
    const session = this.#session === null ? null : (this.#names[this.#session] ?? '');
    const timeout = { session, lastOperation: this.#lastOperation() };
    const text = reason === 'interrupted' ? 'interrupted' : formatTimeout(timeout, this.#timeoutMs);
    if (this.#report === null) return { out: this.#unknown(text), err: `${text}\n`, code: 2 };
    return this.#report(reason === 'interrupted' ? { kind: 'interrupted' } : { kind: 'stuck', timeout });
  }

  /** For scripts; nothing where it is text. */
  #unknown(why: string): string {
    if (!this.#isJson) return '';
    return `${JSON.stringify({ file: this.#file, verdict: 'unknown', gaps: [why], assumed: [] })}\n`;
  }
}

/** With the line that says where failures are kept. */
export function withKept(ending: Ending, kept: string | null): Ending {
  return kept === null ? ending : { ...ending, out: `${ending.out}${kept}\n` };
}

/** After what the failures of earlier runs do now. */
export function withEarlier(ending: Ending, earlier: EarlierFailures, { json }: { readonly json: boolean }): Ending {
  const { out, err, code } = ending;
  const text = json ? { out, err: earlier.text + err } : { out: earlier.text + out, err };
  return { ...text, code: earlier.exitCode(code) };
}

/** Prints what a command has come to. */
export function printEnding({ out, err, code }: Ending, host: Host): ExitCode {
  if (out !== '') host.out(out);
  if (err !== '') host.err(err);
  return code;
}

/** @throws InputError `program/sql` */
export function requireKeyValue(program: Program | SqlProgram, file: string): Program {
  if (!isSqlProgram(program)) return program;
  throw new InputError('program/sql', 'this program speaks SQL; only moirai test and moirai explore run those', {
    file,
  });
}
