/** Every schedule of a SQL program, with what its steps accessed: none is left out, so it is what a reduction is compared with. */
import { assert } from '../../base/index.ts';
import { type Profile, SharedPlans, type SqlDatabase } from '../../database/index.ts';
import type { Decisions } from '../../mockdb/index.ts';
import type { SqlProgram } from '../../program/index.ts';
import { ArrivalMemory, checkedRun, SharedSchema, type SqlRunOptions } from '../../sql-program/index.ts';
import { exploringRun } from './exploring-run.ts';
import type { Step } from './happens-before.ts';
import { SqlFindings } from './sql-findings.ts';
import { StepFootprints } from './step-footprints.ts';

export interface WalkedSchedule {
  readonly steps: readonly Step[];
  /** Of each step: did its session have to go before others, who could have gone as well? */
  readonly isUrgent: readonly boolean[];
  readonly history: string;
  readonly outcome: string;
}

/**
 * By the processes of their steps, in order. `null`: there are more than that.
 * @param prefix only those that begin with these decisions, where more than one session could go next
 */
export async function everySchedule(
  program: SqlProgram,
  profile: Profile,
  schedulesMax: number,
  prefix: readonly number[] = [],
): Promise<ReadonlyMap<string, WalkedSchedule> | null> {
  const shared = { memory: new ArrivalMemory(), sharedPlans: new SharedPlans(), sharedSchema: new SharedSchema() };
  const findings = new SqlFindings(program.sessionNames, {
    again: (run) => Promise.resolve(run),
    violationsOnly: false,
  });
  const walked = new Map<string, WalkedSchedule>();
  for (let begin: readonly string[] | null = []; begin !== null; ) {
    if (walked.size === schedulesMax) return null;
    const walk = new Walk(begin, prefix);
    const run = await checkedRun(program, { ...exploringRun(walk.decisions, { profile, ...shared }), ...walk.options });
    assert(run.kind === 'finished', 'a run of a small program ends in time');
    const seen = await findings.note(run);
    assert(seen !== null, 'histories and outcomes are counted');
    const { steps, isUrgent } = walk;
    walked.set(keyOf(steps.map(({ process }) => process)), { steps, isUrgent, ...seen });
    begin = walk.next();
  }
  return walked;
}

export function keyOf(processes: readonly string[]): string {
  return processes.join(' ');
}

/** One run. It begins with the prefix and these processes, and takes the first that is ready from there on. */
class Walk {
  readonly steps: Step[] = [];
  readonly isUrgent: boolean[] = [];
  readonly #begin: readonly string[];
  /** Decisions of the prefix that are to come. */
  readonly #decided: number[];
  /** How many steps the prefix has. */
  #fixed = 0;
  readonly #footprints = new StepFootprints();
  readonly #ready: (readonly string[])[] = [];
  #database: SqlDatabase | null = null;
  #last: string | null = null;

  constructor(begin: readonly string[], prefix: readonly number[]) {
    this.#begin = begin;
    this.#decided = [...prefix];
    this.#footprints.begin();
  }

  get options(): Pick<SqlRunOptions, 'isLogged' | 'onOpen' | 'onStatement' | 'onJudge' | 'footprints'> {
    const footprints = this.#footprints;
    return {
      isLogged: true,
      onOpen: (database) => {
        this.#database = database;
        footprints.open(database);
      },
      onStatement: (connection, event) => footprints.ended(connection, event),
      onJudge: () => {
        this.#noteStep();
        footprints.judge();
      },
      footprints: footprints.recorder,
    };
  }

  readonly decisions: Decisions = {
    path: [],
    schedule: [],
    readChoices: [],
    session: (connections) => {
      this.#noteStep();
      const at = this.#footprints.phase === 'sessions' ? this.#choose(connections) : 0;
      const connection = connections[at];
      assert(connection !== undefined, 'one of the sessions goes next');
      return connection;
    },
    read: () => 0,
    failure: () => false,
  };

  /** How the next run begins: with another process at the last place where there is one. */
  next(): readonly string[] | null {
    const taken = this.steps.map(({ process }) => process);
    for (let place = taken.length - 1; place >= this.#fixed; place -= 1) {
      const ready = this.#ready[place] ?? [];
      const other = ready[ready.indexOf(taken[place] ?? '') + 1];
      if (other !== undefined) return [...taken.slice(0, place), other];
    }
    return null;
  }

  #choose(connections: readonly number[]): number {
    const ready = connections.map((connection) => this.#footprints.processOf(connection));
    const at = this.#decide(ready);
    this.#ready.push(ready);
    const waiting = this.#database?.scheduler.waiting() ?? [];
    this.isUrgent.push(waiting.some(({ wait }) => wait?.isUrgent?.() === true));
    this.#last = ready[at] ?? null;
    return at;
  }

  #decide(ready: readonly string[]): number {
    if (this.#decided.length === 0) return Math.max(0, ready.indexOf(this.#begin[this.#ready.length] ?? ''));
    this.#fixed = this.#ready.length + 1;
    if (ready.length === 1) return 0;
    const decided = this.#decided.shift() ?? 0;
    return decided < ready.length ? decided : 0;
  }

  #noteStep(): void {
    const footprint = this.#footprints.take();
    const process = this.#last;
    this.#last = null;
    if (process === null) return;
    const ordinal = this.steps.filter((step) => step.process === process).length;
    this.steps.push({ process, ordinal, footprint, waits: this.#footprints.waiting().includes(process) });
  }
}
