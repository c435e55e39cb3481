import { describe, expect, test } from 'vitest';
import { type History, INITIAL } from './history.ts';
import { formatHistory, parseHistory } from './notation.ts';

describe('the notation', () => {
  test('has a session a line, transactions between bars, operations between commas', () => {
    expect(parseHistory('w x 1, w y 1 | r x 2\nr y 1, r x _ | w x 2 !')).toStrictEqual({
      sessions: ['0', '1'],
      transactions: [
        {
          id: '0/0',
          session: 0,
          status: 'committed',
          operations: [
            { kind: 'write', key: 'x', value: 1 },
            { kind: 'write', key: 'y', value: 1 },
          ],
        },
        { id: '0/1', session: 0, status: 'committed', operations: [{ kind: 'read', key: 'x', value: 2 }] },
        {
          id: '1/0',
          session: 1,
          status: 'committed',
          operations: [
            { kind: 'read', key: 'y', value: 1 },
            { kind: 'read', key: 'x', value: null, from: INITIAL },
          ],
        },
        { id: '1/1', session: 1, status: 'aborted', operations: [{ kind: 'write', key: 'x', value: 2 }] },
      ],
      initial: new Map(),
    });
  });

  test.each([
    ['committed', 'w x 1'],
    ['aborted', 'w x 1!'],
    ['aborted', 'w x 1 !'],
    ['aborted', 'w x "a"!'],
    ['unknown', 'w x 1?'],
    ['unknown', 'w x [1] ?'],
  ])('%s is the status of: %s', (status, text) => expect(parseHistory(text).transactions[0]?.status).toBe(status));

  test.each<[string, unknown]>([
    ['null', null],
    ['true', true],
    ['-1.5e3', -1500],
    ['"a, b | c ! ? \\" ["', 'a, b | c ! ? " ['],
    ['["i",{"a":1,"b":"]}"}]', ['i', { a: 1, b: ']}' }]],
    ['{"a" : [ 1 , 2 ] , "b":{}}', { a: [1, 2], b: {} }],
    ['"\\u00e9\\n"', 'é\n'],
    ['9007199254740991', 9007199254740991],
  ])('carries any JSON value: %s', (text, value) => {
    expect(parseHistory(`w cart ${text}, w y 1 | r y 1`).transactions[0]?.operations).toStrictEqual([
      { kind: 'write', key: 'cart', value },
      { kind: 'write', key: 'y', value: 1 },
    ]);
  });

  test.each([
    ['accounts/7', 'accounts/7'],
    ['[', '['],
    ['_', '_'],
    ['<-', '<-'],
    ['größe', 'größe'],
    ['"a key, with | all ! of ?"', 'a key, with | all ! of ?'],
    ['""', ''],
    ['"\\u0000"', '\u0000'],
  ])('takes a key as a word or as a JSON string: %s', (text, key) => {
    expect(parseHistory(`w ${text} 1`).transactions[0]?.operations[0]?.key).toBe(key);
  });

  test('a read names its writer, which may come later', () => {
    const { transactions } = parseHistory('r x 1 <- 1/1, r x 1 <- 1/0, r x null <- _ \n w x 1 | w x 1');
    expect(transactions[0]?.operations).toStrictEqual([
      { kind: 'read', key: 'x', value: 1, from: 2 },
      { kind: 'read', key: 'x', value: 1, from: 1 },
      { kind: 'read', key: 'x', value: null, from: INITIAL },
    ]);
  });

  test('_ is the initial value', () => {
    const { transactions, initial } = parseHistory('initial {"x":[0],"y":null}\nr x _, r y _, r z _');
    expect(initial).toEqual(
      new Map<string, unknown>([
        ['x', [0]],
        ['y', null],
      ]),
    );
    expect(transactions[0]?.operations.map(({ value }) => value)).toEqual([[0], null, null]);
  });

  test.each([
    ['-', 1],
    ['|', 2],
    ['- | -', 2],
    ['w x 1 | | r x 1', 3],
    ['w x 1 |', 2],
    ['! | ?', 2],
    ['- !', 1],
  ])('has transactions without operations: %s', (text, count) => {
    const { transactions } = parseHistory(text);
    expect(transactions).toHaveLength(count);
    expect(transactions.some(({ operations }) => operations.length === 0)).toBe(true);
  });

  test('skips blank lines, comments, a byte order mark and carriage returns', () => {
    const text = '\uFEFF# lost update\r\n\r\ninitial {"x":0}\r\n  # first\n\t\nr x 0, w x 1\r\n  r x 0, w x 2  \n';
    expect(formatHistory(parseHistory(text))).toBe('initial {"x":0}\nr x 0, w x 1\nr x 0, w x 2');
  });

  test('of nothing is the empty history', () => {
    expect(parseHistory(' \n# nothing\n')).toEqual({ sessions: [], transactions: [], initial: new Map() });
    expect(formatHistory(parseHistory(''))).toBe('');
  });
});

