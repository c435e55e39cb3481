/**
 * What each session of a SQL program does, as a tree that branches by what the database answers. A session that knows of the others by the
 * database alone does the same after the same answers; one that does otherwise looks at memory which another session changes. Then the order of
 * what happens in memory counts too, and neither an exploration nor a campaign decides that order.
 */
import { createHash } from 'node:crypto';
import { SqlError } from '../sql/index.ts';
import type { StatementEvent } from '../serve/index.ts';
import { shown } from './repeatable.ts';
import { sessionIndexOf } from './sql-run.ts';

type Ended = readonly [connection: number, event: StatementEvent];

interface Place {
  /** What the session does here; `null`: it has not been here. */
  step: string | null;
  readonly after: Map<string, Place>;
}

export class AnswerTree {
  readonly #sessionNames: readonly string[];
  readonly #looking: Set<string>;
  readonly #roots: readonly Place[];
  /** Of the run under way. */
  #events: Ended[] = [];
  #places = 0;

  /** @param looking gets the sessions that did something else after the same answers */
  constructor(sessionNames: readonly string[], looking: Set<string>) {
    this.#sessionNames = sessionNames;
    this.#looking = looking;
    this.#roots = sessionNames.map(newPlace);
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
      if (isSerial && !this.#learn(this.#roots[i] as Place, events, shown(results[name]))) this.#looking.add(name);
    });
    this.#events = [];
  }

  /** @returns false where the session did something else here before */
  #learn(root: Place, events: readonly Ended[], result: string): boolean {
    let place = root;
    for (const [, event] of events) {
      if (!isStep(place, JSON.stringify([event.sql, event.parameters]))) return false;
      const answer = answerKey(event);
      const next = place.after.get(answer) ?? newPlace();
      if (!place.after.has(answer)) {
        if (this.#places === PLACES_MAX) return true;
        this.#places += 1;
        place.after.set(answer, next);
      }
      place = next;
    }
    return isStep(place, `returns ${result}`);
  }
}

function newPlace(): Place {
  return { step: null, after: new Map() };
}

function isStep(place: Place, step: string): boolean {
  place.step ??= step;
  return place.step === step;
}

function answerKey({ answer }: StatementEvent): string {
  const text = answer instanceof SqlError ? shown([answer.code, answer.message, answer.detail]) : shown(answer);
  return text.length < DIGEST_LENGTH ? text : createHash('sha256').update(text).digest('base64');
}

const DIGEST_LENGTH = 44;
/** Memory does not grow with the schedules: what comes after so many places is compared with these alone. */
const PLACES_MAX = 20_000;
