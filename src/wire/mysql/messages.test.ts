import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WireError } from '../wire-error.ts';
import {
  bytes,
  columnDefinition,
  command,
  commandFlags,
  errorPacket,
  handshake,
  handshakeResponse,
  okPacket,
  prepareOk,
  typedValues,
} from './arbitraries.test-support.ts';
import { decodeColumnDefinition, encodeColumnDefinition } from './column-definition.ts';
import { decodeCommand, encodeCommand } from './command.ts';
import { capabilities, columnType, serverStatus } from './constants.ts';
import { decodeExecution, encodeExecution } from './execution.ts';
import {
  decodeAuthMoreData,
  decodeAuthSwitch,
  decodeHandshake,
  decodeHandshakeResponse,
  encodeAuthMoreData,
  encodeAuthSwitch,
  encodeHandshake,
  encodeHandshakeResponse,
  isSslRequest,
} from './handshake.ts';
import {
  decodeColumnCount,
  decodeEof,
  decodeError,
  decodeOk,
  decodePrepareOk,
  encodeColumnCount,
  encodeEof,
  encodeError,
  encodeOk,
  encodePrepareOk,
  type OkPacket,
} from './response.ts';
import { decodeBinaryRow, decodeTextRow, encodeBinaryRow, encodeTextRow } from './row.ts';

