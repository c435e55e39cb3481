/**
 * Can the invariant fail at all? Before a green verdict it judges some of the final states of runs again, each time with one value changed. One that
 * holds whatever is changed compares what is not there (`final.stock.left` of a number), or values of two types, or looks elsewhere.
 */
import { monotonicMs, Breather, before, LATE } from '../base/index.ts';
import type { Key } from '../history/index.ts';
import { type Asks, cannotFailText, nothingReturnedText } from '../evidence/index.ts';
import { changesOf, inTurn, mentionedIn, type Mentioned, withChange } from './changed-values.ts';
import type { JudgeLimits } from './invariant.ts';
import { canJudgeAgain } from './invariant-text.ts';
import { calledUntil, type Judgement, judgementOf, type JudgingLimits, judgingMs } from './judgement.ts';
import { isAskedOfAll, observed } from './observed-names.ts';
import type { End, Program } from './program.ts';

/** What an invariant was given, as a copy; what it did not ask for is `null`. */
export interface SeenEnd {
  readonly final: Record<string, unknown> | null;
  readonly results: Record<string, unknown> | null;
  readonly asks: Asks;
}

export class JudgedAgain {
  readonly #program: Program;
  readonly #ends = new Map<string, SeenEnd>();
  readonly #startedMs = monotonicMs();
  #judgements = 0;
  #held: readonly string[] = [];

  /** @param program whose invariant judges again: not one that others observe */
  constructor(program: Program) {
    this.#program = program;
  }

