// What a user's program sees: every entry point loads, and the first one works.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { explore, program, testProgram } from 'moirai';
import { strongestLevel } from 'moirai/check';
import { parseHistory } from 'moirai/history';

const manifest = createRequire(import.meta.url)('moirai/package.json');
// `moirai/record` is for `node --import`: it exports nothing.
const modules = Object.keys(manifest.exports).filter((name) => !name.endsWith('.json') && name !== './record');
for (const entryPoint of modules) {
  const names = Object.keys(await import(entryPoint.replace('.', 'moirai')));
  assert.notEqual(names.length, 0, `${entryPoint} exports nothing`);
}

const lostUpdate = parseHistory('r x _, w x 1\nr x _, w x 2');
assert.equal(strongestLevel(lostUpdate), 'prefix');

const increment = (session) => session.transaction(async (t) => t.write('x', (await t.read('x')) + 1));
const counter = program({
  initial: { x: 0 },
  sessions: { a: increment, b: increment },
  invariant: ({ final }) => final.x === 2,
});
await assert.rejects(testProgram(counter, { level: 'causal' }), /lost update/);
assert.equal((await explore(counter, { level: 'serializable' })).histories, 2);
