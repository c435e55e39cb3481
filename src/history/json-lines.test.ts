import { describe, expect, test } from 'vitest';
import { type History, INITIAL } from './history.ts';
import { formatHistoryLines, parseHistoryLines } from './json-lines.ts';
import { JsonLinesScanner } from './json-lines-scanner.ts';
import { relationsOf } from './relations.ts';

const header = '{"moirai":"history","version":1}';
const counted = (transactions: number): string => `{"moirai":"history","version":1,"transactions":${transactions}}`;

describe('JSON Lines', () => {
  test('have a transaction a line', () => {
    const text = [
      '{"moirai":"history","version":1,"initial":{"x":0}}',
      '{"session":"a","operations":[["r","x",0],["w","x",1]],"status":"committed","start":10,"end":42}',
      '{"session":"b","operations":[],"status":"unknown","id":"t7","level":"causal"}',
    ].join('\n');
    expect(parseHistoryLines(text)).toStrictEqual({
      sessions: ['a', 'b'],
      transactions: [
        {
          id: 'a/0',
          session: 0,
          status: 'committed',
          operations: [
            { kind: 'read', key: 'x', value: 0 },
            { kind: 'write', key: 'x', value: 1 },
          ],
          start: 10,
          end: 42,
        },
        { id: 't7', session: 1, status: 'unknown', operations: [], level: 'causal' },
      ],
      initial: new Map([['x', 0]]),
    });
  });

  test('need no header, and default to committed and session/index', () => {
    const { transactions } = parseHistoryLines(lines('["w","x",1]', '["r","x",1]'));
    expect(transactions.map(({ id, status }) => [id, status])).toEqual([
      ['a/0', 'committed'],
      ['a/1', 'committed'],
    ]);
  });

  test('keep the order of the file, and with it of each session', () => {
    const sessions = ['b', 'a', 'b', 'a/0'].map((session) => JSON.stringify({ session, operations: [] }));
    const history = parseHistoryLines(sessions.join('\n'));
    expect(history.sessions).toEqual(['b', 'a', 'a/0']);
    expect(history.transactions.map(({ id, session }) => [id, session])).toEqual([
      ['b/0', 0],
      ['a/0', 1],
      ['b/1', 0],
      ['a/0/0', 2],
    ]);
  });

  test('name the writer of a read before or after its line, or the initial state', () => {
    const { transactions } = parseHistoryLines(
      lines('["r","x",1,"a/2"],["r","x",1,"a/1"],["r","x",null,null]', '["w","x",1]', '["w","x",1]'),
    );
    expect(transactions[0]?.operations.map((operation) => 'from' in operation && operation.from)).toEqual([
      2,
      1,
      INITIAL,
    ]);
  });

  test('read null as the initial value where that is null', () => {
    expect(parseHistoryLines(lines('["r","x",null]')).transactions[0]?.operations[0]).toEqual({
      kind: 'read',
      key: 'x',
      value: null,
    });
    const withInitial = `{"moirai":"history","version":1,"initial":{"x":0}}\n${lines('["r","x",null]')}`;
    expect(relationsOf(parseHistoryLines(withInitial)).phenomena).toMatchObject([{ kind: 'thin-air-read' }]);
  });

  test.each([
    ['{"session":"a","operations":[],"Status":"aborted"}', '"Status" is no field of this line', 41],
    ['{"session":"a","operations":[],"aborted":true}', '"aborted" is no field of this line', 42],
    ['{"sesion":"a","operations":[]}', '"sesion" is no field of this line', 11],
    ['{"session":"a","operations":[],"status":"aborted","status":"committed"}', '"status" comes twice', 51],
    ['{"session":"a","operations":[],"status":"aborted","st\\u0061tus":"committed"}', '"status" comes twice', 51],
    ['{"session":"a","operations":[["w","x",{"n":1,"n":2}]]}', '"n" comes twice', 46],
    ['{"moirai":"history","version":1,"intial":{"x":0}}', '"intial" is no field of this line', 42],
    ['{"moirai":"history","version":1,"initial":{"x":0,"x":1}}', '"x" comes twice', 50],
  ])('are refused with a field that they do not have or have twice: %s', (line, message, column) => {
    const place = expect.objectContaining({ line: 1, column }) as unknown;
    const error = { code: 'history/field', message: expect.stringContaining(message) as unknown, place };
    expect(outcomeOf(() => parseHistoryLines(line))).toMatchObject(error);
    const scanned = (): unknown => {
      const scanner = new JsonLinesScanner();
      scanner.push(new TextEncoder().encode(`${line}\n`));
      return scanner.finish();
    };
    expect(outcomeOf(scanned)).toMatchObject(error);
  });

  test('ignore blank lines, a byte order mark and carriage returns', () => {
    const text = `\uFEFF{"moirai":"history","version":1}\r\n\r\n  {"session":"a","operations":[]}  \r\n`;
    expect(formatHistoryLines(parseHistoryLines(text))).toBe(`${counted(1)}\n{"session":"a","operations":[]}\n`);
  });

  test('of nothing are the empty history', () => {
    const empty = { sessions: [], transactions: [], initial: new Map() };
    expect(parseHistoryLines('')).toEqual(empty);
    expect(parseHistoryLines(`\n${header}\n`)).toEqual(empty);
    expect(formatHistoryLines(empty)).toBe(`${counted(0)}\n`);
  });

  test('keep keys, sessions and members that are called __proto__', () => {
    const text = [
      '{"moirai":"history","version":1,"transactions":1,"initial":{"__proto__":{"__proto__":1}}}',
      '{"session":"__proto__","operations":[["r","__proto__",{"__proto__":1}],["w","constructor",{"toString":0}]]}',
      '',
    ].join('\n');
    expect(formatHistoryLines(parseHistoryLines(text))).toBe(text);
  });

  test('take integers that are exact, however long', () => {
    const long = '["w","x",1152921504606847000],["w","x",-9007199254740991],["w","x",0.1234567890123456]';
    expect(formatHistoryLines(parseHistoryLines(lines(long)))).toBe(`${counted(1)}\n${lines(long)}\n`);
  });
});

