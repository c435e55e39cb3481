/** The connection phase. MySQL Internals, "Connection Phase Packets"; both directions of each. */
import { WireError } from '../index.ts';
import { saltBytes } from './auth.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import { capabilities, has } from './constants.ts';

/** Protocol::HandshakeV10, the server's first words. */
export interface Handshake {
  readonly serverVersion: string;
  readonly connectionId: number;
  /** 20 bytes, none of them zero. */
  readonly salt: Uint8Array;
  readonly capabilities: number;
  readonly characterSet: number;
  readonly status: number;
  readonly authPlugin: string;
}

export function encodeHandshake(handshake: Handshake): Uint8Array {
  const writer = new ByteWriter().uint8(10).zeroEndedText(handshake.serverVersion).uint32(handshake.connectionId);
  writer.bytes(handshake.salt.subarray(0, 8)).uint8(0);
  writer
    .uint16(handshake.capabilities & 0xffff)
    .uint8(handshake.characterSet & 0xff)
    .uint16(handshake.status);
  writer.uint16(handshake.capabilities >>> 16);
  const hasPlugin = has(handshake.capabilities, capabilities.pluginAuth);
  writer.uint8(hasPlugin ? saltBytes + 1 : 0).zeros(10);
  writer.bytes(handshake.salt.subarray(8)).uint8(0);
  if (hasPlugin) writer.zeroEndedText(handshake.authPlugin);
  return writer.finish();
}

export function decodeHandshake(payload: Uint8Array): Handshake {
  const reader = new ByteReader(payload);
  const version = reader.uint8();
  if (version !== 10) throw new WireError('malformed', `handshake of version ${version}; only 10 is known`);
  const serverVersion = reader.zeroEndedText();
  const connectionId = reader.uint32();
  const saltStart = reader.bytes(8);
  reader.skip(1);
  const low = reader.uint16();
  const characterSet = reader.uint8();
  const status = reader.uint16();
  const all = ((reader.uint16() << 16) | low) >>> 0;
  const authDataBytes = reader.uint8();
  reader.skip(10);
  // The second part has at least 13 bytes; the last is a zero that no one counts.
  const saltRest = reader.bytes(Math.max(13, authDataBytes - 8)).subarray(0, saltBytes - 8);
  const authPlugin = has(all, capabilities.pluginAuth) ? reader.zeroOrPayloadEndedText() : '';
  const salt = Buffer.concat([saltStart, saltRest]);
  return { serverVersion, connectionId, salt, capabilities: all, characterSet, status, authPlugin };
}

