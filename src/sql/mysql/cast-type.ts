/** The types of CAST and CONVERT (MySQL 8.0 manual, 14.10). */
import { SqlError } from '../model/index.ts';
import { namedType, type NamedType, ownType } from '../tree/type-name.ts';
import type { Cursor } from './cursor.ts';

/** PostgreSQL's type, `binary` for bytes. @throws SqlError 42601 */
export function parseDataType(cursor: Cursor): NamedType | 'binary' {
  const word = cursor.take().text.toUpperCase();
  switch (word) {
    case 'SIGNED':
    case 'UNSIGNED':
      cursor.acceptOneOf('INTEGER', 'INT');
      return word === 'SIGNED' ? namedType('int8') : ownType('bigint unsigned');
    case 'CHAR':
    case 'NCHAR':
    case 'CHARACTER':
      return parseCharacter(cursor);
    case 'DECIMAL':
    case 'DEC':
      return parseDecimal(cursor);
    case 'DATE':
      return namedType('date');
    case 'DATETIME':
      return namedType('timestamp', parseNumbers(cursor)[0] ?? 0);
    case 'TIME':
      return namedType('time', parseNumbers(cursor)[0] ?? 0);
    case 'YEAR':
      return ownType('year');
    case 'DOUBLE':
      cursor.accept('PRECISION');
      return namedType('float8');
    case 'REAL':
      return namedType('float8');
    case 'FLOAT':
      return namedType((parseNumbers(cursor)[0] ?? 0) > 24 ? 'float8' : 'float4');
    case 'JSON':
      return namedType('jsonb');
    case 'BINARY':
      if (parseNumbers(cursor).length > 0) throw cursor.unsupported('CAST AS BINARY(n)');
      return 'binary';
    default:
      cursor.back(cursor.mark() - 1);
      throw cursor.syntaxError();
  }
}

function parseCharacter(cursor: Cursor): NamedType {
  const [length] = parseNumbers(cursor);
  skipCharset(cursor);
  return length === undefined ? namedType('text') : namedType('varchar', length);
}

function parseDecimal(cursor: Cursor): NamedType {
  const [precision = 10, scale = 0] = parseNumbers(cursor);
  return namedType('numeric', precision, scale);
}

const lengthMax = 2 ** 31 - 1;

/** `(10, 2)`, or nothing. @throws SqlError 42601, 22023 */
export function parseNumbers(cursor: Cursor): number[] {
  if (!cursor.accept('(')) return [];
  const numbers = cursor.list(() => {
    const token = cursor.peek();
    if (token?.kind !== 'number' || !/^\d+$/.test(token.text)) throw cursor.syntaxError();
    if (Number(token.text) > lengthMax)
      throw new SqlError('22023', `Display width out of range (max = ${lengthMax})`, {
        position: token.at + 1,
        mysqlNumber: 1439,
      });
    return Number(cursor.take().text);
  });
  cursor.expect(')');
  return numbers;
}

/** CHARACTER SET x, CHARSET x: everything is UTF-8. */
export function skipCharset(cursor: Cursor): void {
  if (cursor.accept('CHARACTER', 'SET') || cursor.accept('CHARSET') || cursor.accept('CHAR', 'SET'))
    skipCharsetName(cursor);
  else if (cursor.is('ASCII') || cursor.is('UNICODE')) throw cursor.unsupported(`the attribute ${cursor.take().text}`);
}

/** The name of a character set whose texts compare and are stored as those of utf8mb4. */
export function skipCharsetName(cursor: Cursor): void {
  if (cursor.accept('BINARY')) throw cursor.unsupported('CHARACTER SET binary');
  const name = cursor.nameAfterPointOrString().toLowerCase();
  if (!utf8.has(name)) throw cursor.unsupported(`CHARACTER SET ${name}`);
}

const utf8 = new Set(['utf8mb4', 'utf8mb3', 'utf8', 'ascii']);
