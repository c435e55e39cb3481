import { describe, expect, test } from 'vitest';
import { analysisJson } from './analysis-json.ts';
import { formatAnalysis } from './analysis-text.ts';
import { analyze } from './analyze.ts';
import type { UnitStep } from './application.ts';
import { application, argument, column, expression, statement, transaction } from './builder.ts';

const schema = `CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
  CREATE TABLE posts (id int PRIMARY KEY, author int NOT NULL, edited timestamptz NOT NULL DEFAULT now())`;
const read = statement('SELECT balance FROM accounts WHERE id = $1', [argument('id')], 'account');
const write = statement('UPDATE accounts SET balance = $2 WHERE id = $1', [
  argument('id'),
  expression('+', column('account', 'balance'), 1),
]);

async function textOf(units: Readonly<Record<string, readonly UnitStep[]>>): Promise<string> {
  const analysis = await analyze(application({ schema, units }), { isolation: 'read committed' });
  return formatAnalysis(analysis, { style: (_, shown) => shown, files: [], invocation: 'moirai' });
}

describe('changes', () => {
  test('a lock where the library runs SQL text, if its own call has none', async () => {
    const text = await textOf({ add: [transaction('add', null, [{ ...read, rawCall: '$queryRaw' }, write])] });
    expect(text).toMatch(/with FOR UPDATE by \$queryRaw at \S+: 0 of 4 schedules/);
  });

  test('a level that only what is possible asks for: none in the table, and no retry', async () => {
    const touch = [
      statement('SELECT max(edited) AS at FROM posts WHERE author = $1', [argument('author')]),
      statement('UPDATE posts SET edited = now() WHERE author = $1', [argument('author')]),
    ];
    const text = await textOf({ touch: [transaction('touch', null, touch)] });
    expect(text).toMatch(/touch .* serializable +-\n/);
    expect(text).toContain('with touch at serializable: proven for any rows');
  });

  test('units that run the same statements are listed once', async () => {
    const text = await textOf({ desk: [read, write], machine: [read, write] });
    expect(text.match(/not atomic: .*/g)).toEqual(['not atomic: desk with itself and machine with itself']);
  });
});

test.each([
  ['robust', [read], 'robust: at these levels'],
  ['an anomaly', [transaction('add', null, [read, write])], 'lost-update'],
  ['unknown', [{ kind: 'not-understood', place: { file: 'a.ts', line: 1 }, reason: 'it is not read' }], 'unknown:'],
] as const)('what is assumed of the source, and left out of it, is said once: %s', async (_, steps, verdict) => {
  const leftOut = ['db/seed.ts runs while no other transaction does: it is a seed'];
  const assumed = ['callers of add, which were not found, have no transaction open'];
  const analysis = await analyze(
    { ...application({ schema, units: { add: steps } }), assumed, leftOut },
    { isolation: 'read committed' },
  );
  const text = formatAnalysis(analysis, { style: (_kind, shown) => shown, files: [], invocation: 'moirai' });
  expect(text).toContain(verdict);
  expect(text.split('\n').filter((line) => /seed|callers/.test(line))).toEqual([
    `  assumed: ${assumed[0]}`,
    `  assumed: ${leftOut[0]}`,
  ]);
  expect(analysisJson(analysis, [])).toMatchObject({ assumed: expect.arrayContaining(assumed), leftOut });
});
