/** What servers send. Manual, "Message Formats", those marked (B); both directions of each message side by side. */
import { WireError } from '../index.ts';
import { decodeAuthentication, encodeAuthentication, type AuthenticationRequest } from './authentication.ts';
import { BodyReader } from './body-reader.ts';
import { decodeErrorFields, encodeErrorFields, type ErrorFields } from './error-fields.ts';
import { describeType, type Frame } from './frames.ts';
import type { MessageWriter } from './message-writer.ts';

export type BackendMessage =
  | { readonly kind: 'authentication'; readonly request: AuthenticationRequest }
  | { readonly kind: 'negotiate-protocol-version'; readonly version: number; readonly options: readonly string[] }
  /** The secret has 4 bytes in protocol 3.0, up to 256 from 3.2 on. */
  | { readonly kind: 'backend-key-data'; readonly processId: number; readonly secret: Uint8Array }
  | { readonly kind: 'parameter-status'; readonly name: string; readonly value: string }
  | { readonly kind: 'ready-for-query'; readonly status: TransactionStatus }
  | { readonly kind: 'row-description'; readonly fields: readonly FieldDescription[] }
  | { readonly kind: 'data-row'; readonly values: readonly (Uint8Array | null)[] }
  | { readonly kind: 'command-complete'; readonly tag: string }
  | { readonly kind: 'empty-query-response' }
  | { readonly kind: 'parse-complete' }
  | { readonly kind: 'bind-complete' }
  | { readonly kind: 'close-complete' }
  | { readonly kind: 'no-data' }
  | { readonly kind: 'portal-suspended' }
  | { readonly kind: 'parameter-description'; readonly types: readonly number[] }
  | { readonly kind: 'error-response'; readonly fields: ErrorFields }
  | { readonly kind: 'notice-response'; readonly fields: ErrorFields }
  | {
      readonly kind: 'notification-response';
      readonly processId: number;
      readonly channel: string;
      readonly payload: string;
    }
  | ({ readonly kind: 'copy-in-response' } & CopyFormats)
  | ({ readonly kind: 'copy-out-response' } & CopyFormats)
  | ({ readonly kind: 'copy-both-response' } & CopyFormats)
  | { readonly kind: 'copy-data'; readonly data: Uint8Array }
  | { readonly kind: 'copy-done' }
  | { readonly kind: 'function-call-response'; readonly value: Uint8Array | null };

/** ReadyForQuery's I, T and E. */
export type TransactionStatus = 'idle' | 'open' | 'failed';

export interface FieldDescription {
  readonly name: string;
  /** 0: not a column of a table. */
  readonly tableOid: number;
  readonly columnNumber: number;
  readonly typeOid: number;
  /** Bytes; negative: varying. */
  readonly typeSize: number;
  /** -1: none. */
  readonly typeModifier: number;
  /** 0 text, 1 binary. */
  readonly format: number;
}

/** 0 text, 1 binary: all of it, and column by column. */
export interface CopyFormats {
  readonly format: number;
  readonly columnFormats: readonly number[];
}

interface Codec<Message> {
  readonly type: string;
  readonly encode: (writer: MessageWriter, message: Message) => void;
  readonly decode: (reader: BodyReader) => Omit<Message, 'kind'>;
}

const statusLetters: { readonly [Status in TransactionStatus]: string } = { idle: 'I', open: 'T', failed: 'E' };
const empty = { encode: () => undefined, decode: () => ({}) };
const copyResponse = {
  encode: (writer: MessageWriter, message: CopyFormats) => {
    writer.uint8(message.format);
    writer.uint16(message.columnFormats.length);
    for (const format of message.columnFormats) writer.uint16(format);
  },
  decode: (reader: BodyReader) => ({
    format: reader.uint8(),
    columnFormats: reader.list(reader.uint16(), () => reader.uint16()),
  }),
};