describe('formatHistoryLines', () => {
  test('writes what is not the default', () => {
    const history: History = {
      sessions: ['b', 'a'],
      transactions: [
        { id: 'a/0', session: 1, status: 'aborted', operations: [{ kind: 'write', key: 'x', value: 1 }], end: -1 },
        {
          id: 't',
          session: 0,
          status: 'committed',
          operations: [{ kind: 'read', key: 'y', value: 0, from: INITIAL }],
          start: 0,
        },
        {
          id: 'b/1',
          session: 0,
          status: 'unknown',
          operations: [{ kind: 'read', key: 'x', value: 1, from: 0 }],
          level: 'prefix',
        },
      ],
      initial: new Map([
        ['z', 1],
        ['y', 0],
      ]),
    };
    const text = [
      '{"moirai":"history","version":1,"transactions":3,"initial":{"y":0,"z":1},"sessions":["b","a"]}',
      '{"session":"a","operations":[["w","x",1]],"status":"aborted","end":-1}',
      '{"session":"b","operations":[["r","y",0,null]],"start":0,"id":"t"}',
      '{"session":"b","operations":[["r","x",1,"a/0"]],"status":"unknown","level":"prefix"}',
      '',
    ].join('\n');
    expect(formatHistoryLines(history)).toBe(text);
    expect(parseHistoryLines(text)).toStrictEqual(history);
  });

  test('names sessions without transactions', () => {
    const idle = { sessions: ['a', 'idle'], transactions: [], initial: new Map() };
    expect(formatHistoryLines(idle)).toBe(
      '{"moirai":"history","version":1,"transactions":0,"sessions":["a","idle"]}\n',
    );
    expect(parseHistoryLines(formatHistoryLines(idle))).toEqual(idle);
  });
});

