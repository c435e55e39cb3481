// What a user's program sees: every entry point loads, and the first one works.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { parseHistory } from 'moirai/history';

const manifest = createRequire(import.meta.url)('moirai/package.json');
for (const entryPoint of Object.keys(manifest.exports).filter((name) => !name.endsWith('.json'))) {
  const names = Object.keys(await import(entryPoint.replace('.', 'moirai')));
  assert.notEqual(names.length, 0, `${entryPoint} exports nothing`);
}

const lostUpdate = parseHistory('r x _, w x 1\nr x _, w x 2');
assert.equal(lostUpdate.transactions.length, 2);