const codecs: { readonly [K in BackendMessage['kind']]: Codec<Extract<BackendMessage, { readonly kind: K }>> } = {
  authentication: {
    type: 'R',
    encode: (writer, { request }) => encodeAuthentication(writer, request),
    decode: (reader) => ({ request: decodeAuthentication(reader) }),
  },
  'negotiate-protocol-version': {
    type: 'v',
    encode: (writer, { version, options }) => {
      writer.int32(version);
      writer.int32(options.length);
      for (const option of options) writer.cstring(option);
    },
    decode: (reader) => ({ version: reader.int32(), options: reader.list(reader.int32(), () => reader.cstring()) }),
  },
  'backend-key-data': {
    type: 'K',
    encode: (writer, { processId, secret }) => {
      writer.int32(processId);
      writer.bytes(secret);
    },
    decode: (reader) => ({ processId: reader.int32(), secret: reader.rest() }),
  },
  'parameter-status': {
    type: 'S',
    encode: (writer, { name, value }) => {
      writer.cstring(name);
      writer.cstring(value);
    },
    decode: (reader) => ({ name: reader.cstring(), value: reader.cstring() }),
  },
  'ready-for-query': {
    type: 'Z',
    encode: (writer, { status }) => writer.uint8(statusLetters[status].charCodeAt(0)),
    decode: (reader) => ({ status: decodeStatus(reader.uint8()) }),
  },
  'row-description': {
    type: 'T',
    encode: (writer, { fields }) => {
      writer.uint16(fields.length);
      for (const field of fields) encodeField(writer, field);
    },
    decode: (reader) => ({ fields: reader.list(reader.uint16(), () => decodeField(reader)) }),
  },
  'data-row': {
    type: 'D',
    encode: (writer, { values }) => {
      writer.uint16(values.length);
      for (const value of values) writer.value(value);
    },
    decode: (reader) => ({ values: reader.list(reader.uint16(), () => reader.value()) }),
  },
  'command-complete': {
    type: 'C',
    encode: (writer, { tag }) => writer.cstring(tag),
    decode: (reader) => ({ tag: reader.cstring() }),
  },
  'empty-query-response': { type: 'I', ...empty },
  'parse-complete': { type: '1', ...empty },
  'bind-complete': { type: '2', ...empty },
  'close-complete': { type: '3', ...empty },
  'no-data': { type: 'n', ...empty },
  'portal-suspended': { type: 's', ...empty },
  'parameter-description': {
    type: 't',
    encode: (writer, { types }) => {
      writer.uint16(types.length);
      for (const oid of types) writer.uint32(oid);
    },
    decode: (reader) => ({ types: reader.list(reader.uint16(), () => reader.uint32()) }),
  },
  'error-response': {
    type: 'E',
    encode: (writer, { fields }) => encodeErrorFields(writer, fields),
    decode: (reader) => ({ fields: decodeErrorFields(reader) }),
  },
  'notice-response': {
    type: 'N',
    encode: (writer, { fields }) => encodeErrorFields(writer, fields),
    decode: (reader) => ({ fields: decodeErrorFields(reader) }),
  },
  'notification-response': {
    type: 'A',
    encode: (writer, { processId, channel, payload }) => {
      writer.int32(processId);
      writer.cstring(channel);
      writer.cstring(payload);
    },
    decode: (reader) => ({ processId: reader.int32(), channel: reader.cstring(), payload: reader.cstring() }),
  },
  'copy-in-response': { type: 'G', ...copyResponse },
  'copy-out-response': { type: 'H', ...copyResponse },
  'copy-both-response': { type: 'W', ...copyResponse },
  'copy-data': {
    type: 'd',
    encode: (writer, { data }) => writer.bytes(data),
    decode: (reader) => ({ data: reader.rest() }),
  },
  'copy-done': { type: 'c', ...empty },
  'function-call-response': {
    type: 'V',
    encode: (writer, { value }) => writer.value(value),
    decode: (reader) => ({ value: reader.value() }),
  },
};

const kindOfType = new Map(
  Object.entries(codecs).map(([kind, { type }]) => [type.charCodeAt(0), kind as BackendMessage['kind']]),
);

/** The message's bytes are views of the frame. @throws WireError */
export function decodeBackend(frame: Frame): BackendMessage {
  const kind = kindOfType.get(frame.type);
  if (kind === undefined) throw new WireError('malformed', `an unknown message type ${describeType(frame.type)}`);
  const reader = new BodyReader(frame.body);
  const message = { kind, ...codecs[kind].decode(reader) } as BackendMessage;
  reader.end();
  return message;
}

/** @throws WireError a text has a zero character, a list has over 65,535 items */
export function encodeBackend(writer: MessageWriter, message: BackendMessage): void {
  const codec = codecs[message.kind] as Codec<BackendMessage>;
  writer.begin(codec.type.charCodeAt(0));
  codec.encode(writer, message);
  writer.end();
}

/** For rows in large numbers: begin, the fields one by one (`textValue`, `value`), `end`. The bytes are those of the `data-row` message. */
export function beginDataRow(writer: MessageWriter, fieldCount: number): void {
  writer.begin(0x44);
  writer.uint16(fieldCount);
}

function decodeStatus(letter: number): TransactionStatus {
  for (const status of ['idle', 'open', 'failed'] as const) {
    if (statusLetters[status].charCodeAt(0) === letter) return status;
  }
  throw new WireError('malformed', `${describeType(letter)} is no transaction status`);
}

function encodeField(writer: MessageWriter, field: FieldDescription): void {
  writer.cstring(field.name);
  writer.uint32(field.tableOid);
  writer.int16(field.columnNumber);
  writer.uint32(field.typeOid);
  writer.int16(field.typeSize);
  writer.int32(field.typeModifier);
  writer.uint16(field.format);
}

function decodeField(reader: BodyReader): FieldDescription {
  return {
    name: reader.cstring(),
    tableOid: reader.uint32(),
    columnNumber: reader.int16(),
    typeOid: reader.uint32(),
    typeSize: reader.int16(),
    typeModifier: reader.int32(),
    format: reader.uint16(),
  };
}
