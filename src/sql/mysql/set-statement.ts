/** SET: system variables, user variables, NAMES, TRANSACTION (MySQL 8.0 manual, 15.7.6 and 15.3.7). */
import type { Node } from '@pgsql/types';
import { mysqlHas } from '../known/server-names.ts';
import { SqlError } from '../model/index.ts';
import type { TransactionModes } from '../statement.ts';
import { stringNode } from '../tree/constant.ts';
import { mysqlCall } from '../tree/mysql.ts';
import type { Cursor } from './cursor.ts';
import { parseExpression } from './nested.ts';
import type { Parsed } from './parsed.ts';
import { selectOf } from './select.ts';
import { isolationNames, parseMode } from './transaction-modes.ts';
import { switches, systemVariables } from './variables.ts';

type Scope = 'session' | 'global' | undefined;

type Assignment =
  | { readonly kind: 'constant'; readonly name: string; readonly scope: Scope; readonly value: string | null }
  | { readonly kind: 'computed'; readonly call: Node };

/** Behind SET. */
export function parseSet(cursor: Cursor): Parsed {
  const modes = parseTransactionModes(cursor);
  if (modes !== undefined) return modes;
  if (cursor.is('PASSWORD') || cursor.is('ROLE') || cursor.is('DEFAULT', 'ROLE'))
    throw cursor.unsupported('SET PASSWORD and ROLE');
  const assignments = cursor.list(() => parseAssignments(cursor)).flat();
  const [only] = assignments;
  if (assignments.length === 1 && only?.kind === 'constant') return constantStatement(only);
  const constants = assignments.filter((assignment) => assignment.kind === 'constant');
  if (constants.length === assignments.length) {
    const settings = constants.map(({ name, value }) => ({ name, value }));
    return { kind: 'statement', statement: { kind: 'setting', command: 'SET', what: 'set all', settings } };
  }
  const calls = assignments.map((assignment) =>
    assignment.kind === 'computed' ? assignment.call : setVariable(assignment.name, constantNode(assignment), 0),
  );
  return { kind: 'effects', query: selectOf(calls) };
}

function constantNode({ name, value }: { readonly name: string; readonly value: string | null }): Node {
  return value === null ? mysqlCall({ kind: 'default of variable', name }, [], 0) : stringNode(value, 0);
}

/** SET [SESSION | GLOBAL] TRANSACTION ...: without a word for the next transaction only. */
function parseTransactionModes(cursor: Cursor): Parsed | undefined {
  const mark = cursor.mark();
  const scope = cursor.acceptOneOf('SESSION', 'LOCAL', 'GLOBAL');
  if (!cursor.accept('TRANSACTION')) {
    cursor.back(mark);
    return undefined;
  }
  if (scope === 'GLOBAL') throw cursor.unsupported('SET GLOBAL TRANSACTION');
  let modes: TransactionModes = {};
  cursor.list(() => {
    modes = { ...modes, ...parseMode(cursor) };
  });
  return modesStatement(scope === undefined ? undefined : 'session', modes);
}

function modesStatement(scope: Scope, modes: TransactionModes): Parsed {
  return {
    kind: 'statement',
    statement: {
      kind: 'transaction',
      command: 'SET',
      what: 'modes',
      scope: scope === undefined ? 'transaction' : 'session',
      modes,
    },
  };
}

/** `x = 1`, `@@x = 1`, `@x := 1`, `NAMES x`. */
function parseAssignments(cursor: Cursor): Assignment[] {
  if (cursor.is('NAMES') || cursor.is('CHARSET') || cursor.is('CHARACTER', 'SET')) return parseNames(cursor);
  if (cursor.isKind('user-variable')) {
    const { value, at } = cursor.take();
    if (cursor.acceptOneOf('=', ':=') === undefined) throw cursor.syntaxError();
    const own = { kind: 'set user variable', name: value.toLowerCase() } as const;
    return [{ kind: 'computed', call: mysqlCall(own, [parseExpression(cursor)], at) }];
  }
  const at = cursor.at();
  const { name, scope } = parseVariableName(cursor);
  if (cursor.acceptOneOf('=', ':=') === undefined) throw cursor.syntaxError();
  const value = parseConstant(cursor);
  if (value !== undefined) return [{ kind: 'constant', name, scope, value: normalized(name, value) }];
  return [{ kind: 'computed', call: setVariable(name, parseExpression(cursor), at) }];
}

function setVariable(name: string, value: Node, at: number): Node {
  return mysqlCall({ kind: 'set variable', name }, [value], at);
}

