import { expect, test } from 'vitest';
import type { Application, Place, Value } from './application.ts';
import { formatApplication } from './format-application.ts';

const at = (line: number): Place => ({ file: 'src/pay.ts', line });
const argument = (name: string): Value => ({ kind: 'argument', name });
const balance: Value = { kind: 'column', statement: 'account', column: 'balance', row: 'first' };

const application: Application = {
  dialect: 'postgres',
  schema: 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)',
  notUnderstood: [
    { kind: 'not-understood', place: { file: 'src/old.ts', line: 3 }, reason: 'the file does not parse' },
  ],
  units: [
    {
      name: 'POST /payments',
      place: at(10),
      steps: [
        {
          kind: 'transaction',
          name: 'pay',
          place: at(11),
          level: 'serializable',
          steps: [
            {
              kind: 'statement',
              sql: 'SELECT balance\n    FROM accounts WHERE id = $1',
              parameters: [argument('from')],
              place: at(12),
              result: 'account',
            },
            {
              kind: 'branch',
              condition: { kind: 'expression', operator: '<', operands: [balance, argument('amount')] },
              ifTrue: [{ kind: 'abort' }],
              ifFalse: [
                {
                  kind: 'loop',
                  name: 'part',
                  over: argument('parts'),
                  steps: [
                    {
                      kind: 'statement',
                      sql: 'UPDATE accounts SET balance = $1 WHERE id = $2',
                      parameters: [
                        { kind: 'expression', operator: 'round', operands: [balance] },
                        { kind: 'element', loop: 'part', field: 'id' },
                      ],
                      place: at(15),
                      result: null,
                    },
                  ],
                },
              ],
            },
          ],
        },
        {
          kind: 'statement',
          sql: 'INSERT INTO log VALUES ($1, $2)',
          parameters: [
            { kind: 'constant', value: "it's paid" },
            { kind: 'unknown', reason: 'the time' },
          ],
          place: at(20),
          result: null,
        },
        { kind: 'not-understood', place: at(21), reason: 'the SQL text is built in a loop' },
      ],
    },
  ],
};

test('an application reads as its code does', () => {
  expect(formatApplication(application, { places: false })).toBe(`not understood: the file does not parse
unit POST /payments
  transaction pay (serializable)
    account := SELECT balance FROM accounts WHERE id = $1  [from]
    if (account.balance < amount)
      abort
    else
      for part of parts
        UPDATE accounts SET balance = $1 WHERE id = $2  [round(account.balance), part.id]
  INSERT INTO log VALUES ($1, $2)  ['it''s paid', ? the time]
  not understood: the SQL text is built in a loop
`);
});

test('and says where everything is, where that is asked for', () => {
  const lines = formatApplication(application, { places: true }).split('\n');
  expect(lines[0]).toBe('not understood: the file does not parse at src/old.ts:3');
  expect(lines[1]).toBe('unit POST /payments at src/pay.ts:10');
  expect(lines).toContain('    account := SELECT balance FROM accounts WHERE id = $1  [from] at src/pay.ts:12');
});