describe('formatHistory', () => {
  test.each([
    ['spaces', '  w x   1,w y 2|r x 1  ', 'w x 1, w y 2 | r x 1'],
    ['marks', 'w x 1! | w x 2?', 'w x 1 ! | w x 2 ?'],
    ['values', 'w x { "b" : 1e2 , "a" : [ ] }', 'w x {"b":100,"a":[]}'],
    ['keys', 'w "x" 1, w "x y" 1', 'w x 1, w "x y" 1'],
    ['the initial value', 'initial {"x":1} \n r x 1 <- _, r y null <- _', 'initial {"x":1}\nr x _, r y _'],
    ['initial values', 'initial { "b" : 1, "a" : 2 } \n -', 'initial {"a":2,"b":1}\n-'],
    ['transactions without operations', '| ! | w x 1 |', '- | - ! | w x 1 | -'],
  ])('writes %s in one way', (_name, text, canonical) => {
    expect(formatHistory(parseHistory(text))).toBe(canonical);
    expect(formatHistory(parseHistory(canonical))).toBe(canonical);
  });

  test('drops names, IDs, times, levels, empty sessions and the order between sessions', () => {
    const history: History = {
      sessions: ['alice', 'idle', 'bob'],
      transactions: [
        {
          id: 't1',
          session: 2,
          status: 'committed',
          operations: [{ kind: 'write', key: 'x', value: 1 }],
          start: 1,
          end: 2,
        },
        {
          id: 't2',
          session: 0,
          status: 'committed',
          operations: [{ kind: 'read', key: 'x', value: 1, from: 0 }],
          level: 'causal',
        },
      ],
      initial: new Map(),
    };
    expect(formatHistory(history)).toBe('r x 1 <- 1/0\nw x 1');
  });

  test('shows a history that no parser would accept, for a message about it', () => {
    const operations = [{ kind: 'read', key: 'x', value: 1, from: INITIAL }] as const;
    const transactions = [{ id: '0/0', session: 0, status: 'committed', operations }] as const;
    expect(formatHistory({ sessions: ['0'], transactions, initial: new Map() })).toBe('r x 1 <- _');
  });
});

