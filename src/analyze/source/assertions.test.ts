/** Calls that throw, as `assert(row.state === 'free')`: what stands behind them is under a condition. */
import { expect, test } from 'vitest';
import { pg, read } from './read-source.test-support.ts';

function claim(imports: string, check: string): string {
  return read({
    'a.ts': `${imports}\n${pg}export async function claim(id: number, user: number) {
      const { rows: [seat] } = await pool.query('SELECT state FROM seats WHERE id = $1', [id]);
      ${check};
      await pool.query('UPDATE seats SET taken_by = $2 WHERE id = $1', [id, user]);
    }`,
  });
}

test.each([
  [
    'assert of Node',
    "import assert from 'node:assert';",
    "assert(seat.state === 'free', 'taken')",
    "if (seats.state <> 'free')",
  ],
  ['assert.ok', "import assert from 'assert';", "assert.ok(seat.state === 'free')", "if (seats.state <> 'free')"],
  [
    'assert.equal',
    "import assert from 'node:assert/strict';",
    "assert.equal(seat.state, 'free')",
    "if (seats.state <> 'free')",
  ],
  [
    'a named import',
    "import { strictEqual } from 'assert';",
    "strictEqual(seat.state, 'free')",
    "if (seats.state <> 'free')",
  ],
  [
    'assert.notEqual',
    "import * as assert from 'assert';",
    "assert.notEqual(seat.state, 'held')",
    "if (seats.state = 'held')",
  ],
  [
    'an invariant',
    "import invariant from 'tiny-invariant';",
    "invariant(seat.state === 'free')",
    "if (seats.state <> 'free')",
  ],
  [
    'a function that checks',
    "import { ensureFree } from 'seats';",
    'await ensureFree(seat)',
    'if ? whether ensureFree throws',
  ],
])('%s', (_, imports, check, condition) => {
  const text = claim(imports, check);
  expect(text).toContain(condition);
});

test.each([
  ['a logger', "import { log } from 'logs';", 'log(seat)'],
  ['a check of arguments alone', "import assert from 'node:assert';", 'assert(id > 0)'],
])('%s decides nothing', (_, imports, check) => expect(claim(imports, check)).not.toContain('if '));
