/** Which sessions of a campaign look at memory that another one changes: those that did something else after the same reads. */
import type { Attempt } from '../mockdb/index.ts';
import { type AnsweredStep, looksAtMemoryText, type Program, SessionTrees, valueText } from '../program/index.ts';
import type { FinishedRun } from './single-run.ts';

export class SharedMemory {
  readonly #sessionNames: readonly string[];
  readonly #trees: SessionTrees;
  readonly #looking = new Set<string>();

  constructor({ sessionNames }: Program) {
    this.#sessionNames = sessionNames;
    this.#trees = new SessionTrees(sessionNames.length);
  }

  add({ results, waitedOutside }: FinishedRun, attempts: readonly Attempt[]): void {
    this.#sessionNames.forEach((name, i) => {
      // It is named for that, and the others ran while it waited.
      if (waitedOutside.includes(name)) return;
      const own = attempts.filter(({ session }) => session === i);
      const result = Object.hasOwn(results, name) ? valueText(results[name]) : null;
      if (!this.#trees.learn(i, own.flatMap(stepsOf), result)) this.#looking.add(name);
    });
  }

  /** What a green verdict takes for granted, as clauses. */
  assumed(): string[] {
    return [...this.#looking].toSorted().map(looksAtMemoryText);
  }
}

/** Reads are answered by values, and a commit by whether it succeeded. */
function stepsOf({ operations, outcome }: Attempt): AnsweredStep[] {
  const steps = operations.map(({ kind, key, value }): AnsweredStep => {
    const text = valueText(value);
    return kind === 'read' ? { did: `reads ${key}`, answer: text } : { did: `writes ${key} = ${text}`, answer: '' };
  });
  return [...steps, { did: outcome === 'aborted' ? 'aborts' : 'commits', answer: outcome }];
}