describe('parseHistory refuses', () => {
  test.each([
    ['history/syntax', 1, 1, 'x y 1', '"x" stands where r KEY VALUE or w KEY VALUE should'],
    ['history/syntax', 1, 1, 'read x 1', '"read" stands where'],
    ['history/syntax', 2, 7, 'w x 1\nr x 1,', 'the line ends where r KEY VALUE or w KEY VALUE should'],
    ['history/syntax', 1, 8, 'w x 1, | r x 1', '"|" stands where r KEY VALUE'],
    ['history/syntax', 1, 1, ', w x 1', '"," stands where r KEY VALUE'],
    ['history/syntax', 1, 2, 'w', 'the line ends where a key should'],
    ['history/syntax', 1, 3, 'w , w x 1', '"," stands where a key should'],
    ['history/syntax', 1, 4, 'w a"b" 1', '"\\"" stands where a space should'],
    ['history/syntax', 1, 6, 'w "a"1', '"1" stands where a space after the key should'],
    ['history/syntax', 1, 4, 'r x', 'the line ends where a value should'],
    ['history/syntax', 1, 5, 'r x | w x 1', '"|" stands where a value should'],
    ['history/syntax', 1, 5, 'w x abc', 'abc is not JSON: a text stands in quotes, "abc"'],
    ['history/syntax', 1, 5, 'w x 01', '01 is not JSON'],
    ['history/syntax', 1, 5, 'w x _', '_ is not JSON'],
    ['history/syntax', 1, 5, 'r x _y', '_y is not JSON'],
    ['history/syntax', 1, 7, 'w x 1 2', '"2" stands where , | ! ? or the end of the line should'],
    ['history/syntax', 1, 8, 'w x "a"b', '"b" stands where , | ! ? or'],
    ['history/syntax', 1, 9, 'w x 1 ! , w x 2', '"," stands where | or the end of the line should'],
    ['history/syntax', 1, 8, 'w x 1 !?', '"?" stands where | or the end'],
    ['history/syntax', 1, 3, '- w x 1', '"w" stands where | or the end'],
    ['history/syntax', 1, 7, 'w x 1 <- 0/0', '"<-" stands where , | ! ? or'],
    ['history/syntax', 1, 7, 'r x _ <- _', '"<-" stands where , | ! ? or'],
    ['history/syntax', 2, 9, 'w x 1\nr x 1 <-', 'the line ends where the writer, session/index or _ should'],
    ['history/syntax', 1, 10, 'w x {"a":b}', '"b" stands where a value should'],
    ['history/syntax', 1, 8, 'w x [1 2]', '"2" stands where , or ] should'],
    ['history/syntax', 1, 6, 'w x "\\q"', 'not an escape that JSON knows'],
    ['history/truncated', 1, 10, 'w x ["a",', 'the line ends where a value should stand'],
    ['history/truncated', 1, 13, 'w x "a | r x', 'the line ends where the closing quote should stand'],
    ['history/truncated', 1, 1, 'transactions 2\nw x 1\n', 'transactions announced here: 2, found: 1'],
    ['history/header', 1, 1, 'transactions 0\nw x 1\n', 'more was added'],
    ['history/truncated', 2, 6, 'transactions 1\nw x 1', 'the text ends within a line'],
    ['history/syntax', 2, 14, '# \ntransactions x\nw x 1\n', 'x is no number of transactions'],
    ['history/syntax', 1, 16, 'transactions 1 w x 1\n', '"w" stands where the end of the line should'],
    ['history/syntax', 2, 1, 'w x 1\ntransactions 1\n', '"transactions" stands where r KEY VALUE'],
    ['history/syntax', 1, 8, 'initial', 'the line ends where a JSON object of initial values should'],
    ['history/syntax', 1, 9, 'initial [1]\nw x 1', '"[1]" stands where a JSON object'],
    ['history/syntax', 1, 17, 'initial {"x":1} w x 1', '"w" stands where the end of the line should'],
    ['history/syntax', 2, 1, 'w x 1\ninitial {"x":0}', '"initial" stands where r KEY VALUE'],
    ['history/value', 1, 5, 'w x -0', '-0 would change when read as a number'],
    ['history/value', 1, 5, 'w x 1e999', '1e999 would change'],
    [
      'history/value',
      1,
      9,
      'w x [1, 9007199254740993]',
      '9007199254740993 would change when read as a number: write it as a string',
    ],
    ['history/value', 1, 15, 'initial {"x": -0}', '-0 would change'],
    ['history/value', 1, 505, `w x ${'['.repeat(501)}${']'.repeat(501)}`, 'nested deeper than 500 levels'],
    ['history/value', 1, 514, `w x ${'['.repeat(100_000)}`, 'nested deeper than 500 levels'],
    ['history/unknown-writer', 2, 10, 'w x 1\nr x 1 <- 0/1', 'no transaction has the ID "0/1"'],
  ])('%s at %i:%i %j', (code, line, column, text, message) => {
    const refusal = {
      name: 'InputError',
      code,
      place: { line, column },
      message: expect.stringContaining(message) as string,
    };
    expect(() => parseHistory(text)).toThrow(expect.objectContaining(refusal));
  });
});
