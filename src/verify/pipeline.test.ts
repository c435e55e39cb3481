import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MinHeap } from '../base/index.ts';
import { OperationTable } from './operation-table.ts';
import { Pipeline, type PipelineOptions } from './pipeline.ts';
import type { TraceOperation, TraceOperationKind } from '../trace/trace.ts';

function operation(session: string, start: number, end: number, kind: TraceOperationKind = 'read'): TraceOperation {
  return {
    session,
    transaction: session,
    kind,
    reads: [],
    writes: [],
    predicates: [],
    lock: null,
    failed: false,
    start,
    end,
  };
}

type PipedOptions = Omit<Partial<PipelineOptions>, 'onLate'> & { readonly onLate?: (late: TraceOperation) => void };

function piped({ onLate, ...options }: PipedOptions = {}): {
  pipeline: { push: (operation: TraceOperation, line: number) => void } & Pick<
    Pipeline,
    'drain' | 'finish' | 'mark' | 'frontier' | 'counts'
  >;
  out: TraceOperation[];
  stalled: string[];
} {
  const out: TraceOperation[] = [];
  const stalled: string[] = [];
  const operations = new OperationTable();
  const pipeline = new Pipeline({
    heldBack: 0,
    ...options,
    operations,
    dispatch: (dispatched) => {
      out.push(operations.operationAt(dispatched));
      operations.remove(dispatched);
    },
    onStalled: (session) => stalled.push(session),
    onLate: (late) => onLate?.(operations.operationAt(late)),
  });
  return {
    pipeline: {
      push: (pushed, line) => pipeline.push(operations.add(pushed), line),
      drain: () => pipeline.drain(),
      finish: () => pipeline.finish(),
      mark: (time) => pipeline.mark(time),
      get frontier() {
        return pipeline.frontier;
      },
      get counts() {
        return pipeline.counts;
      },
    },
    out,
    stalled,
  };
}

const sessionsOf = fc.array(fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 30 }), {
  minLength: 1,
  maxLength: 5,
});