/** @throws SqlError 42704 (1193) */
function parseVariableName(cursor: Cursor): { readonly name: string; readonly scope: Scope } {
  const { at = 0 } = cursor.peek() ?? {};
  let scope: string | undefined;
  let name: string;
  if (cursor.isKind('system-variable')) {
    const parts = cursor.take().value.split('.');
    scope = parts.length > 1 ? parts[0] : undefined;
    name = parts.at(-1) ?? '';
  } else {
    scope = cursor.acceptOneOf('GLOBAL', 'SESSION', 'LOCAL', 'PERSIST', 'PERSIST_ONLY')?.toLowerCase();
    name = cursor.name().value.toLowerCase();
  }
  if (scope !== undefined && scope !== 'session' && scope !== 'local') throw cursor.unsupported('SET GLOBAL');
  const variable = systemVariables.get(name);
  if (variable === undefined && mysqlHas.variable(name)) throw cursor.unsupported(`the variable ${name}`);
  if (variable === undefined)
    throw new SqlError('42704', `Unknown system variable '${name}'`, { position: at + 1, mysqlNumber: 1193 });
  return { name: variable.is ?? name, scope: scope === undefined ? undefined : 'session' };
}

/** A literal or a bare word; `undefined`, nothing taken: something to compute. `null`: DEFAULT. */
function parseConstant(cursor: Cursor): string | null | undefined {
  const next = cursor.peek(1);
  const endsHere = next === undefined || next.text === ',' || next.text === ';';
  const token = cursor.peek();
  if (token === undefined || !endsHere) return undefined;
  if (token.kind === 'word') {
    cursor.take();
    return token.text.toUpperCase() === 'DEFAULT' ? null : token.text.toUpperCase() === 'NULL' ? '' : token.text;
  }
  if (token.kind !== 'string' && token.kind !== 'number') return undefined;
  return cursor.take().value;
}

/** Switches are 1 and 0, whatever the client writes. */
function normalized(name: string, value: string | null): string | null {
  if (value === null || !switches.has(name)) return value;
  if (/^(on|true)$/i.test(value)) return '1';
  return /^(off|false)$/i.test(value) ? '0' : value;
}

/** MySQL 8.0 manual, 12.14. */
const characterSets = new Set(
  `armscii8 ascii big5 binary cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 cp932 dec8 eucjpms euckr gb18030 gb2312 gbk geostd8 greek hebrew
  hp8 keybcs2 koi8r koi8u latin1 latin2 latin5 latin7 macce macroman sjis swe7 tis620 ucs2 ujis utf16 utf16le utf32 utf8 utf8mb3 utf8mb4`.split(
    /\s+/,
  ),
);

/** SET NAMES x [COLLATE y], SET CHARACTER SET x. */
function parseNames(cursor: Cursor): Assignment[] {
  if (cursor.take().text.toUpperCase() === 'CHARACTER') cursor.take();
  const charset = cursor.accept('DEFAULT')
    ? null
    : cursor.accept('BINARY')
      ? 'binary'
      : cursor.nameAfterPointOrString();
  if (charset !== null && !characterSets.has(charset.toLowerCase()))
    throw new SqlError('42000', `Unknown character set: '${charset}'`, { mysqlNumber: 1115 });
  const names = ['character_set_client', 'character_set_connection', 'character_set_results'];
  const assignments = names.map((name): Assignment => ({ kind: 'constant', name, scope: undefined, value: charset }));
  if (!cursor.accept('COLLATE')) return assignments;
  const value = cursor.nameAfterPointOrString();
  return [...assignments, { kind: 'constant', name: 'collation_connection', scope: undefined, value }];
}

/** The levels and read-only as variables are the transaction's modes. Without SESSION they are those of the next one. */
function constantStatement({ name, scope, value }: Extract<Assignment, { kind: 'constant' }>): Parsed {
  if (name === 'transaction_read_only' && value !== null) return modesStatement(scope, { isReadOnly: value !== '0' });
  if (name === 'transaction_isolation' && value !== null) {
    const isolation = isolationNames.find((level) => level.replace(' ', '-') === value.toLowerCase());
    if (isolation !== undefined) return modesStatement(scope, { isolation });
    throw new SqlError('42000', `Variable 'transaction_isolation' can't be set to the value of '${value}'`, {
      mysqlNumber: 1231,
    });
  }
  return {
    kind: 'statement',
    statement: { kind: 'setting', command: 'SET', what: 'set', isLocal: false, name, value },
  };
}
