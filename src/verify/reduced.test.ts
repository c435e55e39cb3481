/** Right traces of every engine and level that tell less, or in other words, are still right: no alarm, and nothing kept that is over. */
import { expect, test } from 'vitest';
import { engines } from './engines.ts';
import { initialOf, type Random, simulate } from './simulate.test-support.ts';
import { type RowImage, type RowValue, type TraceOperation, unknownMark } from '../trace/trace.ts';
import { seededRandom, verifyAll } from './verify.test-support.ts';

const columns = ['a', 'b', 'c'] as const;

/** The same value in each of three columns. */
function inColumns(image: RowImage): RowImage {
  return new Map(columns.map((column) => [column, image as number]));
}

function onlySome(image: RowImage, random: Random): RowImage {
  if (typeof image !== 'object' || image === null) return image;
  const kept = [...image].filter(() => random(3) > 0);
  return kept.length === 0 ? image : new Map(kept);
}

type Reduction = (operation: TraceOperation, random: Random) => TraceOperation;

const withRows = (
  operation: TraceOperation,
  change: (row: RowValue, kind: 'reads' | 'writes') => RowValue,
): TraceOperation => ({
  ...operation,
  reads: operation.reads.map((row) => change(row, 'reads')),
  writes: operation.writes.map((row) => change(row, 'writes')),
});

const reductions: Readonly<Record<string, Reduction>> = {
  'as it is': (operation) => operation,
  'reads of some columns': (operation, random) =>
    withRows(operation, ({ key, image }, kind) => ({
      key,
      image: kind === 'reads' ? onlySome(inColumns(image), random) : inColumns(image),
    })),
  'writes of values that are not known': (operation, random) =>
    withRows(operation, ({ key, image }, kind) => {
      const row = inColumns(image) as ReadonlyMap<string, number>;
      const known = [...row].map(([column, value]) => [column, random(3) === 0 ? unknownMark : value] as const);
      return { key, image: kind === 'writes' ? new Map<string, string | number>(known) : row };
    }),
  'reads by a condition, of which the rows are all there are': (operation) => {
    const told = withRows(operation, ({ key, image }) => ({ key: `t/${key}`, image: inColumns(image) }));
    const [first] = operation.reads;
    if (first === undefined || operation.reads.length !== 1 || first.image === 0) return told;
    const where = [{ column: 'a', comparison: '=' as const, value: first.image as number }];
    return { ...told, predicates: [{ table: 't', where }] };
  },
  'rows that were not read out': (operation, random) => ({
    ...operation,
    reads: operation.reads.filter(() => random(3) > 0),
  }),
  'commits that were never answered': (operation, random) =>
    operation.kind === 'commit' && random(4) === 0 ? { ...operation, end: Infinity } : operation,
  'aborts that are commits that failed': (operation) =>
    operation.kind === 'abort' ? { ...operation, kind: 'commit', failed: true } : operation,
  'intervals that are wider': (operation, random) => ({ ...operation, end: operation.end + random(2) }),
};

const all = Object.entries(engines).flatMap(([engine, of]) => Object.keys(of).map((level) => [engine, level] as const));

/** MOIRAI_HEAVY=1: more traces. */
const seeds = process.env['MOIRAI_HEAVY'] === '1' ? 100 : 6;

test.each(all)('%s %s', (engine, level) => {
  const mechanisms = engines[engine]?.[level];
  if (mechanisms === undefined) throw new Error(`${engine} has no ${level}`);
  for (const [name, reduce] of Object.entries(reductions)) {
    const isTable = name.startsWith('reads by a condition');
    const inMaps = isTable || name.startsWith('reads of some') || name.startsWith('writes of values');
    const initial = new Map(
      [...initialOf(3)].map(([key, image]) => [isTable ? `t/${key}` : key, inMaps ? inColumns(image) : image]),
    );
    for (let seed = 0; seed < seeds; seed += 1) {
      const random = seededRandom(1_000 + seed);
      const shape = { sessions: 3, transactions: 6, operations: 4, keys: 3, spread: seed % 7, repeats: false };
      // Twice as long, so that an end has room after it.
      const right = simulate(mechanisms, shape, random).map((operation) => ({
        ...operation,
        start: 3 * operation.start,
        end: 3 * operation.end,
      }));
      const { violations, sizes } = verifyAll(
        mechanisms,
        right.map((operation) => reduce(operation, random)),
        initial,
      );
      expect({ name, seed, reasons: violations.map(({ reason }) => reason) }).toEqual({ name, seed, reasons: [] });
      if (name === 'as it is') expect(sizes.locks + sizes.open).toBeLessThan(60);
    }
  }
});
