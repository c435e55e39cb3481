/**
 * What each session of a program does, as a tree that branches by what its store answers. A session that knows of the others by the store alone
 * does the same after the same answers; one that does otherwise looks at memory which another session changes.
 */

export interface AnsweredStep {
  /** What the session did, as text that is equal where it did the same. */
  readonly did: string;
  readonly answer: string;
}

interface Place {
  /** What the session does here; `null`: it has not been here. */
  step: string | null;
  readonly after: Map<string, Place>;
}

export class SessionTrees {
  readonly #roots: readonly Place[];
  #places = 0;

  /** @param sessions how many there are */
  constructor(sessions: number) {
    this.#roots = Array.from({ length: sessions }, newPlace);
  }

  /**
   * @param result what it returned; `null`: nothing is known of its end
   * @returns false where the session did something else after the same answers before
   */
  learn(session: number, steps: Iterable<AnsweredStep>, result: string | null): boolean {
    let place = this.#roots[session] as Place;
    for (const { did, answer } of steps) {
      if (!isStep(place, did)) return false;
      const next = place.after.get(answer) ?? newPlace();
      if (!place.after.has(answer)) {
        if (this.#places === PLACES_MAX) return true;
        this.#places += 1;
        place.after.set(answer, next);
      }
      place = next;
    }
    return result === null || isStep(place, `returns ${result}`);
  }
}

/** What a green verdict takes for granted of a session for which `learn` was false. */
export function looksAtMemoryText(session: string): string {
  return `the sessions run in one process, where session "${session}" looks at memory that another changes`;
}

function newPlace(): Place {
  return { step: null, after: new Map() };
}

function isStep(place: Place, step: string): boolean {
  place.step ??= step;
  return place.step === step;
}

/** Memory does not grow with the runs: what comes after so many places is compared with these alone. */
const PLACES_MAX = 20_000;