/** Protocol::HandshakeResponse41. */
export interface HandshakeResponse {
  readonly capabilities: number;
  readonly packetBytesMax: number;
  readonly characterSet: number;
  readonly user: string;
  readonly authResponse: Uint8Array;
  /** `''`: none. */
  readonly database: string;
  /** `''`: not named. */
  readonly authPlugin: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** Protocol::SSLRequest has the beginning of a response and ends there. */
export function isSslRequest(payload: Uint8Array): boolean {
  return payload.length === 32 && has(new ByteReader(payload).uint32(), capabilities.ssl);
}

export function encodeHandshakeResponse(response: HandshakeResponse): Uint8Array {
  const flags = response.capabilities;
  const writer = new ByteWriter().uint32(flags >>> 0).uint32(response.packetBytesMax);
  writer
    .uint8(response.characterSet & 0xff)
    .zeros(23)
    .zeroEndedText(response.user);
  writeAuthResponse(writer, response.authResponse, flags);
  if (has(flags, capabilities.connectWithDb)) writer.zeroEndedText(response.database);
  if (has(flags, capabilities.pluginAuth)) writer.zeroEndedText(response.authPlugin);
  if (has(flags, capabilities.connectAttributes)) writeAttributes(writer, response.attributes);
  return writer.finish();
}

/** @throws WireError also for clients older than MySQL 4.1 */
export function decodeHandshakeResponse(payload: Uint8Array): HandshakeResponse {
  const reader = new ByteReader(payload);
  const flags = reader.uint32();
  if (!has(flags, capabilities.protocol41)) throw new WireError('malformed', 'the client does not speak protocol 4.1');
  const packetBytesMax = reader.uint32();
  const characterSet = reader.uint8();
  reader.skip(23);
  const user = reader.zeroEndedText();
  const authResponse = readAuthResponse(reader, flags);
  const database = has(flags, capabilities.connectWithDb) && reader.left > 0 ? reader.zeroOrPayloadEndedText() : '';
  const authPlugin = has(flags, capabilities.pluginAuth) && reader.left > 0 ? reader.zeroOrPayloadEndedText() : '';
  const attributes =
    has(flags, capabilities.connectAttributes) && reader.left > 0 ? readAttributes(reader) : new Map<string, string>();
  // Newer clients may add a compression level; nothing that is asked for here.
  return { capabilities: flags, packetBytesMax, characterSet, user, authResponse, database, authPlugin, attributes };
}

function writeAuthResponse(writer: ByteWriter, response: Uint8Array, flags: number): void {
  if (has(flags, capabilities.pluginAuthLengthEncoded)) writer.lengthEncodedBytes(response);
  else if (has(flags, capabilities.secureConnection)) writer.uint8(response.length).bytes(response);
  else writer.bytes(response).uint8(0);
}

function readAuthResponse(reader: ByteReader, flags: number): Uint8Array {
  if (has(flags, capabilities.pluginAuthLengthEncoded)) return reader.lengthEncodedBytes();
  if (has(flags, capabilities.secureConnection)) return reader.bytes(reader.uint8());
  return reader.zeroEndedBytes();
}

export function writeAttributes(writer: ByteWriter, attributes: ReadonlyMap<string, string>): void {
  const pairs = new ByteWriter();
  for (const [name, value] of attributes) pairs.lengthEncodedText(name).lengthEncodedText(value);
  writer.lengthEncodedBytes(pairs.finish());
}

export function readAttributes(reader: ByteReader): Map<string, string> {
  const pairs = new ByteReader(reader.lengthEncodedBytes());
  const attributes = new Map<string, string>();
  while (pairs.left > 0) attributes.set(pairs.lengthEncodedText(), pairs.lengthEncodedText());
  return attributes;
}

/** Protocol::AuthSwitchRequest, and Protocol::AuthMoreData of any plug-in. */
export interface AuthSwitch {
  readonly authPlugin: string;
  readonly data: Uint8Array;
}

export function encodeAuthSwitch({ authPlugin, data }: AuthSwitch): Uint8Array {
  return new ByteWriter().uint8(0xfe).zeroEndedText(authPlugin).bytes(data).uint8(0).finish();
}

export function decodeAuthSwitch(payload: Uint8Array): AuthSwitch {
  const reader = new ByteReader(payload);
  expectFirst(reader, 0xfe);
  const authPlugin = reader.zeroEndedText();
  const data = reader.rest();
  return { authPlugin, data: data.at(-1) === 0 ? data.subarray(0, -1) : data };
}

export function encodeAuthMoreData(data: Uint8Array): Uint8Array {
  return new ByteWriter().uint8(0x01).bytes(data).finish();
}

export function decodeAuthMoreData(payload: Uint8Array): Uint8Array {
  const reader = new ByteReader(payload);
  expectFirst(reader, 0x01);
  return reader.rest();
}

/** caching_sha2_password: the proof was enough; an OK packet follows. */
export const fastAuthSuccess = encodeAuthMoreData(Uint8Array.of(3));

function expectFirst(reader: ByteReader, expected: number): void {
  const first = reader.uint8();
  if (first !== expected) throw new WireError('malformed', `a packet begins with ${first}, not ${expected}`);
}
