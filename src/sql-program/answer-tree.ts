/**
 * What each session of a SQL program does after what the database answered it (`session-trees.ts`). Where a session looks at memory which another one
 * changes, the order of what happens in memory counts too, and neither an exploration nor a campaign decides that order.
 */
import { createHash } from 'node:crypto';
import { type AnsweredStep, SessionTrees } from '../program/index.ts';
import { SqlError } from '../sql/model/index.ts';
import { statementLine } from '../sql/index.ts';
import type { StatementEvent } from '../database/index.ts';
import { shown } from './run-facts.ts';
import { sessionIndexOf } from './sql-run.ts';

type Ended = readonly [connection: number, event: StatementEvent];

export class AnswerTree {
  readonly #sessionNames: readonly string[];
  readonly #looking: Set<string>;
  readonly #trees: SessionTrees;
  /** Of the run under way. */
  #events: Ended[] = [];

  /** @param looking gets the sessions that did something else after the same answers */
  constructor(sessionNames: readonly string[], looking: Set<string>) {
    this.#sessionNames = sessionNames;
    this.#looking = looking;
    this.#trees = new SessionTrees(sessionNames.length);
  }

  /** A run begins. */
  begin(): void {
    this.#events = [];
  }

  readonly ended = (connection: number, event: StatementEvent): void => {
    this.#events.push([connection, event]);
  };

  /** The run has finished, and its sources gave the values that they give in every run. */
  finish(results: Readonly<Record<string, unknown>>): void {
    this.#sessionNames.forEach((name, i) => {
      const events = this.#events.filter(([connection]) => sessionIndexOf(connection) === i);
      const isSerial = new Set(events.map(([connection]) => connection)).size <= 1;
      // Answers on several connections come in an order that the schedule decides.
      if (isSerial && !this.#trees.learn(i, events.map(answered), shown(results[name]))) this.#looking.add(name);
    });
    this.#events = [];
  }
}

function answered([, event]: Ended): AnsweredStep {
  return { did: JSON.stringify([statementLine(event.sql), event.parameters]), answer: answerKey(event) };
}

function answerKey({ answer }: StatementEvent): string {
  const text = answer instanceof SqlError ? shown([answer.code, answer.message, answer.detail]) : shown(answer);
  return text.length < DIGEST_LENGTH ? text : createHash('sha256').update(text).digest('base64');
}

const DIGEST_LENGTH = 44;