test('operations leave in order of their starts, all of them, whatever order the sessions arrive in', () => {
  fc.assert(
    fc.property(sessionsOf, fc.infiniteStream(fc.nat()), fc.nat(3), (lists, choices, drains) => {
      const names = lists.map((_, i) => `s${i}`);
      const queues = lists.map((list, i) => {
        let now = 0;
        return list.map(([gap, length]) => {
          const start = now + gap;
          now = start + length;
          return operation(`s${i}`, start, now);
        });
      });
      const { pipeline, out } = piped({ sessions: names });
      let count = 0;
      for (;;) {
        const waiting = queues.filter((queue) => queue.length > 0);
        if (waiting.length === 0) break;
        const next = waiting[(choices.next().value as number) % waiting.length]?.shift() as TraceOperation;
        count += 1;
        pipeline.push(next, count);
        if (count % (drains + 1) === 0) pipeline.drain();
        expect(out.every(({ start }, i) => i === 0 || start >= (out[i - 1] as TraceOperation).start)).toBe(true);
      }
      pipeline.finish();
      expect(out).toHaveLength(count);
      expect(out.every(({ start }, i) => i === 0 || start >= (out[i - 1] as TraceOperation).start)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('nothing is dispatched that a session may still precede', () => {
  const { pipeline, out } = piped({ sessions: ['a', 'b'] });
  pipeline.push(operation('a', 5, 6), 1);
  pipeline.drain();
  expect(out).toEqual([]);
  pipeline.push(operation('b', 1, 4), 2);
  pipeline.drain();
  expect(out.map(({ start }) => start)).toEqual([1]);
  pipeline.push(operation('b', 6, 7), 3);
  pipeline.drain();
  expect(out.map(({ start }) => start)).toEqual([1, 5, 6]);
});

test('operations that no other session interleaves with are one batch', () => {
  const { pipeline } = piped({ sessions: ['a', 'b'] });
  for (const start of [1, 2, 3, 4]) pipeline.push(operation('a', start, start), start);
  for (const start of [5, 6, 7, 8]) pipeline.push(operation('b', start, start), start);
  pipeline.finish();
  expect(pipeline.counts.batches).toBe(2);
});

describe('a session that goes silent', () => {
  const silent = (): ReturnType<typeof piped> => {
    const all = piped({ bufferMax: 100, sessions: ['dead', 'live'] });
    all.pipeline.push(operation('dead', 0, 1), 1);
    for (let i = 1; i <= 1_000; i += 1) all.pipeline.push(operation('live', 2 * i, 2 * i + 1), i + 1);
    return all;
  };

  test('is not waited for longer than the buffer lasts', () => {
    const { pipeline, stalled, out } = silent();
    expect(stalled).toEqual(['dead']);
    expect(pipeline.counts.waitingMost).toBeLessThanOrEqual(101);
    expect(out.length).toBeGreaterThan(900);
  });

  test('may come back, but not with something that is too late', () => {
    const { pipeline, out } = silent();
    expect(() => pipeline.push(operation('dead', 3, 4), 7)).toThrow(expect.objectContaining({ code: 'trace/late' }));
    const other = silent();
    other.pipeline.push(operation('dead', 3_000, 3_001), 1_002);
    other.pipeline.finish();
    expect(other.out).toHaveLength(1_002);
    expect(out.length).toBeGreaterThan(0);
  });

  test('can say that it is over', () => {
    const { pipeline, out } = piped({ sessions: ['a', 'b'] });
    pipeline.push(operation('a', 0, 0, 'end'), 1);
    pipeline.push(operation('b', 9, 9), 2);
    pipeline.push(operation('b', 10, 10), 3);
    pipeline.drain();
    expect(out).toHaveLength(3);
  });
});

describe('within a session', () => {
  test.each([
    ['a start before that of the last operation', 4, 6, 'trace/order'],
    ['an overlap with the last operation', 6, 9, 'trace/overlap'],
  ])('%s is refused', (_name, start, end, code) => {
    const { pipeline } = piped();
    pipeline.push(operation('a', 5, 8), 1);
    expect(() => pipeline.push(operation('a', start, end), 2)).toThrow(
      expect.objectContaining({ code, place: { line: 2 } }),
    );
  });

  test('a clock that goes back within its error is moved, and counted', () => {
    const { pipeline, out } = piped({ clockError: 4 });
    pipeline.push(operation('a', 5, 8), 1);
    pipeline.push(operation('a', 4, 6), 2);
    pipeline.finish();
    expect(out[1]).toMatchObject({ start: 8, end: 8 });
    expect(pipeline.counts.moved).toBe(1);
  });

  test('statements of one message share its interval', () => {
    const { pipeline, out } = piped();
    for (let line = 1; line <= 3; line += 1) pipeline.push(operation('a', 5, 8), line);
    pipeline.finish();
    expect(out).toHaveLength(3);
  });

  test('a statement that commits by itself shares its interval with its commit', () => {
    const { pipeline, out } = piped();
    pipeline.push(operation('a', 5, 8), 1);
    pipeline.push(operation('a', 5, 8, 'commit'), 2);
    pipeline.finish();
    expect(out.map(({ kind }) => kind)).toEqual(['read', 'commit']);
  });

  test('the next operation may follow one that was never answered', () => {
    const { pipeline, out } = piped();
    pipeline.push(operation('a', 5, Infinity, 'commit'), 1);
    pipeline.push(operation('a', 6, 7), 2);
    pipeline.finish();
    expect(out).toHaveLength(2);
  });
});

test('a session that the header does not declare is refused', () => {
  const { pipeline } = piped({ sessions: ['a'] });
  expect(() => pipeline.push(operation('b', 1, 2), 3)).toThrow(expect.objectContaining({ code: 'trace/session' }));
});

test('a heap gives the smallest first', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (numbers) => {
      const heap = new MinHeap();
      for (const number of numbers) heap.push(number, number);
      const sorted = Array.from({ length: numbers.length }, () => heap.pop());
      expect(sorted).toEqual(numbers.toSorted((a, b) => a - b));
      expect(heap.size).toBe(0);
      expect(heap.minKey).toBe(Infinity);
    }),
  );
});

describe('a trace with marks', () => {
  /** What a recorder writes: operations when they end, and between them marks, no later than the start of anything that is still under way. */
  function recorded(lists: readonly (readonly [gap: number, length: number][])[]): (TraceOperation | number)[] {
    const all = lists.flatMap((list, i) => {
      let now = 0;
      return list.map(([gap, length]) => {
        const start = now + gap;
        now = start + length;
        return operation(`s${i}`, start, now);
      });
    });
    return all
      .toSorted((a, b) => a.end - b.end)
      .flatMap((each, i, sorted) => [each, Math.min(each.end, ...sorted.slice(i + 1).map(({ start }) => start))]);
  }

  test('leaves in order of starts, as soon as its marks allow', () => {
    fc.assert(
      fc.property(sessionsOf, (lists) => {
        const { pipeline, out } = piped({ hasMarks: true, heldBack: 4_096 });
        let count = 0;
        for (const each of recorded(lists)) {
          count += 1;
          if (typeof each !== 'number') pipeline.push(each, count);
          else {
            pipeline.mark(each);
            expect(pipeline.counts.waiting === 0 || pipeline.frontier <= each).toBe(true);
          }
        }
        pipeline.mark(Infinity);
        expect(pipeline.finish()).toBe(Infinity);
        expect(out).toHaveLength(lists.flat().length);
        expect(out.every(({ start }, i) => i === 0 || start >= (out[i - 1] as TraceOperation).start)).toBe(true);
        expect(pipeline.counts).toMatchObject({ waiting: 0, late: 0, cut: 0 });
      }),
      { numRuns: 300 },
    );
  });

  test('does not wait for a session that says nothing, nor for those that nobody has seen', () => {
    const { pipeline, out } = piped({ hasMarks: true });
    pipeline.push(operation('idle', 1, 2), 1);
    pipeline.push(operation('a', 3, 4), 2);
    pipeline.push(operation('a', 5, 6), 3);
    pipeline.mark(5);
    expect(out.map(({ start }) => start)).toEqual([1, 3, 5]);
  });

  test('continues without a statement that hangs longer than the buffer lasts', () => {
    const late: TraceOperation[] = [];
    const { pipeline, out } = piped({ hasMarks: true, bufferMax: 10, onLate: (each) => late.push(each) });
    for (let i = 0; i < 100; i += 1) pipeline.push(operation('a', 10 + 2 * i, 11 + 2 * i), i);
    expect(pipeline.counts.waitingMost).toBeLessThanOrEqual(11);
    pipeline.push(operation('hangs', 1, 250), 101);
    expect(late).toHaveLength(1);
    pipeline.mark(Infinity);
    pipeline.finish();
    expect([out.length, pipeline.counts.late]).toEqual([100, 1]);
  });

  test('that was cut off ends with its last mark', () => {
    const { pipeline, out } = piped({ hasMarks: true });
    for (const start of [1, 3, 5, 7]) pipeline.push(operation('a', start, start + 1), start);
    pipeline.mark(5);
    expect(pipeline.finish()).toBe(5);
    expect([out.length, pipeline.counts.cut]).toEqual([3, 1]);
  });
});
