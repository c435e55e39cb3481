import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as states from '../src/states/index.ts';
import { observe } from '../src/states/small-observed.test-support.ts';
import { filled, type Parts } from './support/level-docs.ts';

const { commitTest, commitTestLevels, commitTestTable } = states;

/** MOIRAI_UPDATE_DOCS=1 writes the document. */
const isUpdate = process.env['MOIRAI_UPDATE_DOCS'] === '1';
const file = new URL('../docs/commit-tests.md', import.meta.url);

/** A word of the paper, its TLA+, and the function that it is here. */
const functions: readonly (readonly [string, string, string, keyof typeof states])[] = [
  ['S_e, s_p', '`executionStates`, `parentState`', 'the states of an execution, by position', 'executionOf'],
  ['', '`executions`', 'every order of the transactions', 'executions'],
  ['', '`effects`', 'the state after a transaction', 'effects'],
  ['RS_e(o)', '`ReadStates`', 'the states that an operation may have read from', 'readStates'],
  ['PREREAD_e(T)', '`Preread`', 'every operation has one', 'preread'],
  ['COMPLETE_e,T(s)', '`Complete`', 'every operation may have read from s', 'complete'],
  ['NO-CONF_T(s)', '`NoConf`', 'no transaction wrote a key of T between s and its parent', 'noConf'],
  ['CT_I(T, e)', '`CT_SER`, `CT_SI`, ...', 'the commit test of each level', 'commitTests'],
  ['', '`satisfyIsolationLevel`', 'some execution passes, with the evidence', 'commitTest'],
  ['', '`Serializability`, ... of one execution', 'one named execution, judged', 'commitTestOf'],
];

interface Difference {
  readonly what: string;
  readonly initial: Readonly<Record<string, number>>;
  readonly transactions: Readonly<Record<string, string>>;
  readonly times?: Readonly<Record<string, readonly [number, number]>>;
  readonly level: states.CommitTestLevel;
}

/** What the TLA+ calls satisfied, for a reason that is not the level's. */
const differences: readonly Difference[] = [
  {
    what: 'Transactions are a set of operation sequences, so two equal ones are one. Here each has its own position.',
    initial: { x: 0 },
    transactions: { t1: 'r x 0, w x 1', t2: 'r x 0, w x 1' },
    level: 'serializable',
  },
  {
    what: 'Effects fold from the right, so the first write to a key wins. Here the last does.',
    initial: { x: 0 },
    transactions: { t1: 'w x 1, w x 2', t2: 'r x 1' },
    level: 'preread',
  },
  {
    what: 'A read after an own write may see any state that has its value. Here it must see the own write.',
    initial: { x: 0 },
    transactions: { t: 'w x 1, r x 0' },
    level: 'serializable',
  },
  {
    what: 'It may see any earlier own write. Here it must see the last one.',
    initial: { x: 0 },
    transactions: { t: 'w x 1, w x 2, r x 1' },
    level: 'serializable',
  },
  {
    what: 'Real time compares parents, found by value: a transaction that writes nothing slips before others. Here it compares results, by position.',
    initial: { x: 0 },
    transactions: { w: 'w x 1', r: 'r x 0' },
    times: { w: [1, 2], r: [3, 4] },
    level: 'strict-serializable',
  },
  {
    what: 'NO-CONF compares values: a write that another one undid is no conflict. Here it looks at who wrote.',
    initial: { x: 0, y: 0 },
    transactions: { a: 'r x 0, w x 1, w y 1', b: 'r x 1, w x 0', t: 'r y 0, w x 2' },
    level: 'snapshot-isolation',
  },
];

const parts: Parts = {
  tests: table(
    ['level', 'name in the literature', 'T passes in e when', 'TLA⁺'],
    commitTestLevels.map((level) => {
      const { title, test: when, tla } = commitTestTable[level];
      return [`\`${level}\``, title, when, tla === undefined ? '' : `\`${tla}\``];
    }),
  ),
  functions: table(
    ['in the paper', 'in TLA⁺', 'what it is', 'here'],
    functions.map(([symbol, tla, what, name]) => [symbol, tla, what, `\`${name}\``]),
  ),
  differences: table(
    ['in the TLA⁺', 'observed', 'level', 'TLA⁺ says', 'here'],
    differences.map((difference) => [
      difference.what,
      observedText(difference),
      `\`${difference.level}\``,
      'satisfied',
      verdictOf(difference),
    ]),
  ),
};

test('docs/commit-tests.md says what the tables say; else run: MOIRAI_UPDATE_DOCS=1 npx vitest run test/states-docs.test.ts', () => {
  const text = readFileSync(file, 'utf8');
  const expected = filled(text, parts);
  if (isUpdate) writeFileSync(file, expected);
  else expect(text).toBe(expected);
  expect([...text.matchAll(/<!-- part (\S+) -->/g)].map(([, name]) => name)).toEqual(Object.keys(parts));
});

test('every function of the table is exported', () => {
  expect(Object.keys(states)).toEqual(expect.arrayContaining(functions.map(([, , , name]) => name)));
});

test('every difference is a violation here', () => {
  expect(differences.map(verdictOf)).toEqual(differences.map(() => 'violated'));
});

function verdictOf({ initial, transactions, times, level }: Difference): string {
  return commitTest(observe(initial, transactions, times), level).kind;
}

function observedText({ initial, transactions, times }: Difference): string {
  const start = Object.entries(initial).map(([key, value]) => `${key} = ${value}`);
  const each = Object.entries(transactions).map(([id, text]) => {
    const time = times?.[id];
    return `${id}: \`${text}\`${time === undefined ? '' : ` from ${time[0]} to ${time[1]}`}`;
  });
  return `${start.join(', ')}; ${each.join('; ')}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map((cells) => line(cells))].join('\n');
}
