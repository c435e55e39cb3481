/**
 * The notation: histories as papers write them, for tests, documents and terminals.
 *
 *     transactions 4                optional first line, of files: how many follow; the last line ends with a line break
 *     initial {"y":0}               optional: initial values
 *     w x 1, w y 1 | r x 2          a session a line, transactions between |, operations between ,
 *     r y 1, r x _ | w x 2 !        _ : the initial value; ! aborted, ? of unknown fate
 *     r x 1 <- 0/0, r y 0 <- _ | -  a read may name its writer, session/index, or _ ; - is a transaction without operations
 *
 * Values are JSON; a key is a word or, where it holds spaces or one of , | ! ? ", a JSON string. Blank lines and lines that
 * start with # are skipped, but for a last `# crc32 cbf43926` (`end-sum.ts`). Nothing between two bars, or before the first or after the last, is a transaction without
 * operations too, so `|` are two; alone on a line only - can say it.
 *
 * Sessions are named 0, 1, ... in the order of their lines. What the notation does not carry: names of sessions, other IDs,
 * times, levels, sessions without transactions, and an order of transactions between sessions. JSON Lines carries all of it.
 */
import { assert, InputError, type Place } from '../base/index.ts';
import { checkCount } from './transaction-count.ts';
import { type DraftOperation, type DraftTransaction, historyOf } from './draft.ts';
import { checkSum } from './end-sum.ts';
import { defaultId, type History, INITIAL, type Operation, type Status } from './history.ts';
import { checkExact, failAt, type Line, linesOf, placeIn, scanJson } from './json-text.ts';
import { type Key, sameValue, type Value } from './value.ts';

/**
 * @throws InputError `history/syntax`, `history/truncated`, `history/value`, `history/unknown-writer`;
 *   always with line and column
 */