describe('parseHistoryLines refuses', () => {
  const a = (fields: string): string => `{"session":"a","operations":[],${fields}}`;
  const op = (operations: string): string => `{"session":"a","operations":[${operations}]}`; // operations begin at column 30
  test.each([
    [
      'history/truncated',
      2,
      33,
      `${header}\n{"session":"a","operations":[["r`,
      'the line ends where the closing quote should stand',
    ],
    ['history/truncated', 1, 16, '{"session":"a",', 'the line ends where a name in double quotes should stand'],
    ['history/truncated', 1, 32, '{"session":"a","operations":nul', 'the line ends where a value should stand'],
    ['history/syntax', 1, 2, "{'session':1}", `"'" stands where a name in double quotes should`],
    ['history/syntax', 1, 12, '{"session" "a"}', '"\\"" stands where : should'],
    ['history/syntax', 1, 14, op('').replace('"a"', '"a\t"'), 'a control character in a string'],
    ['history/syntax', 1, 33, `${op('')} x`, '"x" stands where the end of the line should'],
    ['history/syntax', 2, 1, `${op('')}\nw x 1`, '"w" stands where a value should'],
    ['history/shape', 1, 2, ' [1]', 'a line should be a JSON object'],
    ['history/shape', 1, 1, '7', 'a line should be a JSON object'],
    ['history/shape', 1, 1, '{"operations":[]}', 'the line needs session, a string'],
    ['history/shape', 1, 12, '{"session":7,"operations":[]}', 'session should be a string, not 7'],
    ['history/shape', 1, 1, '{"session":"a"}', 'the line needs operations, an array'],
    ['history/shape', 1, 29, '{"session":"a","operations":{}}', 'operations should be an array'],
    ['history/status', 1, 41, a('"status":"done"'), 'status should be "committed", "aborted" or "unknown", not "done"'],
    ['history/shape', 1, 37, a('"id":1'), 'id should be a string, not 1'],
    ['history/shape', 1, 40, a('"level":null'), 'level should be a string, not null'],
    ['history/times', 1, 40, a('"start":1.5'), 'start should be an integer'],
    ['history/times', 1, 38, a('"end":"now"'), 'end should be an integer'],
    ['history/times', 1, 40, a('"start":1700000000000000000'), 'start should be an integer between'],
    ['history/times', 1, 48, a('"start":9,"end":8'), 'the transaction ends at 8, before it starts at 9'],
    ['history/shape', 1, 30, op('7'), 'an operation should be ["r", KEY, VALUE]'],
    ['history/operation', 1, 31, op('["read","x",1]'), '"read" is no operation: it is ["r", KEY, VALUE]'],
    ['history/operation', 1, 30, op('[]'), 'nothing is no operation'],
    ['history/append', 1, 42, op('["w","x",1],["append","x",3]'), 'appends to lists are not supported: registers only'],
    ['history/shape', 1, 30, op('["r","x"]'), 'an operation should be'],
    ['history/shape', 1, 30, op('["r","x",1,"a/0","n = 1",2]'), 'an operation should be'],
    ['history/shape', 1, 47, op('["r","x",1,"a/0",2]'), 'a condition should be a text'],
    ['history/shape', 1, 30, op('["w","x",1,"a/0"]'), 'an operation should be'],
    ['history/shape', 1, 35, op('["r",1,1]'), 'a key should be a string'],
    ['history/shape', 1, 41, op('["r","x",1,0]'), 'a writer should be the ID of a transaction, or null'],
    ['history/value', 1, 39, op('["w","x",-0]'), '-0 would change when read as a number'],
    ['history/value', 1, 40, op('["w","x",[1e999]]'), '1e999 would change'],
    [
      'history/value',
      1,
      44,
      op('["w","x",{"a":9007199254740993}]'),
      '9007199254740993 would change when read as a number',
    ],
    ['history/value', 1, 539, op(`["w","x",${'['.repeat(501)}${']'.repeat(501)}]`), 'nested deeper than 500 levels'],
    [
      'history/value',
      1,
      545,
      op(`["w","x",${'['.repeat(99_999)}${']'.repeat(99_999)}]`),
      'nested deeper than 500 levels',
    ],
    ['history/value', 1, 48, '{"moirai":"history","version":1,"initial":{"x":-0}}', '-0 would change'],
    ['history/header', 1, 11, '{"moirai":"trace"}', 'this is not a history: "trace"'],
    [
      'history/header',
      1,
      48,
      '{"moirai":"history","version":1,"transactions":-1}',
      'transactions should be the number of lines that follow',
    ],
    [
      'history/header',
      1,
      48,
      `${counted(1)}\n${op('')}\n${op('')}`,
      'more was added: transactions announced here: 1, found: 2',
    ],
    [
      'history/truncated',
      1,
      48,
      `${counted(3)}\n${op('')}\n${op('["r","x",1,"b/0"]')}\n`,
      'it was cut: transactions announced here: 3, found: 2',
    ],
    ['history/version', 1, 31, '{"moirai":"history","version":2}', 'the header should give version 1, not 2'],
    ['history/version', 1, 1, '{"moirai":"history"}', 'the header should give version 1'],
    [
      'history/header',
      1,
      43,
      '{"moirai":"history","version":1,"initial":[]}',
      'the initial values should be a JSON object',
    ],
    [
      'history/header',
      1,
      44,
      '{"moirai":"history","version":1,"sessions":["a","a"]}',
      'should be a JSON array of different names',
    ],
    ['history/header', 3, 1, `${header}\n${op('')}\n${header}`, 'a header stands on the first line only'],
    ['history/duplicate-id', 3, 37, `${op('')}\n\n${a('"id":"a/0"')}`, 'two transactions have the ID "a/0"'],
    ['history/duplicate-id', 2, 1, `${a('"id":"a/1"')}\n${op('')}`, 'two transactions have the ID "a/1"'],
    ['history/unknown-writer', 2, 41, `${op('')}\n${op('["r","x",1,"a/7"]')}`, 'no transaction has the ID "a/7"'],
  ])('%s at %i:%i', (code, line, column, text, message) => {
    const refusal = {
      name: 'InputError',
      code,
      place: { line, column },
      message: expect.stringContaining(message) as string,
    };
    expect(() => parseHistoryLines(text)).toThrow(expect.objectContaining(refusal));
  });

  test('every line that was cut short, as truncated', () => {
    const line = '{"session":"a","operations":[["w","\\u00e9\\n",[1.5e+3,-2,true,null,{"b":"c"}]]],"status":"unknown"}';
    for (let length = 1; length < line.length; length += 1) {
      const refusal = { code: 'history/truncated', place: { line: 2, column: length + 1 } };
      const text = `${header}\n${line.slice(0, length)}`;
      expect(() => parseHistoryLines(text)).toThrow(expect.objectContaining(refusal));
    }
  });
});

function lines(...operations: string[]): string {
  return operations.map((text) => `{"session":"a","operations":[${text}]}`).join('\n');
}

function outcomeOf(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    return error;
  }
}
