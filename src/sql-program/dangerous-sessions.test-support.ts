/**
 * Programs of three sessions that read what others write, in a cycle: the rw-conflicts T0 -> T1 -> T2 because of which a serializable transaction is refused
 * (`engine/postgres/serializable.ts`). Random statements rarely make one.
 */
import fc from 'fast-check';
import type { Dialect } from './engines.test-support.ts';
import { type Action, otherBegins, type Sessions } from './random-sql-programs.test-support.ts';

/** By key, by the table, by an index, up to a limit: what is read, and a write that changes it, or that a scan need not come to. */
const cells = [
  { read: 'SELECT n FROM t WHERE id = 1', write: 'UPDATE t SET n = n + 1 WHERE id = 1' },
  { read: 'SELECT n FROM t WHERE id = 2', write: 'UPDATE t SET n = 7 WHERE id = 2' },
  { read: 'SELECT v FROM w WHERE id = 1', write: 'UPDATE w SET v = v + 1 WHERE id = 1' },
  { read: 'SELECT count(*) AS n FROM h', write: 'INSERT INTO h VALUES (1)' },
  { read: 'SELECT count(*) AS n FROM t WHERE k = 2', write: 'INSERT INTO t VALUES (4, 40, 2, 7)' },
  { read: 'SELECT id FROM t WHERE k = 1 ORDER BY id', write: 'UPDATE t SET k = k + 1 WHERE id = 1' },
  { read: 'SELECT id FROM w ORDER BY id LIMIT 1', write: 'DELETE FROM w WHERE id = 2' },
  { read: 'SELECT sum(v) AS n FROM w', write: 'UPDATE w SET id = 3 WHERE id = 2' },
] as const;

/** Statements of a session; those in a list are a transaction. */
type Shape = readonly (string | readonly string[])[];

function shapesOf([a, b, c]: readonly (typeof cells)[number][]): readonly (readonly Shape[])[] {
  if (a === undefined || b === undefined || c === undefined) return [];
  return [
    [[[a.read, a.write]], [[b.read, a.read, b.write]], [[b.read, a.read]]],
    [[[a.read, b.write]], [[b.read, c.write]], [[c.read, a.write]]],
    [[[a.read, b.write]], [[b.read, a.write]], [[a.read, b.read]]],
    [[[a.read, b.write]], [[b.read, a.write]], [c.read, a.write]],
    [[[a.read, b.write], a.read], [[b.read, a.write]], [b.write]],
    [[[a.read, b.write]], [[b.read, a.write]], [[b.read, c.write, a.read]]],
    [[[a.read, b.write]], [[b.read, c.write], [a.write]], [c.write]],
    [[[a.read, b.write]], [[b.read, a.write]], [[b.read, a.write, a.read]]],
    [[[a.read, b.read, a.write]], [[a.read, b.read, b.write]], [[a.read, b.read, c.write]]],
    [[[a.read, b.read, c.write]], [[b.read, c.read, a.write]], [[c.read, a.read, b.write]]],
    [[[a.read, b.read, c.write]], [[b.read, c.read, a.write]], [[c.read, b.write, a.read]]],
  ];
}

interface Frame {
  readonly begin: readonly string[];
  readonly end: string;
  /** What is rolled back to a savepoint: what it does first, or all, and then what it does last is done again. */
  readonly undone: 'nothing' | 'first' | 'all';
}

function frameOf(dialect: Dialect): fc.Arbitrary<Frame> {
  return fc.record({
    begin: fc.oneof(
      { arbitrary: fc.constant(['BEGIN']), weight: 8 },
      { arbitrary: fc.constantFrom(...otherBegins[dialect]), weight: 1 },
    ),
    end: fc.oneof({ arbitrary: fc.constant('COMMIT'), weight: 8 }, { arbitrary: fc.constant('ROLLBACK'), weight: 1 }),
    undone: fc.oneof(
      { arbitrary: fc.constant('nothing' as const), weight: 8 },
      { arbitrary: fc.constantFrom('first' as const, 'all' as const), weight: 2 },
    ),
  });
}

function sessionOf(shape: Shape, frames: readonly Frame[]): Action[] {
  const texts = shape.flatMap((part, place): readonly string[] => {
    const frame = frames[place];
    if (typeof part === 'string' || frame === undefined) return [part].flat();
    return [...frame.begin, ...bodyOf(part, frame), frame.end];
  });
  return texts.map((sql) => ({ kind: 'sql', sql }));
}

function bodyOf(part: readonly string[], { undone }: Frame): readonly string[] {
  if (undone === 'nothing') return part;
  const length = undone === 'first' ? 1 : part.length;
  const others = undone === 'first' ? part.slice(1) : part.slice(-1);
  return ['SAVEPOINT a', ...part.slice(0, length), 'ROLLBACK TO SAVEPOINT a', ...others];
}

export function dangerousSessions(dialect: Dialect): fc.Arbitrary<Sessions> {
  return fc
    .record({
      cells: fc.shuffledSubarray([...cells], { minLength: 3, maxLength: 3 }),
      shape: fc.nat(),
      frames: fc.array(fc.array(frameOf(dialect), { minLength: 2, maxLength: 2 }), { minLength: 3, maxLength: 3 }),
    })
    .map(({ cells: drawn, shape, frames }) => {
      const shapes = shapesOf(drawn);
      return (shapes[shape % shapes.length] ?? []).map((session, at) => sessionOf(session, frames[at] ?? []));
    });
}
