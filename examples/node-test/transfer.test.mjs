/** A campaign as an ordinary test, in plain JavaScript: `node --test`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { program, testProgram } from 'moirai';

const increment = (session) => session.transaction(async (t) => t.write('likes', (await t.read('likes')) + 1));

const likes = program({
  initial: { likes: 0 },
  sessions: { ann: increment, bob: increment },
  invariant: ({ final }) => final.likes === 2 || `${final.likes} of 2 likes are left`,
});

test('no like is lost at snapshot isolation', async () => {
  await testProgram(likes, { level: 'snapshot-isolation' });
});

test('... and some are at causal', async () => {
  await assert.rejects(testProgram(likes, { level: 'causal' }), { name: 'AssertionError', message: /lost update/ });
});