  /** @param program that is run: of its first judgements the ends are kept */
  around(program: Program): Program {
    const { invariantText } = this.#program;
    if (invariantText === null) return program;
    const copies = canJudgeAgain(invariantText);
    return {
      ...program,
      invariant: (end) => {
        this.#judgements += 1;
        if (this.#judgements > JUDGEMENTS_SEEN || this.#ends.size >= ENDS_MAX) return program.invariant(end);
        const observing = new ObservedEnd(end, copies);
        const returned = program.invariant(observing.end);
        if (returned instanceof Promise) return returned.finally(() => this.#keep(observing.seen()));
        this.#keep(observing.seen());
        return returned;
      },
    };
  }

  /** For a verdict that is green so far. @param given limits of all of it */
  async judge(given: JudgeLimits, judging: JudgingLimits = {}): Promise<void> {
    const deadlineMs = monotonicMs() + judgingMs(monotonicMs() - this.#startedMs, judging);
    const limits = { ...given, deadlineMs: Math.min(deadlineMs, given.deadlineMs ?? Infinity) };
    const breather = new Breather();
    const ends = [...this.#ends.values()];
    const asks = asksOf(ends);
    if (ends.length > 0 && !asks.final && !asks.results) this.#held = [cannotFailText(asks)];
    if (!asks.final && asks.results && ends.every(returnsNothing)) {
      this.#held = [nothingReturnedText];
      return;
    }
    const changed: (readonly SeenEnd[])[] = [];
    const copied = ends.filter(({ final, results }) => final !== null || results !== null);
    for (const end of copied) {
      const asked = await this.#asked(end, limits);
      if (asked === null) return;
      changed.push(changesOfEnd(end, asked, mentionedIn(this.#program.invariantText ?? '', end)));
    }
    const changes = inTurn(changed).slice(0, judging.judgementsMax ?? JUDGEMENTS_MAX);
    for (const end of changes) {
      if (monotonicMs() > limits.deadlineMs) return;
      await breather.breathe();
      const outcome = await this.#outcome(end, limits);
      if (outcome === 'fails' || outcome === 'late') return;
    }
    if (changes.length > 0) this.#held = [cannotFailText(copiedOf(copied))];
  }

  /** Plain data, for an exploration that continues another day. */
  seen(): readonly SeenEnd[] {
    return [...this.#ends.values()];
  }

  merge(ends: readonly SeenEnd[]): void {
    ends.forEach((end) => this.#keep(end));
  }

  /** What a green verdict takes for granted, as clauses. */
  assumed(): readonly string[] {
    return this.#held;
  }

  #keep(seen: SeenEnd): void {
    try {
      this.#ends.set(JSON.stringify([seen.final, seen.results, seen.asks]), seen);
    } catch {
      // What JSON cannot say, such as a cycle, is not judged again.
    }
  }

  /** The keys that the invariant asks for at an end where it holds; `null`: it does not hold there again. */
  async #asked(end: SeenEnd, limits: JudgeLimits): Promise<ReadonlySet<Key> | null> {
    const asked = new Set<Key>();
    return (await this.#outcome(end, limits, (key) => void asked.add(key))) === 'holds' ? asked : null;
  }

  async #outcome(
    end: SeenEnd,
    { deadlineMs = Infinity, signal }: JudgeLimits,
    onAsked: Ask = ignored,
  ): Promise<Judgement | 'late'> {
    let isLate = false;
    const judged = judgementOf(() =>
      observed((isObserved) => {
        const call = calledUntil(deadlineMs, () => this.#program.invariant(givenAgain(end, onAsked, isObserved)));
        if (call !== 'late') return call.returned;
        isLate = true;
        return false;
      }),
    );
    const judgement = await before(deadlineMs, judged, signal);
    return judgement === LATE || isLate ? 'late' : judgement;
  }
}

type Ask = (key: Key) => void;

/** Ends that are judged again, the judgements that they are taken from, and their changes. */
const ENDS_MAX = 8;
const JUDGEMENTS_SEEN = 64;
const JUDGEMENTS_MAX = 500;
/** That one judgement may ask of a final state: a changed pointer may lead in a circle. */
const ASKED_MAX = 100_000;

/** No answer: it may ask for ever. */
class Endless extends RangeError {}

const ignored = (): void => {};

/** An end of which a copy is kept of what is asked for. */
class ObservedEnd {
  readonly end: End;
  #final: Record<string, unknown> | null = null;
  #results: Record<string, unknown> | null = null;
  #asks: Asks = { final: false, results: false };

  /** @param copies whether anything is copied, or only asked for */
  constructor(end: End, copies: boolean) {
    const asked = (asks: Partial<Asks>): void => void (this.#asks = { ...this.#asks, ...asks });
    const noteFinal = (): void => {
      if (copies && !this.#asks.final) this.#final = copyOf(end.final);
      asked({ final: true });
    };
    const noteResults = (): void => {
      if (copies && !this.#asks.results) this.#results = copyOf(end.results);
      asked({ results: true });
    };
    this.end = {
      get final() {
        noteFinal();
        return end.final;
      },
      get results() {
        noteResults();
        return end.results;
      },
      sometimes: end.sometimes,
    };
  }

  seen(): SeenEnd {
    return { final: this.#final, results: this.#results, asks: this.#asks };
  }
}

/** Is it known that no session returned anything there? */
function returnsNothing({ results }: SeenEnd): boolean {
  return results !== null && Object.values(results).every((each) => each === undefined);
}

function asksOf(ends: readonly SeenEnd[]): Asks {
  return { final: ends.some(({ asks }) => asks.final), results: ends.some(({ asks }) => asks.results) };
}

function copiedOf(ends: readonly SeenEnd[]): Asks {
  return { final: ends.some(({ final }) => final !== null), results: ends.some(({ results }) => results !== null) };
}

/** `null`: it has what cannot be copied. */
function copyOf(values: object): Record<string, unknown> | null {
  try {
    return structuredClone({ ...values });
  } catch {
    return null;
  }
}

/** @param isObserved an end that is copied cannot be: then it asks for every key */
function givenAgain(end: SeenEnd, onAsked: Ask, isObserved: boolean): End {
  const { final, results } = structuredClone({ final: end.final, results: end.results });
  const given = { final: final ?? {}, results: results ?? {}, sometimes: ignored };
  let asked = 0;
  const ask: Ask = (key) => {
    asked += 1;
    if (asked > ASKED_MAX) throw new Endless('a judgement without an end');
    onAsked(key);
  };
  if (isObserved) return { ...given, final: askedOf(given.final, ask) };
  for (const key of Object.keys(given.final)) onAsked(key);
  return given;
}

function askedOf(final: Record<string, unknown>, ask: Ask): Record<string, unknown> {
  const note = (name: string | symbol): void => {
    if (typeof name === 'string' && (Object.hasOwn(final, name) || !(name in final || isAskedOfAll(name)))) ask(name);
  };
  return new Proxy(final, {
    get: (target, name) => (note(name), Reflect.get(target, name) as unknown),
    has: (target, name) => (note(name), Reflect.has(target, name)),
    getOwnPropertyDescriptor: (target, name) => (note(name), Reflect.getOwnPropertyDescriptor(target, name)),
  });
}

/**
 * The same end with one value changed, in many ways: the first change of each value, then the second of each. After each round the same of all values
 * at once: `a || b` asks for both.
 */
function changesOfEnd({ final, results, asks }: SeenEnd, asked: ReadonlySet<Key>, mentioned: Mentioned): SeenEnd[] {
  const ofFinal = [...(final === null ? [] : asked)].map((key) =>
    changesOf(final?.[key], mentioned).map(
      (change): Change =>
        (end) => ({
          ...end,
          final: withChange(end.final ?? {}, key, change),
        }),
    ),
  );
  const ofResults = Object.keys(results ?? {}).map((name) =>
    changesOf(results?.[name], mentioned).map(
      (change): Change =>
        (end) => ({
          ...end,
          results: withChange(end.results ?? {}, name, change),
        }),
    ),
  );
  const ofEach: Change[][] = [...ofFinal, ...ofResults];
  const rounds = Math.max(0, ...ofEach.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, i) => {
    const changes = ofEach.flatMap((each) => each.slice(i, i + 1));
    const all = changes.reduce<SeenEnd>((end, change) => change(end), { final, results, asks });
    return [...changes.map((change) => change({ final, results, asks })), ...(changes.length > 1 ? [all] : [])];
  }).flat();
}

type Change = (end: SeenEnd) => SeenEnd;
