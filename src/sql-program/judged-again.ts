/**
 * Can the invariant of a SQL program fail at all? Before a green verdict it judges the final states of a few runs again, each time with other
 * answers to its statements and other results. One that holds whatever is changed compares what no driver returns (`rows[0].balence`), or values
 * of two types, or looks elsewhere.
 */
import { Budget, before, LATE, InputError } from '../base/index.ts';
import type { StatementEvent } from '../database/index.ts';
import type { Asks, JudgedAgainEvidence } from '../evidence/index.ts';
import {
  canJudgeAgain,
  isRepeatable,
  type JudgingLimits,
  judgingMs,
  type Mentioned,
  mentionedIn,
  type SqlProgram,
} from '../program/index.ts';
import { changesOfLooked } from './changed-answers.ts';
import type { FinalState, Judged } from './final-state.ts';
import { shown } from './run-facts.ts';
import type { SqlRunOptions } from './sql-run-options.ts';
import type { SqlRun } from './sql-run.ts';
import type { Answer, Looked } from './looked.ts';

export interface JudgedAgainOptions {
  /** The runs whose final states are judged: each function makes its run again, with these options besides its own. */
  readonly runs: readonly ((besides: RunBesides) => Promise<SqlRun>)[];
  readonly budget: Budget;
  readonly judging?: JudgingLimits;
}

export type RunBesides = Pick<SqlRunOptions, 'onStatement' | 'onHeld' | 'budget'>;

/** @returns `null`: nothing is known, as of an invariant that writes */
export async function judgedAgain(
  program: SqlProgram,
  options: JudgedAgainOptions,
): Promise<JudgedAgainEvidence | null> {
  if (program.invariantText === null || !isRepeatable(program.invariantText)) return null;
  return new JudgedAgain(program, options).judge();
}

class JudgedAgain {
  readonly #program: SqlProgram;
  readonly #options: JudgedAgainOptions;
  readonly #text: string;
  readonly #budget: Budget;
  readonly #seen = new Set<string>();
  /** What the statements of the sessions of the run under way said. */
  #statements: string[] = [];
  #judgements = 0;
  #asks: Asks = { final: false, results: false };
  #returned = false;
  #answer: 'fails' | 'unknown' | null = null;

  constructor(program: SqlProgram, options: JudgedAgainOptions) {
    this.#program = program;
    this.#options = options;
    this.#text = program.invariantText ?? '';
    this.#budget = new Budget({
      timeMaxMs: Math.min(judgingMs(options.budget.spentMs, options.judging ?? {}), options.budget.leftMs),
      ...(options.budget.signal === undefined ? {} : { signal: options.budget.signal }),
    });
  }

  async judge(): Promise<JudgedAgainEvidence | null> {
    for (const made of this.#options.runs) {
      if (this.#answer !== null) break;
      await this.#run(made);
    }
    if (this.#answer === 'unknown') return null;
    const looksAtNothing = !this.#asks.final && !this.#returned;
    if (this.#answer === null && this.#judgements === 0 && !looksAtNothing) return null;
    return { canFail: this.#answer === 'fails', asks: this.#asks, returned: this.#returned };
  }

  /** What it shows of a program at fault, the runs before it showed. */
  async #run(made: (besides: RunBesides) => Promise<SqlRun>): Promise<void> {
    this.#statements = [];
    let isJudged = false;
    try {
      await made({
        budget: this.#budget,
        onStatement: (_connection, event) => this.#note(event),
        onHeld: async (state) => {
          isJudged = true;
          await this.#judgeState(state);
        },
      });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#answer = 'unknown';
    }
    if (!isJudged) this.#answer ??= 'unknown';
  }

  #note({ sql, parameters }: StatementEvent): void {
    if (this.#statements.length < STATEMENTS_MAX) this.#statements.push(sql, ...parameters.map((each) => `'${each}'`));
  }

  async #judgeState(state: FinalState): Promise<void> {
    const first = await this.#judged(state, null);
    if (first === null || first.judgement !== 'holds' || !first.isWhole || !isSmall(first.looked.results)) {
      this.#answer = 'unknown';
      return;
    }
    const { looked, sends } = first;
    this.#asks = { final: this.#asks.final || sends, results: this.#asks.results || looked.results !== null };
    const returned = Object.values(looked.results ?? {}).some((each) => each !== undefined);
    this.#returned ||= returned;
    if (!sends && !returned) return;
    if (!canJudgeAgain(this.#text)) {
      this.#answer = 'unknown';
      return;
    }
    const key = shown(looked.answers.map(({ rows }) => rows)) + shown(looked.results);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const { judgementsMax = JUDGEMENTS_OF_FIRST } = this.#options.judging ?? {};
    const max = this.#seen.size === 1 ? judgementsMax : JUDGEMENTS_OF_OTHERS;
    for (const changed of changesOfLooked(looked, this.#mentioned(looked), this.#text, max)) {
      const judged = await this.#judged(state, changed);
      this.#judgements += 1;
      if (judged === null || judged.judgement === 'fails') {
        this.#answer = judged === null ? 'unknown' : 'fails';
        return;
      }
    }
  }

  /** `null`: there was no time for it. */
  async #judged(state: FinalState, changed: Looked | null): Promise<Judged | null> {
    if (this.#budget.over !== null) return null;
    const judged = await before(this.#budget.deadlineMs, state.judge(changed), this.#budget.signal);
    return judged === LATE ? null : judged;
  }

  /** What the invariant speaks of, then what it is given, then what sessions and the schema speak of. */
  #mentioned({ answers, results }: Looked): Mentioned {
    const text = [this.#text, ...answers.map(({ sql }) => sql)].join('\n');
    const given = [this.#rowsShown(answers), results];
    const own = mentionedIn(text, given, MENTIONED_MAX);
    const other = mentionedIn([...this.#statements, ...this.#program.schema].join('\n'), [], MENTIONED_MAX);
    return {
      numbers: [...new Set([...own.numbers, ...other.numbers])].slice(0, MENTIONED_MAX),
      texts: [...new Set([...own.texts, ...other.texts])].slice(0, MENTIONED_MAX),
    };
  }

  /** Numbers and texts of the first rows. */
  #rowsShown(answers: readonly Answer[]): unknown[] {
    return answers.map(({ rows }) =>
      rows.slice(0, ROWS_MAX).map((row) => row.filter((each) => typeof each === 'string' || typeof each === 'number')),
    );
  }
}

/** Runs whose final states are judged, at most. */
export const ENDS_JUDGED_AGAIN = 3;
/** Judgements of the final state of the first run, and of each other one. */
const JUDGEMENTS_OF_FIRST = 150;
const JUDGEMENTS_OF_OTHERS = 20;
const MENTIONED_MAX = 24;
const STATEMENTS_MAX = 500;
const ROWS_MAX = 8;

/** Is it a tree, and of few values? A connection that a session returned is neither. */
function isSmall(value: unknown, above: readonly unknown[] = [], left = { values: VALUES_MAX }): boolean {
  left.values -= 1;
  if (typeof value !== 'object' || value === null) return true;
  if (left.values < 0 || above.includes(value)) return false;
  return Object.values(value).every((each) => isSmall(each, [...above, value], left));
}

const VALUES_MAX = 500;
