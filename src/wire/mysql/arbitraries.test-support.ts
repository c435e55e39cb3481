/** Random messages of the MySQL protocol, for round trips. */
import fc from 'fast-check';
import type { BinaryType, BinaryValue } from './binary-value.ts';
import type { ColumnDefinition } from './column-definition.ts';
import type { Command } from './command.ts';
import { capabilities, columnType } from './constants.ts';
import type { Handshake, HandshakeResponse } from './handshake.ts';
import type { OkPacket } from './response.ts';

const byte = fc.nat(0xff);
const uint16 = fc.nat(0xffff);
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
export const bytes = fc.uint8Array({ maxLength: 300 });
/** Text that can stand before a zero byte. */
const word = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('\0'));
const text = fc.string({ unit: 'grapheme', maxLength: 300 });
const attributes = fc.array(fc.tuple(word, text), { maxLength: 3 }).map((pairs) => new Map(pairs));
const salt = fc.uint8Array({ minLength: 20, maxLength: 20, min: 1 });
const authResponse = fc.uint8Array({ maxLength: 250, min: 1 });

const handshakeFlags = fc
  .subarray([
    capabilities.secureConnection,
    capabilities.pluginAuth,
    capabilities.connectWithDb,
    capabilities.connectAttributes,
    capabilities.pluginAuthLengthEncoded,
    capabilities.multiStatements,
    capabilities.deprecateEof,
  ])
  .map((flags) => flags.reduce((all, flag) => all | flag, capabilities.protocol41));

export const handshake: fc.Arbitrary<Handshake> = fc
  .record({
    serverVersion: word,
    connectionId: uint32,
    salt,
    capabilities: handshakeFlags,
    characterSet: byte,
    status: uint16,
    authPlugin: word,
  })
  .map((all) => ((all.capabilities & capabilities.pluginAuth) === 0 ? { ...all, authPlugin: '' } : all));

export const handshakeResponse: fc.Arbitrary<HandshakeResponse> = fc
  .record({
    capabilities: handshakeFlags,
    packetBytesMax: uint32,
    characterSet: byte,
    user: word,
    authResponse,
    database: word,
    authPlugin: word,
    attributes,
  })
  .map((all) => ({
    ...all,
    database: (all.capabilities & capabilities.connectWithDb) === 0 ? '' : all.database,
    authPlugin: (all.capabilities & capabilities.pluginAuth) === 0 ? '' : all.authPlugin,
    attributes: (all.capabilities & capabilities.connectAttributes) === 0 ? new Map<string, string>() : all.attributes,
  }));

export const commandFlags = capabilities.secureConnection | capabilities.pluginAuth | capabilities.connectAttributes;

export const command: fc.Arbitrary<Command> = fc.oneof(
  fc.constantFrom<Command>({ kind: 'quit' }, { kind: 'statistics' }, { kind: 'ping' }, { kind: 'reset-connection' }),
  fc.record({ kind: fc.constant('init-db' as const), database: text }),
  fc.record({ kind: fc.constant('query' as const), sql: bytes }),
  fc.record({ kind: fc.constant('stmt-prepare' as const), sql: bytes }),
  fc.record({ kind: fc.constant('field-list' as const), table: word, wildcard: text }),
  fc.record({ kind: fc.constant('process-kill' as const), connectionId: uint32 }),
  fc.record({
    kind: fc.constant('change-user' as const),
    user: word,
    authResponse,
    database: word,
    characterSet: uint16,
    authPlugin: word,
    attributes,
  }),
  fc.record({ kind: fc.constant('stmt-execute' as const), statementId: uint32, body: bytes }),
  fc.record({
    kind: fc.constant('stmt-send-long-data' as const),
    statementId: uint32,
    parameter: uint16,
    data: bytes,
  }),
  fc.record({ kind: fc.constant('stmt-close' as const), statementId: uint32 }),
  fc.record({ kind: fc.constant('stmt-reset' as const), statementId: uint32 }),
  fc.record({ kind: fc.constant('stmt-fetch' as const), statementId: uint32, rows: uint32 }),
  fc.record({ kind: fc.constant('set-option' as const), option: uint16 }),
  fc.record({ kind: fc.constant('unknown' as const), code: fc.constantFrom(0, 5, 0x7f, 0xff), body: bytes }),
);

