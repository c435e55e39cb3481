/** Transactions, USE, DO and what else is said to the session (MySQL 8.0 manual, 15.3, 15.7 and 15.8). */
import type { SettingStatement, TransactionModes, TransactionStatement } from '../statement.ts';
import type { Cursor } from './cursor.ts';
import { parseExpression } from './nested.ts';
import { type Parsed, parsedTree } from './parsed.ts';
import { selectOf } from './select.ts';
import { parseSet } from './set-statement.ts';
import { parseMode } from './transaction-modes.ts';

export function parseSession(cursor: Cursor): Parsed | undefined {
  const word = cursor.isKind('word') ? (cursor.peek()?.text.toUpperCase() ?? '') : '';
  const parser = Object.hasOwn(parsers, word) ? parsers[word] : undefined;
  if (parser === undefined) return undefined;
  cursor.take();
  return parser(cursor, word);
}

const parsers: Readonly<Record<string, (cursor: Cursor, word: string) => Parsed>> = {
  SET: parseSet,
  BEGIN: (cursor) => {
    cursor.accept('WORK');
    return transaction({ command: 'BEGIN', what: 'begin', modes: {} });
  },
  START: parseStart,
  COMMIT: (cursor) => parseEnd(cursor, 'commit'),
  ROLLBACK: parseRollback,
  SAVEPOINT: (cursor) => transaction({ command: 'SAVEPOINT', what: 'savepoint', name: cursor.name().value }),
  RELEASE: (cursor) => {
    cursor.expect('SAVEPOINT');
    return transaction({ command: 'RELEASE', what: 'release', name: cursor.name().value });
  },
  USE: (cursor) => {
    const name = `"${cursor.name().value.replaceAll('"', '""')}"`;
    return setting({ command: 'USE', what: 'set', isLocal: false, name: 'search_path', value: name });
  },
  DO: (cursor) => {
    return { kind: 'effects', query: selectOf(cursor.list(() => parseExpression(cursor))) };
  },
  UNLOCK: (cursor) => {
    if (cursor.acceptOneOf('TABLES', 'TABLE') === undefined) throw cursor.syntaxError();
    return setting({ command: 'UNLOCK TABLES', what: 'nothing' });
  },
  FLUSH: (cursor) => {
    while (!cursor.isAtEnd()) {
      if (cursor.is('READ', 'LOCK') || cursor.is('FOR', 'EXPORT'))
        throw cursor.unsupported('FLUSH TABLES ... WITH READ LOCK');
      cursor.take();
    }
    return setting({ command: 'FLUSH', what: 'nothing' });
  },
  PREPARE: parsePrepare,
  EXECUTE: parseExecute,
  DEALLOCATE: parseDeallocate,
  ...Object.fromEntries(
    'LOCK KILL CALL LOAD HANDLER ANALYZE OPTIMIZE CHECK REPAIR XA INSTALL SIGNAL GET HELP'
      .split(' ')
      .map((word) => [word, notKnown]),
  ),
};

function notKnown(cursor: Cursor, word: string): never {
  throw cursor.unsupported(word === 'LOCK' ? 'LOCK TABLES' : word);
}

type Omitted<T> = T extends unknown ? Omit<T, 'kind'> : never;

function transaction(statement: Omitted<TransactionStatement>): Parsed {
  return { kind: 'statement', statement: { kind: 'transaction', ...statement } };
}

function setting(statement: Omitted<SettingStatement>): Parsed {
  return { kind: 'statement', statement: { kind: 'setting', ...statement } };
}

/** PREPARE name FROM 'text' | @variable (MySQL 8.0 manual, 15.5). */
function parsePrepare(cursor: Cursor): Parsed {
  const name = cursor.name().value;
  cursor.expect('FROM');
  const isVariable = cursor.isKind('user-variable');
  if (!isVariable && !cursor.isKind('string')) throw cursor.syntaxError();
  const { value } = cursor.take();
  const [text, from] = isVariable ? ['', `@${value.toLowerCase()}`] : [value, null];
  const statement = { kind: 'named', command: 'PREPARE', what: 'prepare text', name, text, setting: from } as const;
  return { kind: 'statement', statement };
}

/** EXECUTE name [USING @a, @b]. */
function parseExecute(cursor: Cursor): Parsed {
  const name = cursor.nameText();
  if (!cursor.accept('USING')) return parsedTree({ ExecuteStmt: { name } });
  const params = cursor.list(() => {
    if (!cursor.isKind('user-variable')) throw cursor.syntaxError();
    return parseExpression(cursor);
  });
  return parsedTree({ ExecuteStmt: { name, params } });
}

/** DEALLOCATE | DROP PREPARE name. */
export function parseDeallocate(cursor: Cursor): Parsed {
  cursor.expect('PREPARE');
  const location = cursor.at();
  return parsedTree({ DeallocateStmt: { name: cursor.nameText(), location } });
}

/** START TRANSACTION [WITH CONSISTENT SNAPSHOT], [READ ONLY | READ WRITE]. */
function parseStart(cursor: Cursor): Parsed {
  cursor.expect('TRANSACTION');
  let modes: TransactionModes = {};
  if (!cursor.isAtEnd()) {
    cursor.list(() => {
      if (cursor.accept('WITH', 'CONSISTENT', 'SNAPSHOT')) modes = { ...modes, takesSnapshot: true };
      else modes = { ...modes, ...parseMode(cursor) };
    });
  }
  return transaction({ command: 'START TRANSACTION', what: 'begin', modes });
}

function parseEnd(cursor: Cursor, what: 'commit' | 'rollback'): Parsed {
  cursor.accept('WORK');
  let andChain = false;
  if (cursor.accept('AND')) {
    andChain = !cursor.accept('NO');
    cursor.expect('CHAIN');
  }
  if (cursor.accept('NO')) cursor.expect('RELEASE');
  else if (cursor.is('RELEASE')) throw cursor.unsupported('RELEASE after COMMIT and ROLLBACK');
  return transaction({ command: what.toUpperCase(), what, andChain });
}

function parseRollback(cursor: Cursor): Parsed {
  const mark = cursor.mark();
  cursor.accept('WORK');
  if (cursor.accept('TO')) {
    cursor.accept('SAVEPOINT');
    return transaction({ command: 'ROLLBACK', what: 'rollback to', name: cursor.name().value });
  }
  cursor.back(mark);
  return parseEnd(cursor, 'rollback');
}
