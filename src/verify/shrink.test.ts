import { expect, test } from 'vitest';
import { mechanismsOf } from './engines.ts';
import { shrink } from './shrink.ts';
import { traceOf, verifyAll } from './verify.test-support.ts';

test('what is left shows the same violation, not one that is there because writes are not known', () => {
  const trace = traceOf(`
    z t9 w y=1
    z t9 commit
    a t1 w x=1
    a t1 r y=1
    a t1 commit
    z t8 w y=2
    z t8 commit
    b t2 r y=2
    b t2 r x=0
    b t2 commit
  `);
  const mechanisms = mechanismsOf('postgres', 'read committed');
  const initial = new Map([['x', 0]]);
  const [violation] = verifyAll(mechanisms, trace, initial).violations;
  if (violation === undefined) throw new Error('a stale read is a violation');
  const smallest = shrink(violation, { mechanisms, initial });
  const rows = smallest?.flatMap(({ reads, writes }) => [...reads, ...writes].map(({ key }) => key));
  expect(rows).toEqual(['x', 'x']);
});
