/**
 * Statements that a transaction repeats are a loop where other transactions, which are the same otherwise, repeat them another number of times. Without
 * such a one they are steps of their own: two updates of one shape are two updates.
 */
import type { RanEvent, RanTransaction } from './ran-transactions.ts';

/** A transaction as elements: what ran once, and loops with their iterations. */
export interface FoldedTransaction {
  readonly ran: RanTransaction;
  readonly elements: readonly Element[];
}

export interface Element {
  /** Equal for elements of one place. */
  readonly key: string;
  readonly isLoop: boolean;
  /** One for what is no loop. Each iteration has the same shapes. */
  readonly iterations: readonly (readonly RanEvent[])[];
}

/** O(statements * blockMax) for each transaction, and a match of each with each pattern that has a loop. */
export function foldLoops(transactions: readonly RanTransaction[]): readonly FoldedTransaction[] {
  const letters = new Letters();
  const texts = transactions.map(({ events }) => events.map(({ key }) => letters.of(key)).join(''));
  const patterns = patternsOf(texts);
  return transactions.map((ran, at) => {
    const pattern = patterns.find((each) => (ran.end === 'commit' ? each.perhaps : each.once).test(texts[at] ?? ''));
    const parts = pattern?.parts ?? lettersIn(texts[at] ?? '').map((letter) => ({ letters: letter, isLoop: false }));
    return { ran, elements: elementsOf(ran.events, texts[at] ?? '', parts) };
  });
}

/** A character for each shape, so that a transaction is a text and a pattern a regular expression. */
class Letters {
  readonly #known = new Map<string, string>();

  of(key: string): string {
    // Plane 15, for private use.
    const letter = this.#known.get(key) ?? String.fromCodePoint(0xf0000 + this.#known.size);
    this.#known.set(key, letter);
    return letter;
  }
}

function lettersIn(text: string): readonly string[] {
  return Array.from(text);
}

interface Part {
  readonly letters: string;
  readonly isLoop: boolean;
}

class Pattern {
  readonly parts: readonly Part[];
  /** With a group for each loop, which runs at least once, or perhaps not at all. */
  readonly once: RegExp;
  readonly perhaps: RegExp;

  constructor(parts: readonly Part[]) {
    this.parts = parts;
    this.once = regExpOf(parts, '+');
    this.perhaps = regExpOf(parts, '*');
  }

  get key(): string {
    return this.parts.map(({ letters, isLoop }) => (isLoop ? `(${letters})` : letters)).join('');
  }
}

function regExpOf(parts: readonly Part[], times: '*' | '+'): RegExp {
  const source = parts.map(({ letters, isLoop }) => (isLoop ? `((?:${letters})${times})` : letters)).join('');
  return new RegExp(`^${source}$`, 'u');
}

/** Those with loops that really differ in how often they run; the longest first. */
function patternsOf(texts: readonly string[]): readonly Pattern[] {
  const unique = [...new Set(texts)];
  const found = new Map<string, Pattern>();
  for (const text of unique) {
    const parts = repeatsIn(text);
    if (!parts.some(({ isLoop }) => isLoop)) continue;
    const loose = new Pattern(parts);
    const pattern = unrolled(
      loose,
      unique.flatMap((other) => timesIn(loose, other)),
    );
    if (pattern.parts.some(({ isLoop }) => isLoop)) found.set(pattern.key, pattern);
  }
  return [...found.values()].toSorted((a, b) => b.parts.length - a.parts.length);
}

/** How often each loop runs; empty where the text is another. */
function timesIn(pattern: Pattern, text: string): readonly (readonly number[])[] {
  const match = pattern.once.exec(text);
  if (match === null) return [];
  const loops = pattern.parts.filter(({ isLoop }) => isLoop);
  return [loops.map(({ letters }, at) => (match[at + 1] ?? '').length / letters.length)];
}

function unrolled(pattern: Pattern, times: readonly (readonly number[])[]): Pattern {
  let loop = -1;
  return new Pattern(
    pattern.parts.flatMap((part) => {
      if (!part.isLoop) return [part];
      loop += 1;
      const counts = new Set(times.map((each) => each[loop]));
      if (counts.size > 1) return [part];
      const [count = 1] = counts;
      return lettersIn(part.letters.repeat(count)).map((letters) => ({ letters, isLoop: false }));
    }),
  );
}

/** Statements of one iteration at most. */
const blockMax = 12;

/** The shortest block that is repeated at once, as a loop. */
function repeatsIn(text: string): readonly Part[] {
  const letters = lettersIn(text);
  const parts: Part[] = [];
  for (let at = 0; at < letters.length; ) {
    const block = blockAt(letters, at);
    if (block === 0) {
      parts.push({ letters: letters[at] as string, isLoop: false });
      at += 1;
      continue;
    }
    const one = letters.slice(at, at + block).join('');
    while (letters.slice(at, at + block).join('') === one) at += block;
    parts.push({ letters: one, isLoop: true });
  }
  return parts;
}

function blockAt(letters: readonly string[], at: number): number {
  for (let length = 1; length <= blockMax && at + 2 * length <= letters.length; length += 1)
    if (isRepeated(letters, at, length)) return length;
  return 0;
}

function isRepeated(letters: readonly string[], at: number, length: number): boolean {
  for (let i = 0; i < length; i += 1) if (letters[at + i] !== letters[at + length + i]) return false;
  return true;
}

function elementsOf(events: readonly RanEvent[], text: string, parts: readonly Part[]): readonly Element[] {
  const letters = lettersIn(text);
  const elements: Element[] = [];
  let at = 0;
  for (const { letters: block, isLoop } of parts) {
    const length = lettersIn(block).length;
    const iterations: (readonly RanEvent[])[] = [];
    const timesMax = isLoop ? Infinity : 1;
    while (iterations.length < timesMax && letters.slice(at, at + length).join('') === block) {
      iterations.push(events.slice(at, at + length));
      at += length;
    }
    elements.push({ key: isLoop ? `loop ${block}` : block, isLoop, iterations });
  }
  return elements;
}
