/** Running the verifier over a whole trace. */
import type { Value } from '../history/value.ts';
import type { Mechanisms } from './mechanisms.ts';
import { Verifier } from './verifier.ts';
import { imageOf, type RowImage, type TraceOperation } from '../trace/trace.ts';
import type { Violation } from './violation.ts';

export interface Verified {
  readonly violations: readonly Violation[];
  readonly counts: Verifier['counts'];
  readonly sizes: Verifier['sizes'];
}

export function verifyAll(
  mechanisms: Mechanisms,
  operations: readonly TraceOperation[],
  initial: ReadonlyMap<string, RowImage> = new Map(),
): Verified {
  const violations: Violation[] = [];
  const verifier = new Verifier({ mechanisms, initial, onViolation: (violation) => violations.push(violation) });
  for (const operation of operations.toSorted((a, b) => a.start - b.start)) verifier.push(operation);
  verifier.finish();
  return { violations, counts: verifier.counts, sizes: verifier.sizes };
}

/** Integers from a seed (mulberry32). */
export function seededRandom(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

/**
 * A trace by hand, an operation a line: `SESSION TRANSACTION WORD [KEY=JSON...] [@START-END]`. Words: begin, r, r-update, r-share, w, w-failed,
 * commit, commit-failed, abort; savepoint NAME, rollback-to NAME, release NAME. Without times an operation has the slot of its line to itself; `@START-` was never answered.
 */
export function traceOf(text: string): TraceOperation[] {
  const lines = text.split('\n').filter((line) => /\S/.test(line));
  return lines.map((line, i) => {
    const [session = '', transaction = '', word = '', ...rest] = line.trim().split(/\s+/);
    const [, start = String(10 * i), end = String(10 * i + 5)] = /@(\d+)-(\d*)$/.exec(line.trim()) ?? [];
    const rows = rest.flatMap((part) => {
      const [, key, value] = /^([^=]+)=(.+)$/.exec(part) ?? [];
      return key === undefined || value === undefined ? [] : [{ key, image: imageOf(JSON.parse(value) as Value) }];
    });
    const isSavepoint = ['savepoint', 'rollback-to', 'release'].includes(word);
    const [name = '', detail] = isSavepoint ? [word] : word.split('-');
    const kind =
      ({ r: 'read', w: 'write' } as Record<string, TraceOperation['kind']>)[name] ?? (name as TraceOperation['kind']);
    return {
      session,
      transaction,
      kind,
      reads: kind === 'read' ? rows : [],
      writes: kind === 'write' ? rows : [],
      predicates: [],
      ...(isSavepoint ? { savepoint: rest[0] ?? '' } : {}),
      lock: detail === 'update' || detail === 'share' ? detail : null,
      failed: detail === 'failed',
      start: Number(start),
      end: end === '' ? Infinity : Number(end),
    };
  });
}
