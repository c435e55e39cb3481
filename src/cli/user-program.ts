/** A user's program while it loads and runs: who is at work, and what to say when it never comes back. */
import { type CampaignOptions, formatTimeout } from '../campaign/index.ts';
import { InputError } from '../base/index.ts';
import { isSqlProgram, type Program, type SqlProgram } from '../program/index.ts';
import type { ExitCode, Host } from './host.ts';
import type { Watch } from './watchdog.ts';

/** A small timeout is meant for runs: loading a module takes its time on a busy machine. */
const loadMsMin = 5_000;

/** What a session may take beyond its timeout before it counts as one that will never give the thread back. */
const graceMs = 2_000;

export class UserProgram {
  readonly #file: string;
  readonly #timeoutMs: number;
  readonly #loadMs: number;
  readonly #host: Host;
  readonly #watch: Watch;
  #names: readonly string[] | null = null;
  #session: number | null = null;
  #lastOperation: () => string = () => 'nothing yet';

  /** @param timeoutMs for one run */
  constructor(file: string, timeoutMs: number, host: Host) {
    this.#file = file;
    this.#timeoutMs = timeoutMs;
    this.#loadMs = Math.max(timeoutMs, loadMsMin);
    this.#host = host;
    this.#watch = host.watch(this.#loadMs + graceMs, () => this.#describe());
  }

  /** `null`: not in time. The timer also keeps the process from ending while a module waits for what never comes. */
  async load(): Promise<Program | SqlProgram | null> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), this.#loadMs);
    });
    try {
      const program = await Promise.race([this.#host.loadProgram(this.#file), timeout]);
      this.#names = program?.sessionNames ?? null;
      if (program !== null) this.#watch.limit(this.#timeoutMs + graceMs);
      return program;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Says that the module did not load in time. */
  late(): ExitCode {
    this.#host.err(`${this.#describe()}\n`);
    return 2;
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

  #describe(): string {
    if (this.#names === null) return `${this.#file}: the module did not load within ${this.#loadMs / 1_000} s`;
    const session = this.#session === null ? null : (this.#names[this.#session] ?? '');
    return formatTimeout({ session, lastOperation: this.#lastOperation() }, this.#timeoutMs);
  }
}

/** @throws InputError `program/sql` */
export function requireKeyValue(program: Program | SqlProgram, file: string): Program {
  if (!isSqlProgram(program)) return program;
  throw new InputError('program/sql', 'this program speaks SQL; only moirai test and moirai explore run those', {
    file,
  });
}
