import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WireError } from '../wire-error.ts';
import { command as anyCommand } from './arbitraries.test-support.ts';
import { encodeColumnDefinition } from './column-definition.ts';
import type { Command } from './command.ts';
import { capabilities, columnType, serverStatus } from './constants.ts';
import { encodeAuthMoreData, encodeAuthSwitch } from './handshake.ts';
import { encodeColumnCount, encodeEof, encodeError, encodeOk, encodePrepareOk } from './response.ts';
import { ResponseReader } from './response-reader.ts';
import { encodeBinaryRow, encodeTextRow } from './row.ts';

const withEof = 0;
const withoutEof = capabilities.deprecateEof;
const query: Command = { kind: 'query', sql: Buffer.from('select 1') };
const execute: Command = { kind: 'stmt-execute', statementId: 1, body: new Uint8Array() };
const prepare: Command = { kind: 'stmt-prepare', sql: Buffer.from('select ?') };

const definition = encodeColumnDefinition({
  schema: '',
  table: '',
  originalTable: '',
  name: 'n',
  originalName: '',
  characterSet: 63,
  length: 11,
  type: columnType.long,
  flags: 0,
  decimals: 0,
});
const count = encodeColumnCount(1);
const eof = encodeEof({ warnings: 0, status: 2 });
const ok = (status: number, role?: 'end') =>
  encodeOk({ affectedRows: 0n, insertId: 0n, warnings: 0, info: '', sessionState: new Uint8Array(), status }, 0, role);
const more = serverStatus.moreResultsExist;
const row = encodeTextRow(['1']);
const failure = encodeError({ number: 1317, state: '70100', message: 'interrupted' });

function kindsOf(command: Command | null, flags: number, packets: readonly Uint8Array[]): string[] {
  const reader = new ResponseReader(command, flags);
  const kinds = packets.map((packet, i) => {
    expect(reader.isDone, `before packet ${i}`).toBe(false);
    return reader.next(packet).kind;
  });
  expect(reader.isDone).toBe(true);
  return kinds;
}

describe('the packets of an answer', () => {
  test.each<[string, Command | null, number, readonly Uint8Array[], readonly string[]]>([
    ['OK', { kind: 'ping' }, withEof, [ok(2)], ['ok']],
    ['an error', query, withEof, [failure], ['error']],
    [
      'rows',
      query,
      withEof,
      [count, definition, eof, row, row, eof],
      ['column-count', 'column', 'columns-end', 'text-row', 'text-row', 'rows-end'],
    ],
    [
      'rows without EOF',
      query,
      withoutEof,
      [count, definition, row, ok(2, 'end')],
      ['column-count', 'column', 'text-row', 'rows-end'],
    ],
    ['no rows', query, withEof, [count, definition, eof, eof], ['column-count', 'column', 'columns-end', 'rows-end']],
    [
      'rows that end with an error',
      query,
      withEof,
      [count, definition, eof, row, failure],
      ['column-count', 'column', 'columns-end', 'text-row', 'error'],
    ],
    [
      'several results',
      query,
      withoutEof,
      [ok(more), count, definition, ok(more, 'end'), ok(2)],
      ['ok', 'column-count', 'column', 'rows-end', 'ok'],
    ],
    [
      'binary rows',
      execute,
      withoutEof,
      [count, definition, encodeBinaryRow([columnType.long], [7]), ok(2, 'end')],
      ['column-count', 'column', 'binary-row', 'rows-end'],
    ],
    ['a file that is asked for', query, withEof, [Uint8Array.of(0xfb, 65), ok(2)], ['local-infile', 'ok']],
    ['statistics', { kind: 'statistics' }, withEof, [Buffer.from('Uptime: 1')], ['statistics']],
    [
      'fields',
      { kind: 'field-list', table: 't', wildcard: '' },
      withEof,
      [definition, definition, eof],
      ['column', 'column', 'rows-end'],
    ],
    [
      'a login',
      null,
      withEof,
      [encodeAuthSwitch({ authPlugin: 'a', data: Uint8Array.of(1) }), encodeAuthMoreData(Uint8Array.of(3)), ok(2)],
      ['auth-switch', 'auth-more-data', 'ok'],
    ],
  ])('%s', (_name, command, flags, packets, kinds) => expect(kindsOf(command, flags, packets)).toEqual(kinds));

  test.each([
    [0, 0, ['prepared']],
    [1, 0, ['prepared', 'column', 'columns-end']],
    [0, 1, ['prepared', 'column', 'columns-end']],
    [1, 1, ['prepared', 'column', 'columns-end', 'column', 'columns-end']],
  ])('a prepared statement of %i parameters and %i columns', (parameters, columns, kinds) => {
    const head = encodePrepareOk({ statementId: 1, parameters, columns, warnings: 0 });
    const packets = kinds.map((kind) => ({ prepared: head, column: definition, 'columns-end': eof })[kind] ?? head);
    expect(kindsOf(prepare, withEof, packets)).toEqual(kinds);
    const short = kinds.filter((kind) => kind !== 'columns-end');
    expect(
      kindsOf(
        prepare,
        withoutEof,
        packets.filter((packet) => packet !== eof),
      ),
    ).toEqual(short);
  });

  test.each<[Command]>([
    [{ kind: 'quit' }],
    [{ kind: 'stmt-close', statementId: 1 }],
    [{ kind: 'stmt-send-long-data', statementId: 1, parameter: 0, data: new Uint8Array() }],
  ])('%j has no answer', (command) => {
    const reader = new ResponseReader(command, withEof);
    expect(reader.isDone).toBe(true);
    expect(() => reader.next(ok(2))).toThrow(WireError);
  });

  test('of any bytes are messages or a WireError', () => {
    const packets = fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 10 });
    fc.assert(
      fc.property(anyCommand, fc.constantFrom(withEof, withoutEof), packets, (command, flags, payloads) => {
        const reader = new ResponseReader(command, flags);
        try {
          for (const payload of payloads) reader.next(payload);
        } catch (error) {
          expect(error).toBeInstanceOf(WireError);
        }
      }),
    );
  });
});
