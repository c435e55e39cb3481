import { describe, expect, test } from 'vitest';
import { parseHistory, parseHistoryLines } from '../history/index.ts';
import { displayWidth } from './display-text.ts';
import { formatSessions } from './sessions.ts';

const cart = parseHistoryLines(`{"moirai":"history","version":1,"initial":{"cart":["i"]}}
{"session":"remover","operations":[["w","cart",[]]]}
{"session":"adder","operations":[["r","cart",["i"],null],["w","cart",["i","i"]]]}
{"session":"reader","operations":[["r","cart",[],"remover/0"]]}
{"session":"reader","operations":[["r","cart",["i","i"],"adder/0"]]}
`);

test('a column for each session, who read from whom, and which reads were older', () => {
  expect(formatSessions(cart, { older: new Set(['1 0']) })).toEqual([
    'remover              adder                          reader',
    '===================  =============================  ============================',
    'remover/0 committed',
    'write cart = []',
    '                     adder/0 committed -----------',
    '                     read cart = ["i"]',
    '                       from initial (older)',
    '                     write cart = ["i","i"]',
    '                                                    reader/0 committed ---------',
    '                                                    read cart = []',
    '                                                      from remover/0',
    '                                                    reader/1 committed ---------',
    '                                                    read cart = ["i","i"]',
    '                                                      from adder/0',
  ]);
});

test('in a wide terminal the source of a read stands beside it', () => {
  expect(formatSessions(cart, { width: 120 })).toContain(`${' '.repeat(21)}read cart = ["i"]  from initial`);
});

test('where columns would be too narrow, the transactions stand below each other', () => {
  expect(formatSessions(cart, { width: 40 })).toEqual([
    'remover/0 committed --------------------',
    'write cart = []',
    'adder/0 committed ----------------------',
    'read cart = ["i"]  from initial',
    'write cart = ["i","i"]',
    'reader/0 committed ---------------------',
    'read cart = []  from remover/0',
    'reader/1 committed ---------------------',
    'read cart = ["i","i"]  from adder/0',
  ]);
});

describe('the end of a transaction and its level are told', () => {
  test.each([
    ['committed', 'w x 1', '0/0 committed'],
    ['aborted', 'w x 1 !', '0/0 aborted'],
    ['of unknown fate', 'w x 1 ?', '0/0 unknown'],
  ])('%s', (_name, text, title) => expect(formatSessions(parseHistory(text))[0]).toContain(title));

  test('at its own level', () => {
    const mixed = parseHistoryLines('{"session":"a","operations":[],"level":"causal"}');
    expect(formatSessions(mixed)[0]).toContain('a/0 committed at causal');
  });
});

test('reads of the own write, of values that tell the writer, and of aborted writers are told apart', () => {
  const lines = formatSessions(parseHistory('w x 1, r x 1\nr x 1, r y _\nw z 1 !\nr z 1 !'), { width: 200 }).join('\n');
  expect(lines).toContain('read x = 1  from itself');
  expect(lines).toContain('read x = 1  from 0/0');
  expect(lines).toContain('read y = null  from initial');
  expect(lines).toContain('read z = 1  from 2/0');
});

test('only some transactions', () => {
  expect(formatSessions(cart, { only: new Set([0, 2]) }).join('\n')).not.toContain('adder/0 committed');
});

test('values are cut, and nothing is wider than the terminal, whatever the characters', () => {
  const wide = '日本語\u{1f600}'.repeat(20);
  const history = parseHistory(
    `w x ${JSON.stringify(wide)}, r x ${JSON.stringify(wide)}\nr y _\nr ${JSON.stringify(`${wide} key`)} _`,
  );
  for (const width of [60, 80, 100]) {
    const lines = formatSessions(history, { width });
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
  }
  expect(formatSessions(history, { width: 100 }).join('\n')).toContain('...');
});

test('a session name that moves the cursor is shown, not obeyed', () => {
  const history = parseHistoryLines('{"session":"a\\u001b[2J","operations":[]}\n{"session":"b","operations":[]}');
  expect(formatSessions(history).join('\n')).not.toContain('\u001b');
});

test('the styler is told what it colours, and the text stays the same', () => {
  const styles = new Set<string>();
  const style = (kind: string, text: string): string => {
    styles.add(kind);
    return `<${text}>`;
  };
  const coloured = formatSessions(cart, { older: new Set(['1 0']), style }).map((line) => line.replaceAll(/[<>]/g, ''));
  expect(coloured).toEqual(formatSessions(cart, { older: new Set(['1 0']) }));
  expect([...styles].toSorted()).toEqual(['faint', 'name', 'older']);
});
