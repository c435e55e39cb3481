/**
 * Is what a call sent one of the ways through the unit's steps? Conditions are not computed: of a branch either side will do, and a loop may run any number of
 * times. A search with backtracking; O(steps) where no two ways begin alike.
 */
import type { AnyStep, Dialect, Place, Unit } from '../application.ts';
import type { SentStatement } from './sent-statements.ts';
import { statementKey } from './statement-key.ts';

/** The run did something else than the source was read to do. */
export interface Difference {
  readonly place: Place;
  /** The statement that the source has there; `null`: it has no other. */
  readonly source: string | null;
  /** Why the source was not understood there; `null`: it was. */
  readonly reason: string | null;
  /** What the run sent; `null`: nothing more. */
  readonly sent: string | null;
}

/** Empty where the run is a way through the steps. */
export function differences(
  { steps, place }: Unit,
  sent: readonly SentStatement[],
  dialect: Dialect,
): readonly Difference[] {
  const compared = sent.filter(({ role }) => comparedRoles.has(role));
  const search = new Search(compared, dialect, place);
  const end = (at: number): boolean => search.isEnd(at);
  const isWay = search.through(steps, 0, { inTransaction: false, continued: end, ended: end });
  return isWay ? search.beyondSource : [search.furthest];
}

const comparedRoles: ReadonlySet<SentStatement['role']> = new Set([
  'begin',
  'commit',
  'rollback',
  'savepoint',
  'rollback-to',
  'data',
]);

/** What follows the steps, on a way on which this many statements are taken. */
interface Rest {
  readonly inTransaction: boolean;
  readonly continued: (at: number) => boolean;
  /** What follows a return: in a transaction its end. */
  readonly ended: (at: number) => boolean;
}

/** A branch in a branch in a loop may have more ways than are worth a look: then the run counts as one of them. */
const looksMax = 100_000;

class Search {
  readonly #sent: readonly SentStatement[];
  readonly #dialect: Dialect;
  #looks = 0;
  /** The one way that was followed furthest, and what it would have had next. */
  #best: { readonly at: number; readonly difference: Difference };
  /** Where the last statement was found. */
  #last: Place;
  beyondSource: readonly Difference[] = [];

  constructor(sent: readonly SentStatement[], dialect: Dialect, unit: Place) {
    this.#sent = sent;
    this.#dialect = dialect;
    this.#last = unit;
    this.#best = { at: -1, difference: { place: unit, source: null, reason: null, sent: null } };
  }

  get furthest(): Difference {
    return this.#best.difference;
  }

  isEnd(from: number): boolean {
    const at = this.#nextAboutTables(from);
    const next = this.#sent[at];
    if (next === undefined) return true;
    this.#note(at, { place: this.#last, source: null, reason: null, sent: next.sql });
    return false;
  }

  through(steps: readonly AnyStep[], at: number, rest: Rest): boolean {
    const [step, ...others] = steps;
    if (step === undefined) return rest.continued(at);
    this.#looks += 1;
    if (this.#looks > looksMax) return true;
    const after = (next: number): boolean => this.through(others, next, rest);
    switch (step.kind) {
      case 'statement':
        return this.#takes(at, step.sql, step.place, after);
      case 'transaction':
        return this.#transaction(step.steps, step.place, at, after);
      case 'branch':
        return [step.ifTrue, step.ifFalse].some((side) => this.through([...side, ...others], at, rest));
      case 'loop':
        return (
          after(at) ||
          this.through(step.steps, at, { ...rest, continued: (next) => next > at && this.through(steps, next, rest) })
        );
      case 'savepoint':
        return this.#isRole(at, 'savepoint') && after(at + 1);
      case 'rollback-to-savepoint':
        return this.#isRole(at, 'rollback-to') && after(at + 1);
      case 'return':
        return rest.ended(at);
      case 'abort':
        return rest.inTransaction ? this.#isRole(at, 'rollback') && rest.ended(at + 1) : rest.ended(at);
      case 'not-understood':
        return this.#unread(step.reason, step.place, at, after);
    }
  }

  #transaction(steps: readonly AnyStep[], place: Place, from: number, after: (at: number) => boolean): boolean {
    const at = this.#nextAboutTables(from);
    if (!this.#isRole(at, 'begin')) {
      this.#note(at, { place, source: 'BEGIN', reason: null, sent: this.#sent[at]?.sql ?? null });
      return false;
    }
    this.#last = place;
    const ended = (next: number): boolean => {
      // A way that aborts has taken its ROLLBACK: then the unit ends, or continues where it catches the error.
      if (this.#sent[next - 1]?.role === 'rollback') return this.isEnd(next) || after(next);
      const end = this.#nextAboutTables(next);
      if (this.#isRole(end, 'commit')) return after(end + 1);
      this.#note(end, { place: this.#last, source: 'COMMIT', reason: null, sent: this.#sent[end]?.sql ?? null });
      return false;
    };
    return this.through(steps, at + 1, { inTransaction: true, continued: ended, ended });
  }

  #takes(from: number, sql: string, place: Place, after: (at: number) => boolean): boolean {
    for (let at = from; ; at += 1) {
      const next = this.#sent[at];
      if (next?.role === 'data' && statementKey(next.sql, this.#dialect) === statementKey(sql, this.#dialect)) {
        const before = this.#last;
        this.#last = place;
        // What follows an error is not compared.
        if (next.error !== null || after(at + 1)) return true;
        this.#last = before;
        return false;
      }
      if (next !== undefined && !next.isAboutTables) continue;
      this.#note(at, { place, source: sql, reason: null, sent: next?.sql ?? null });
      return false;
    }
  }

  /** Anything may run there, as little as possible. */
  #unread(reason: string, place: Place, from: number, after: (at: number) => boolean): boolean {
    const before = this.beyondSource;
    for (let at = from; at <= this.#sent.length; at += 1) {
      const ran = this.#sent.slice(from, at).filter(({ isAboutTables }) => isAboutTables);
      this.beyondSource = [...before, ...ran.map(({ sql }) => ({ place, source: null, reason, sent: sql }))];
      if (after(at)) return true;
    }
    this.beyondSource = before;
    return false;
  }

  #isRole(at: number, role: SentStatement['role']): boolean {
    return this.#sent[at]?.role === role;
  }

  #nextAboutTables(from: number): number {
    let at = from;
    while (this.#sent[at]?.isAboutTables === false) at += 1;
    return at;
  }

  #note(at: number, difference: Difference): void {
    if (at > this.#best.at) this.#best = { at, difference };
  }
}
