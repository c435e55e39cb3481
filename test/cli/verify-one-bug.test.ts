/** One bug is one violation, and what is said of it is true: newcomer.md A7. */
import { describe, expect, test } from 'vitest';
import { mechanismsOf, TraceVerification } from '../../src/verify/index.ts';
import { runHere } from '../support/cli.ts';

const header = '{"moirai":"trace","version":1,"initial":{"x":0,"y":0},"sessions":["a","b"]}\n';

interface Step {
  readonly transaction: 'A' | 'B';
  readonly op: string;
  readonly start: number;
  readonly end?: number;
  readonly reads?: readonly unknown[];
  readonly writes?: readonly unknown[];
}

function traceOf(steps: readonly Step[]): string {
  const lines = steps.map(({ transaction, op, start, end = start + 1, ...rest }) =>
    JSON.stringify({ session: transaction.toLowerCase(), transaction, op, ...rest, start, end }),
  );
  return `${header}${lines.join('\n')}\n`;
}

/** A and B read x = 0; B writes and commits, then A does. */
const lostUpdate: readonly Step[] = [
  { transaction: 'A', op: 'begin', start: 1 },
  { transaction: 'B', op: 'begin', start: 1 },
  { transaction: 'A', op: 'read', reads: [['x', 0]], start: 3 },
  { transaction: 'B', op: 'read', reads: [['x', 0]], start: 3 },
  { transaction: 'B', op: 'write', writes: [['x', 2]], start: 5 },
  { transaction: 'B', op: 'commit', start: 7 },
  { transaction: 'A', op: 'write', writes: [['x', 1]], start: 9 },
  { transaction: 'A', op: 'commit', start: 11 },
];

/** Write skew; `commits`: when A and B commit. */
function writeSkew(commits: { readonly A: readonly [number, number]; readonly B: readonly [number, number] }): Step[] {
  const steps: Step[] = [
    { transaction: 'A', op: 'read', reads: [['x', 0]], start: 1 },
    { transaction: 'B', op: 'read', reads: [['y', 0]], start: 1 },
    { transaction: 'A', op: 'write', writes: [['y', 1]], start: 3 },
    { transaction: 'B', op: 'write', writes: [['x', 1]], start: 3 },
    ...(['A', 'B'] as const).map((transaction) => {
      const [start, end] = commits[transaction];
      return { transaction, op: 'commit', start, end };
    }),
  ];
  return steps.toSorted((a, b) => a.start - b.start);
}

function verified(steps: readonly Step[]) {
  const verification = new TraceVerification({ mechanisms: mechanismsOf('postgres', 'serializable') });
  verification.push(new TextEncoder().encode(traceOf(steps)));
  const { violations, counts } = verification.finish();
  const reasons = violations.flatMap(({ reason, alsoFoundBy }) => [
    reason,
    ...alsoFoundBy.map((other) => other.reason),
  ]);
  return { violations, counts, structure: reasons.find((reason) => reason.startsWith('two rw edges')) };
}

describe('the transaction that is said to have committed first', () => {
  test('did: after a lost update', () => {
    expect(verified(lostUpdate).structure).toBe(
      'two rw edges one after another, and B was the first to commit: B -rw(x)-> A, A -rw(x)-> B',
    );
  });

  test.each([
    ['A', { A: [5, 6], B: [8, 9] }],
    ['B', { A: [8, 9], B: [5, 6] }],
  ] as const)('did: %s, of a write skew', (first, commits) => {
    expect(verified(writeSkew(commits)).structure).toContain(`and ${first} was the first to commit: `);
  });

  test('is not named where the commits overlap', () => {
    const { structure } = verified(writeSkew({ A: [5, 8], B: [6, 9] }));
    expect(structure).toMatch(/^two rw edges one after another, back to the first transaction: /);
  });
});

describe('one bug is one violation', () => {
  test('whichever mechanisms find it', () => {
    const { violations, counts } = verified(lostUpdate);
    expect(counts.violations).toBe(1);
    expect(violations.map(({ mechanism, alsoFoundBy }) => [mechanism, alsoFoundBy.map((a) => a.mechanism)])).toEqual([
      ['first-updater-wins', ['serialization-certifier', 'serialization-certifier']],
    ]);
  });

  test('and two bugs are two', () => {
    const later = lostUpdate.map((step) => ({ ...step, start: step.start + 20 }));
    const values = new Map<unknown, unknown>([[0, 1]]);
    const again = later.map((step) => ({
      ...step,
      ...(step.reads === undefined ? {} : { reads: [['x', values.get(0)]] }),
      ...(step.writes === undefined ? {} : { writes: [['x', step.transaction === 'A' ? 11 : 12]] }),
    }));
    const text = traceOf(again).replace(header, '').replaceAll('"transaction":"A"', '"transaction":"A2"');
    const verification = new TraceVerification({ mechanisms: mechanismsOf('postgres', 'serializable') });
    verification.push(
      new TextEncoder().encode(traceOf(lostUpdate) + text.replaceAll('"transaction":"B"', '"transaction":"B2"')),
    );
    const { counts, violations } = verification.finish();
    expect(counts.violations).toBe(2);
    expect(violations.map(({ transactions }) => transactions.toSorted())).toEqual([
      ['A', 'B'],
      ['A2', 'B2'],
    ]);
  });

  test('also beyond those that are kept', () => {
    const verification = new TraceVerification({
      mechanisms: mechanismsOf('postgres', 'serializable'),
      violationsMax: 0,
    });
    verification.push(new TextEncoder().encode(traceOf(lostUpdate)));
    expect(verification.finish()).toMatchObject({ counts: { violations: 1 }, violations: [] });
  });

  test('in the text and in the JSON', async () => {
    const args = ['verify', 'run.trace.jsonl', '--engine', 'postgres', '--isolation', 'serializable'];
    const files = { 'run.trace.jsonl': traceOf(lostUpdate) };
    const { code, out } = await runHere(args, files);
    expect(code).toBe(1);
    expect(out.match(/^violation.*$/gm)).toEqual([
      'violation 1: first-updater-wins',
      'violation 1, also found by serialization-certifier',
      'violation 1, also found by serialization-certifier',
    ]);
    expect(out).toContain('violated: 1 violation\n');
    const json = await runHere([...args, '--json'], files);
    expect(JSON.parse(json.out)).toMatchObject({
      violationCount: 1,
      violations: [
        {
          mechanism: 'first-updater-wins',
          transactions: ['A', 'B'],
          alsoFoundBy: [
            { mechanism: 'serialization-certifier', rows: ['x'] },
            { mechanism: 'serialization-certifier', rows: ['x'] },
          ],
        },
      ],
    });
  });
});
