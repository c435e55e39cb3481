import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import keyValueSnapshot from '../examples/protocols/key-value-snapshot.ts';
import lastWriterWins from '../examples/protocols/last-writer-wins.ts';
import optimisticCommit from '../examples/protocols/optimistic-commit.ts';
import snapshotStore from '../examples/protocols/snapshot-store.ts';
import twoPhaseLocking from '../examples/protocols/two-phase-locking.ts';
import { checkProtocol, type Protocol } from '../src/protocol/index.ts';
import { commitTest, type TimelessLevel } from '../src/states/index.ts';
import { filled } from './support/level-docs.ts';

/** MOIRAI_UPDATE_DOCS=1 writes the document. */
const isUpdate = process.env['MOIRAI_UPDATE_DOCS'] === '1';
const file = new URL('../docs/protocol.md', import.meta.url);

const levels: readonly TimelessLevel[] = [
  'read-uncommitted',
  'preread',
  'read-atomic',
  'parallel-snapshot-isolation',
  'snapshot-isolation',
  'serializable',
];

const rows: readonly { readonly protocol: Protocol; readonly parameters: Readonly<Record<string, number>> }[] = [
  { protocol: twoPhaseLocking, parameters: { transactions: 2, resources: 2 } },
  { protocol: twoPhaseLocking, parameters: { transactions: 3, resources: 2, bug: 1 } },
  { protocol: twoPhaseLocking, parameters: { transactions: 2, resources: 1, bug: 2 } },
  { protocol: snapshotStore, parameters: { transactions: 3 } },
  { protocol: snapshotStore, parameters: { transactions: 3, check: 0 } },
  { protocol: keyValueSnapshot, parameters: { transactions: 2, keys: 2 } },
  { protocol: optimisticCommit, parameters: { writes: 1 } },
  { protocol: optimisticCommit, parameters: { writes: 2 } },
  { protocol: optimisticCommit, parameters: { writes: 2, wait: 0 } },
  { protocol: lastWriterWins, parameters: { transactions: 3 } },
  { protocol: lastWriterWins, parameters: { transactions: 3, whole: 1 } },
];

test('docs/protocol.md says what the protocols give; else run: MOIRAI_UPDATE_DOCS=1 npx vitest run test/protocol-docs.test.ts', () => {
  const text = readFileSync(file, 'utf8');
  const head = `| protocol | parameters | ${levels.map((level) => `\`${level}\``).join(' | ')} |`;
  const rule = `| --- | --- |${' --- |'.repeat(levels.length)}`;
  const expected = filled(text, { levels: [head, rule, ...rows.map(rowOf)].join('\n') });
  if (isUpdate) writeFileSync(file, expected);
  else expect(text).toBe(expected);
});

/** For each level: does it hold in every state, or how long is the shortest way to a violation? */
function rowOf({ protocol, parameters }: (typeof rows)[number]): string {
  const violatedAfter = new Map<TimelessLevel, number | undefined>();
  // A search is breadth-first and ends at the first state that violates a level: no shorter way leads to a violation of any level that is left,
  // so the levels that this state violates as well have their shortest way here. The search that ends without a violation proves all others.
  for (let left = levels; left.length > 0; left = levels.filter((level) => !violatedAfter.has(level))) {
    const { verdict, violation, trace } = checkProtocol(protocol, { parameters, levels: left, eventually: false });
    if (verdict === 'satisfied') break;
    assert(violation?.kind === 'isolation', `${protocol.name} violates nothing but levels`);
    assert(trace?.observed, 'a violation of a level has a trace that ends with what clients observed');
    for (const level of left) {
      const { kind } = commitTest(trace.observed, level);
      assert(kind !== 'unknown', `${level} is not decided`);
      if (kind === 'violated') violatedAfter.set(level, trace.steps.length);
    }
    assert(violatedAfter.has(violation.name), `the last state of the trace is at ${violation.name}`);
  }
  const cells = levels.map((level) =>
    violatedAfter.has(level) ? `no, after ${violatedAfter.get(level)} steps` : 'yes',
  );
  const options = Object.entries(parameters).map(([name, value]) => `\`--${name} ${value}\``);
  return `| ${[protocol.name, options.join(' '), ...cells].join(' | ')} |`;
}