export const okPacket: fc.Arbitrary<OkPacket> = fc.record({
  affectedRows: uint64,
  insertId: uint64,
  status: uint16,
  warnings: uint16,
  info: text,
  sessionState: bytes,
});

export const errorPacket = fc.record({
  number: uint16,
  state: fc.string({ minLength: 5, maxLength: 5 }),
  message: text,
});

export const prepareOk = fc.record({ statementId: uint32, columns: uint16, parameters: uint16, warnings: uint16 });

export const columnDefinition: fc.Arbitrary<ColumnDefinition> = fc.record({
  schema: text,
  table: text,
  originalTable: text,
  name: text,
  originalName: text,
  characterSet: uint16,
  length: uint32,
  type: byte,
  flags: uint16,
  decimals: byte,
});

interface TypedValue {
  readonly type: BinaryType;
  readonly value: BinaryValue;
}

const dateTime = fc.record({
  kind: fc.constant('datetime' as const),
  year: fc.oneof(fc.constant(0), uint16),
  month: fc.oneof(fc.constant(0), byte),
  day: fc.oneof(fc.constant(0), byte),
  hour: fc.oneof(fc.constant(0), byte),
  minute: fc.oneof(fc.constant(0), byte),
  second: fc.oneof(fc.constant(0), byte),
  microsecond: fc.oneof(fc.constant(0), uint32),
});

const time = fc.record({
  kind: fc.constant('time' as const),
  isNegative: fc.boolean(),
  days: fc.oneof(fc.constant(0), uint32),
  hours: fc.oneof(fc.constant(0), byte),
  minutes: fc.oneof(fc.constant(0), byte),
  seconds: fc.oneof(fc.constant(0), byte),
  microseconds: fc.oneof(fc.constant(0), uint32),
});

/** The values that a type can have, signed and unsigned. */
const valuesOfType: readonly (readonly [types: readonly number[], isUnsigned: boolean, fc.Arbitrary<BinaryValue>])[] = [
  [[columnType.tiny], false, fc.integer({ min: -128, max: 127 })],
  [[columnType.tiny], true, byte],
  [[columnType.short, columnType.year], false, fc.integer({ min: -32_768, max: 32_767 })],
  [[columnType.short, columnType.year], true, uint16],
  [[columnType.long, columnType.int24], false, fc.integer()],
  [[columnType.long, columnType.int24], true, uint32],
  [[columnType.longlong], false, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
  [[columnType.longlong], true, uint64],
  [[columnType.float], false, fc.float()],
  [[columnType.double], false, fc.double()],
  [[columnType.date, columnType.datetime, columnType.timestamp], false, dateTime],
  [[columnType.time], false, time],
  [
    [
      columnType.decimal,
      columnType.varchar,
      columnType.bit,
      columnType.json,
      columnType.newdecimal,
      columnType.enum,
      columnType.set,
      columnType.tinyBlob,
      columnType.mediumBlob,
      columnType.longBlob,
      columnType.blob,
      columnType.varString,
      columnType.string,
      columnType.geometry,
    ],
    false,
    bytes,
  ],
];

const typedValue: fc.Arbitrary<TypedValue> = fc.oneof(
  ...valuesOfType.map(([types, isUnsigned, value]) =>
    fc.record({
      type: fc.record({ type: fc.constantFrom(...types), isUnsigned: fc.constant(isUnsigned) }),
      value: fc.option(value, { nil: null, freq: 4 }),
    }),
  ),
);

export const typedValues = fc.array(typedValue, { maxLength: 20 });