export function parseHistory(text: string): History {
  checkSum('notation', text);
  const all = linesOf(text).filter((line) => /^\s*[^\s#]/.test(line.text));
  const counted = all[0] !== undefined && isCounted(all[0].text) ? all[0] : null;
  const lines = counted === null ? all : all.slice(1);
  const hasInitial = lines[0]?.text.trimStart().startsWith('initial') ?? false;
  const initial = hasInitial ? parseInitial(lines[0] as Line) : new Map<Key, Value>();
  const sessions = lines.slice(hasInitial ? 1 : 0);
  if (counted !== null && !text.endsWith('\n')) throw cutAt(all.at(-1) ?? counted);
  const transactions = sessions.flatMap((line, session) => parseSession(new Cursor(line), session, initial));
  if (counted !== null) checkCount(transactions.length, parseCount(counted), placeIn(counted, 0));
  const placeOf = (t: number, o: number, at: 'at' | 'writerAt'): Place => {
    const transaction = transactions[t];
    const line = sessions[transaction?.session ?? -1];
    assert(line !== undefined, `transaction ${t} stands on no line`);
    return placeIn(line, transaction?.operations[o]?.[at] ?? 0);
  };
  return historyOf(
    { sessions: sessions.map((_line, session) => String(session)), transactions, initial },
    {
      ofId: (t) => placeOf(t, 0, 'at'),
      ofWriter: (t, o) => placeOf(t, o, 'writerAt'),
    },
  );
}

/** The first line of a file in the notation. */
export function formatCount(transactionCount: number): string {
  return `transactions ${transactionCount}`;
}

/** Does a text in the notation say how many transactions are in it? */
export function isCounted(text: string): boolean {
  return /^(?:\uFEFF?\s*(?:#.*)?\n)*\uFEFF?\s*transactions(?:\s|$)/.test(text);
}

/** The lines of a text in the notation that end with a line break, without their number: what is left where its end is missing. */
export function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf('\n') + 1).replace(/^([^\S\n]*)transactions\b.*$/m, '$1');
}

function parseCount(line: Line): number {
  const cursor = new Cursor(line);
  cursor.takeWord('transactions');
  cursor.next();
  const { at } = cursor;
  const word = cursor.takeAnyWord('the number of transactions');
  if (!/^\d{1,15}$/.test(word)) failAt(line, at, 'history/syntax', `${word} is no number of transactions`);
  if (cursor.next() !== '') cursor.fail('the end of the line');
  return Number(word);
}

function cutAt(line: Line): InputError {
  const message = 'the text ends within a line, where its first line says that it has whole ones';
  return new InputError('history/truncated', message, placeIn(line, line.text.length));
}

/** The history in the notation, without a final line break. What the notation does not carry is dropped. */
export function formatHistory(history: History): string {
  const sessions = history.sessions.map((): number[] => []);
  history.transactions.forEach(({ session }, t) => sessions[session]?.push(t));
  const lines = sessions.filter((transactions) => transactions.length > 0);
  const ids = new Map(lines.flatMap((line, s) => line.map((t, index) => [t, defaultId(String(s), index)] as const)));
  const formatted = lines.map((line) => line.map((t) => formatTransaction(history, ids, t)).join(' | '));
  return [...formatInitial(history.initial), ...formatted].join('\n');
}

interface PlacedOperation extends DraftOperation {
  readonly at: number;
  readonly writerAt: number;
}

interface PlacedTransaction extends DraftTransaction {
  readonly operations: readonly PlacedOperation[];
}

function parseInitial(line: Line): Map<Key, Value> {
  const cursor = new Cursor(line);
  cursor.take('initial');
  if (cursor.next() !== '{') cursor.fail('a JSON object of initial values');
  const values = cursor.takeJson() as Record<Key, Value>;
  if (cursor.next() !== '') cursor.fail('the end of the line');
  return new Map(Object.entries(values));
}

function parseSession(cursor: Cursor, session: number, initial: ReadonlyMap<Key, Value>): PlacedTransaction[] {
  const transactions: PlacedTransaction[] = [];
  do {
    const id = defaultId(String(session), transactions.length);
    const operations = parseOperations(cursor, initial);
    const status: Status = cursor.take('!') ? 'aborted' : cursor.take('?') ? 'unknown' : 'committed';
    transactions.push({ id, session, status, operations });
    if (cursor.next() !== '' && cursor.next() !== '|') {
      cursor.fail(
        status === 'committed' && operations.length > 0 ? ', | ! ? or the end of the line' : '| or the end of the line',
      );
    }
  } while (cursor.take('|'));
  return transactions;
}

function parseOperations(cursor: Cursor, initial: ReadonlyMap<Key, Value>): PlacedOperation[] {
  const operations: PlacedOperation[] = [];
  if (['', '|', '!', '?'].includes(cursor.next()) || cursor.takeWord('-')) return operations;
  do operations.push(parseOperation(cursor, initial));
  while (cursor.take(','));
  return operations;
}

function parseOperation(cursor: Cursor, initial: ReadonlyMap<Key, Value>): PlacedOperation {
  cursor.next();
  const { at } = cursor;
  const kind = cursor.takeWord('r')
    ? 'read'
    : cursor.takeWord('w')
      ? 'write'
      : cursor.fail('r KEY VALUE or w KEY VALUE');
  const key = parseKey(cursor);
  const readsInitial = kind === 'read' && cursor.takeWord('_');
  const value = readsInitial ? (initial.get(key) ?? null) : parseValue(cursor);
  const namesWriter = kind === 'read' && !readsInitial && cursor.take('<-');
  cursor.next();
  const writerAt = cursor.at;
  const name = namesWriter ? cursor.takeAnyWord('the writer, session/index or _') : undefined;
  const writer = readsInitial || name === '_' ? null : name;
  const condition = kind === 'read' && cursor.takeWord('where') ? parseCondition(cursor) : undefined;
  return { kind, key, value, writer, at, writerAt, ...(condition === undefined ? {} : { condition }) };
}

function parseCondition(cursor: Cursor): string {
  if (cursor.next() !== '"') cursor.fail('a condition in quotes');
  return cursor.takeJson() as string;
}

function parseKey(cursor: Cursor): Key {
  if (cursor.next() !== '"') return cursor.takeAnyWord('a key');
  const key = cursor.takeJson() as string;
  if (/^\S/.test(cursor.rest())) cursor.fail('a space after the key');
  return key;
}

function parseValue(cursor: Cursor): Value {
  if (['[', '{', '"'].includes(cursor.next())) return cursor.takeJson();
  const { line, at } = cursor;
  const word = cursor.takeAnyWord('a value');
  if (!/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(word)) {
    failAt(line, at, 'history/syntax', `${word} is not JSON: a text stands in quotes, ${JSON.stringify(word)}`);
  }
  checkExact(line, { at, end: cursor.at, parts: new Map() });
  return JSON.parse(word) as Value;
}

/** A position in a line, which only moves on. All but `rest` pass over spaces first. */
class Cursor {
  readonly line: Line;
  at = 0;

  constructor(line: Line) {
    this.line = line;
  }

  rest(): string {
    return this.line.text.slice(this.at);
  }

  /** The next character that is no space, or '' at the end of the line. */
  next(): string {
    while (/^\s$/.test(this.line.text[this.at] ?? '')) this.at += 1;
    return this.line.text[this.at] ?? '';
  }

  take(text: string): boolean {
    this.next();
    const isThere = this.line.text.startsWith(text, this.at);
    if (isThere) this.at += text.length;
    return isThere;
  }

  takeWord(word: string): boolean {
    return this.word() === word && this.take(word);
  }

  takeAnyWord(expected: string): string {
    const word = this.word();
    if (word === '') this.fail(expected);
    this.at += word.length;
    if (this.line.text[this.at] === '"') this.fail('a space');
    return word;
  }

  takeJson(): Value {
    const node = scanJson(this.line, this.at);
    checkExact(this.line, node);
    this.at = node.end;
    return JSON.parse(this.line.text.slice(node.at, node.end)) as Value;
  }

  fail(expected: string): never {
    const found = this.word() || this.next();
    const what = found === '' ? 'the line ends' : `${JSON.stringify(found)} stands`;
    return failAt(this.line, this.at, 'history/syntax', `${what} where ${expected} should`);
  }

  private word(): string {
    this.next();
    const word = /[^\s,|!?"]*/y;
    word.lastIndex = this.at;
    return word.exec(this.line.text)?.[0] ?? '';
  }
}

function formatInitial(initial: ReadonlyMap<Key, Value>): string[] {
  const entries = [...initial].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const members = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return members.length === 0 ? [] : [`initial {${members.join(',')}}`];
}

function formatTransaction(history: History, ids: ReadonlyMap<number, string>, t: number): string {
  const transaction = history.transactions[t];
  assert(transaction !== undefined, `there is no transaction ${t}`);
  const operations = transaction.operations.map((operation) => formatOperation(history, ids, operation));
  const mark = { committed: '', aborted: ' !', unknown: ' ?' }[transaction.status];
  return (operations.join(', ') || '-') + mark;
}

function formatOperation(history: History, ids: ReadonlyMap<number, string>, operation: Operation): string {
  const { kind, key } = operation;
  const word = /[\s,|!?"\p{C}]|^$/u.test(key) ? JSON.stringify(key) : key;
  const value = JSON.stringify(operation.value);
  if (kind === 'write') return `w ${word} ${value}`;
  const where = operation.condition === undefined ? '' : ` where ${JSON.stringify(operation.condition)}`;
  if (operation.from === undefined) return `r ${word} ${value}${where}`;
  if (operation.from !== INITIAL)
    return `r ${word} ${value} <- ${ids.get(operation.from) ?? `unknown/${operation.from}`}${where}`;
  const isInitial = sameValue(history.initial.get(key) ?? null, operation.value);
  return isInitial ? `r ${word} _${where}` : `r ${word} ${value} <- _${where}`;
}