/** Byte arrays of every kind are equal when their bytes are. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (value instanceof Map) return [...value].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

function expectRoundTrip<T>(
  arbitrary: fc.Arbitrary<T>,
  encode: (value: T) => Uint8Array,
  decode: (b: Uint8Array) => T,
) {
  fc.assert(
    fc.property(arbitrary, (value) => {
      expect(plain(decode(encode(value)))).toEqual(plain(value));
    }),
  );
}

const noFlags = 0;

describe('what is encoded is decoded again', () => {
  test('handshake', () => expectRoundTrip(handshake, encodeHandshake, decodeHandshake));

  test('handshake response', () =>
    expectRoundTrip(handshakeResponse, encodeHandshakeResponse, decodeHandshakeResponse));

  test('authentication switch', () =>
    expectRoundTrip(
      fc.record({ authPlugin: fc.constantFrom('mysql_native_password', 'dialog'), data: fc.uint8Array({ min: 1 }) }),
      encodeAuthSwitch,
      decodeAuthSwitch,
    ));

  test('more authentication data', () => expectRoundTrip(bytes, encodeAuthMoreData, decodeAuthMoreData));

  test('commands', () =>
    expectRoundTrip(
      command,
      (value) => encodeCommand(value, commandFlags),
      (payload) => decodeCommand(payload, commandFlags),
    ));

  test.each(['answer', 'end'] as const)('OK as %s', (role) => {
    const withState = capabilities.sessionTrack;
    const status = serverStatus.sessionStateChanged;
    expectRoundTrip(
      okPacket.map((ok): OkPacket => ({ ...ok, status: ok.status | status })),
      (ok) => encodeOk(ok, withState, role),
      (payload) => decodeOk(payload, withState),
    );
    expectRoundTrip(
      okPacket.map((ok): OkPacket => ({ ...ok, sessionState: new Uint8Array() })),
      (ok) => encodeOk(ok, noFlags, role),
      (payload) => decodeOk(payload, noFlags),
    );
  });

  test('errors', () => expectRoundTrip(errorPacket, encodeError, decodeError));

  test('EOF', () => {
    const eof = fc.record({ warnings: fc.nat(0xffff), status: fc.nat(0xffff) });
    expectRoundTrip(eof, encodeEof, decodeEof);
  });

  test('the answer to a prepare', () => expectRoundTrip(prepareOk, encodePrepareOk, decodePrepareOk));

  test('column counts', () => expectRoundTrip(fc.nat(70_000), encodeColumnCount, decodeColumnCount));

  test('column definitions', () => expectRoundTrip(columnDefinition, encodeColumnDefinition, decodeColumnDefinition));

  test('column definitions with a default value', () =>
    expectRoundTrip(
      columnDefinition,
      (column) => encodeColumnDefinition(column, 'field-list'),
      (payload) => decodeColumnDefinition(payload, 'field-list'),
    ));

  test('text rows', () => {
    const row = fc.array(fc.option(bytes, { nil: null }), { maxLength: 30 });
    fc.assert(
      fc.property(row, (values) => {
        expect(plain(decodeTextRow(encodeTextRow(values), values.length))).toEqual(plain(values));
      }),
    );
  });

  test('binary rows of every type', () => {
    fc.assert(
      fc.property(typedValues, (cells) => {
        const types = cells.map(({ type }) => type);
        const values = cells.map(({ value }) => value);
        const payload = encodeBinaryRow(
          types.map(({ type }) => type),
          values,
        );
        expect(plain(decodeBinaryRow(payload, types))).toEqual(plain(values));
      }),
    );
  });

  test('parameters of every type, with their types and without', () => {
    fc.assert(
      fc.property(typedValues, fc.boolean(), (cells, sendsTypes) => {
        const types = cells.map(({ type }) => type);
        const execution = { cursor: 0, types, values: cells.map(({ value }) => value) };
        const context = { parameters: cells.length, types: sendsTypes ? null : types, hasLongData: () => false };
        expect(plain(decodeExecution(encodeExecution(execution, sendsTypes), context))).toEqual(plain(execution));
      }),
    );
  });
});

describe('decoding', () => {
  const decoders: readonly (readonly [string, (payload: Uint8Array) => unknown])[] = [
    ['handshakes', decodeHandshake],
    ['handshake responses', decodeHandshakeResponse],
    ['authentication switches', decodeAuthSwitch],
    ['commands', (payload) => decodeCommand(payload, commandFlags)],
    ['OK', (payload) => decodeOk(payload, capabilities.sessionTrack)],
    ['errors', decodeError],
    ['EOF', decodeEof],
    ['prepare answers', decodePrepareOk],
    ['column definitions', decodeColumnDefinition],
    ['text rows', (payload) => decodeTextRow(payload, 2)],
    ['binary rows', (payload) => decodeBinaryRow(payload, [{ type: columnType.datetime, isUnsigned: false }])],
    ['parameters', (payload) => decodeExecution(payload, { parameters: 2, types: null, hasLongData: () => false })],
  ];
  test.each(decoders)('%s of any bytes gives a value or a WireError', (_name, decode) => {
    fc.assert(
      fc.property(bytes, (payload) => {
        try {
          decode(payload);
        } catch (error) {
          expect(error).toBeInstanceOf(WireError);
        }
      }),
    );
  });

  test.each([
    ['a command without a byte', () => decodeCommand(new Uint8Array(), 0)],
    ['bytes after a command', () => decodeCommand(Uint8Array.of(0x0e, 1), 0)],
    ['a client older than 4.1', () => decodeHandshakeResponse(new Uint8Array(40))],
    ['an old handshake', () => decodeHandshake(Uint8Array.of(9))],
    ['a length that is none', () => decodeTextRow(Uint8Array.of(0xff), 1)],
    ['a text longer than its packet', () => decodeTextRow(Uint8Array.of(0xfe, 0, 0, 0, 0, 0, 0, 0, 1), 1)],
    [
      'a date of 5 bytes',
      () => decodeBinaryRow(Uint8Array.of(0, 0, 5), [{ type: columnType.date, isUnsigned: false }]),
    ],
    ['an unknown type', () => decodeBinaryRow(Uint8Array.of(0, 0, 5), [{ type: 0x77, isUnsigned: false }])],
    [
      'no types',
      () =>
        decodeExecution(Uint8Array.of(0, 1, 0, 0, 0, 0, 0), { parameters: 1, types: null, hasLongData: () => false }),
    ],
    ['a value that its type cannot have', () => encodeBinaryRow([columnType.long], [5n])],
  ])('%s is a WireError', (_name, decode) => expect(decode).toThrow(WireError));

  test('the words of an OK packet have a length, whatever the client says', () => {
    const words = {
      affectedRows: 1n,
      insertId: 0n,
      status: 2,
      warnings: 0,
      info: 'ok',
      sessionState: new Uint8Array(),
    };
    expect([...encodeOk(words, noFlags)]).toEqual([0, 1, 0, 2, 0, 0, 0, 2, 0x6f, 0x6b]);
  });

  test('an error without SQLSTATE, as before the handshake', () => {
    const payload = Buffer.from('\xff\x10\x04Too many connections', 'latin1');
    expect(decodeError(payload)).toEqual({ number: 1040, state: 'HY000', message: 'Too many connections' });
  });

  test('parameters that came as long data have no value here', () => {
    const types = [
      { type: columnType.blob, isUnsigned: false },
      { type: columnType.long, isUnsigned: false },
    ];
    const body = encodeExecution({ cursor: 0, types, values: [null, 7] }, true);
    // Clients do not mark long data as null.
    body[5] = 0;
    const context = { parameters: 2, types: null, hasLongData: (parameter: number) => parameter === 0 };
    expect(decodeExecution(body, context).values).toEqual([null, 7]);
  });

  test('a request for TLS', () => {
    const request = Buffer.alloc(32);
    request.writeUInt32LE(capabilities.protocol41 | capabilities.ssl, 0);
    expect(isSslRequest(request)).toBe(true);
    expect(isSslRequest(Buffer.concat([request, Buffer.of(0)]))).toBe(false);
  });
});
