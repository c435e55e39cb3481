/** What clients send after the start-up. Manual, "Message Formats", those marked (F); both directions of each message side by side. */
import { WireError } from '../index.ts';
import { BodyReader } from './body-reader.ts';
import { describeType, type Frame } from './frames.ts';
import type { MessageWriter } from './message-writer.ts';

/** Formats: 0 text, 1 binary; other numbers are for the server to reject. */
export type FrontendMessage =
  | { readonly kind: 'query'; readonly sql: string }
  /** A parameter type 0 is left to the server. */
  | {
      readonly kind: 'parse';
      readonly statement: string;
      readonly sql: string;
      readonly parameterTypes: readonly number[];
    }
  /** No format: all text. One format: for all. Else as many as there are values. */
  | {
      readonly kind: 'bind';
      readonly portal: string;
      readonly statement: string;
      readonly parameterFormats: readonly number[];
      readonly values: readonly (Uint8Array | null)[];
      readonly resultFormats: readonly number[];
    }
  | { readonly kind: 'describe'; readonly target: Target; readonly name: string }
  /** At most `rowsMax` rows; 0 and below: all. */
  | { readonly kind: 'execute'; readonly portal: string; readonly rowsMax: number }
  | { readonly kind: 'close'; readonly target: Target; readonly name: string }
  | { readonly kind: 'flush' }
  | { readonly kind: 'sync' }
  | { readonly kind: 'terminate' }
  /** PasswordMessage, SASLInitialResponse, SASLResponse: the same type byte; what is in it depends on what the server asked for. */
  | { readonly kind: 'authentication-response'; readonly data: Uint8Array }
  | { readonly kind: 'copy-data'; readonly data: Uint8Array }
  | { readonly kind: 'copy-done' }
  | { readonly kind: 'copy-fail'; readonly reason: string }
  | {
      readonly kind: 'function-call';
      readonly functionOid: number;
      readonly argumentFormats: readonly number[];
      readonly values: readonly (Uint8Array | null)[];
      readonly resultFormat: number;
    };

export type Target = 'statement' | 'portal';

interface Codec<Message> {
  readonly type: string;
  readonly encode: (writer: MessageWriter, message: Message) => void;
  readonly decode: (reader: BodyReader) => Omit<Message, 'kind'>;
}

const empty = { encode: () => undefined, decode: () => ({}) };

const codecs: { readonly [K in FrontendMessage['kind']]: Codec<Extract<FrontendMessage, { readonly kind: K }>> } = {
  query: {
    type: 'Q',
    encode: (writer, { sql }) => writer.cstring(sql),
    decode: (reader) => ({ sql: reader.cstring() }),
  },
  parse: {
    type: 'P',
    encode: (writer, { statement, sql, parameterTypes }) => {
      writer.cstring(statement);
      writer.cstring(sql);
      writer.uint16(parameterTypes.length);
      for (const oid of parameterTypes) writer.uint32(oid);
    },
    decode: (reader) => ({
      statement: reader.cstring(),
      sql: reader.cstring(),
      parameterTypes: reader.list(reader.uint16(), () => reader.uint32()),
    }),
  },
  bind: {
    type: 'B',
    encode: (writer, message) => {
      writer.cstring(message.portal);
      writer.cstring(message.statement);
      encodeFormats(writer, message.parameterFormats);
      encodeValues(writer, message.values);
      encodeFormats(writer, message.resultFormats);
    },
    decode: (reader) => ({
      portal: reader.cstring(),
      statement: reader.cstring(),
      parameterFormats: decodeFormats(reader),
      values: decodeValues(reader),
      resultFormats: decodeFormats(reader),
    }),
  },
  describe: { type: 'D', encode: encodeTarget, decode: decodeTarget },
  execute: {
    type: 'E',
    encode: (writer, { portal, rowsMax }) => {
      writer.cstring(portal);
      writer.int32(rowsMax);
    },
    decode: (reader) => ({ portal: reader.cstring(), rowsMax: reader.int32() }),
  },
  close: { type: 'C', encode: encodeTarget, decode: decodeTarget },
  flush: { type: 'H', ...empty },
  sync: { type: 'S', ...empty },
  terminate: { type: 'X', ...empty },
  'authentication-response': {
    type: 'p',
    encode: (writer, { data }) => writer.bytes(data),
    decode: (reader) => ({ data: reader.rest() }),
  },
  'copy-data': {
    type: 'd',
    encode: (writer, { data }) => writer.bytes(data),
    decode: (reader) => ({ data: reader.rest() }),
  },
  'copy-done': { type: 'c', ...empty },
  'copy-fail': {
    type: 'f',
    encode: (writer, { reason }) => writer.cstring(reason),
    decode: (reader) => ({ reason: reader.cstring() }),
  },
  'function-call': {
    type: 'F',
    encode: (writer, message) => {
      writer.uint32(message.functionOid);
      encodeFormats(writer, message.argumentFormats);
      encodeValues(writer, message.values);
      writer.uint16(message.resultFormat);
    },
    decode: (reader) => ({
      functionOid: reader.uint32(),
      argumentFormats: decodeFormats(reader),
      values: decodeValues(reader),
      resultFormat: reader.uint16(),
    }),
  },
};

const kindOfType = new Map(
  Object.entries(codecs).map(([kind, { type }]) => [type.charCodeAt(0), kind as FrontendMessage['kind']]),
);

/** Which message has this type byte; `undefined`: none, and the stream cannot be trusted any more. */
export function frontendKind(type: number): FrontendMessage['kind'] | undefined {
  return kindOfType.get(type);
}

/** The message's bytes and text are views of the frame or copies. @throws WireError */
export function decodeFrontend(frame: Frame): FrontendMessage {
  const kind = kindOfType.get(frame.type);
  if (kind === undefined) throw new WireError('malformed', `an unknown message type ${describeType(frame.type)}`);
  const reader = new BodyReader(frame.body);
  const message = { kind, ...codecs[kind].decode(reader) } as FrontendMessage;
  reader.end();
  return message;
}

/** @throws WireError a text has a zero character, a list has over 65,535 items */
export function encodeFrontend(writer: MessageWriter, message: FrontendMessage): void {
  const codec = codecs[message.kind] as Codec<FrontendMessage>;
  writer.begin(codec.type.charCodeAt(0));
  codec.encode(writer, message);
  writer.end();
}

function encodeFormats(writer: MessageWriter, formats: readonly number[]): void {
  writer.uint16(formats.length);
  for (const format of formats) writer.uint16(format);
}

function decodeFormats(reader: BodyReader): number[] {
  return reader.list(reader.uint16(), () => reader.uint16());
}

function encodeValues(writer: MessageWriter, values: readonly (Uint8Array | null)[]): void {
  writer.uint16(values.length);
  for (const value of values) writer.value(value);
}

function decodeValues(reader: BodyReader): (Uint8Array | null)[] {
  return reader.list(reader.uint16(), () => reader.value());
}

function encodeTarget(writer: MessageWriter, message: { readonly target: Target; readonly name: string }): void {
  writer.uint8((message.target === 'statement' ? 'S' : 'P').charCodeAt(0));
  writer.cstring(message.name);
}

function decodeTarget(reader: BodyReader): { target: Target; name: string } {
  const letter = reader.uint8();
  if (letter !== 0x53 && letter !== 0x50)
    throw new WireError('malformed', `${describeType(letter)} is neither 'S' nor 'P'`);
  return { target: letter === 0x53 ? 'statement' : 'portal', name: reader.cstring() };
}
