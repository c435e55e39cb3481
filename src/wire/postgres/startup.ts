/** The packets that open a connection. Manual, "Message Formats": StartupMessage, SSLRequest, GSSENCRequest, CancelRequest. */
import { WireError } from '../index.ts';
import { BodyReader } from './body-reader.ts';
import type { MessageWriter } from './message-writer.ts';

export type StartupPacket =
  /** Parameters are empty when the major version is not 3: what older clients send looks different. */
  | {
      readonly kind: 'startup';
      readonly major: number;
      readonly minor: number;
      readonly parameters: ReadonlyMap<string, string>;
    }
  | { readonly kind: 'ssl-request' }
  | { readonly kind: 'gssenc-request' }
  /** The secret has 4 bytes in protocol 3.0, up to 256 from 3.2 on. */
  | { readonly kind: 'cancel-request'; readonly processId: number; readonly secret: Uint8Array };

/** Numbers in the place of a version that no version will have. */
const requestMajor = 1234;
const requestMinor = { cancel: 5678, ssl: 5679, gssenc: 5680 };
const secretBytesMax = 256;

/** @param body of a frame taken by `takeStartup` @throws WireError */
export function decodeStartup(body: Buffer): StartupPacket {
  const reader = new BodyReader(body);
  const major = reader.uint16();
  const minor = reader.uint16();
  const packet = major === requestMajor ? decodeRequest(reader, minor) : decodeParameters(reader, major, minor);
  reader.end();
  return packet;
}

export function encodeStartup(writer: MessageWriter, packet: StartupPacket): void {
  writer.beginUntyped();
  switch (packet.kind) {
    case 'startup':
      encodeVersion(writer, packet.major, packet.minor);
      for (const [name, value] of packet.parameters) {
        writer.cstring(name);
        writer.cstring(value);
      }
      writer.uint8(0);
      break;
    case 'ssl-request':
      encodeVersion(writer, requestMajor, requestMinor.ssl);
      break;
    case 'gssenc-request':
      encodeVersion(writer, requestMajor, requestMinor.gssenc);
      break;
    case 'cancel-request':
      encodeVersion(writer, requestMajor, requestMinor.cancel);
      writer.int32(packet.processId);
      writer.bytes(packet.secret);
      break;
  }
  writer.end();
}

function encodeVersion(writer: MessageWriter, major: number, minor: number): void {
  writer.uint16(major);
  writer.uint16(minor);
}

function decodeRequest(reader: BodyReader, minor: number): StartupPacket {
  if (minor === requestMinor.ssl) return { kind: 'ssl-request' };
  if (minor === requestMinor.gssenc) return { kind: 'gssenc-request' };
  if (minor !== requestMinor.cancel) throw new WireError('malformed', `an unknown start-up request ${minor}`);
  const processId = reader.int32();
  const secret = reader.rest();
  if (secret.length < 4 || secret.length > secretBytesMax) {
    throw new WireError('malformed', `a cancel request with a key of ${secret.length} bytes`);
  }
  return { kind: 'cancel-request', processId, secret };
}

function decodeParameters(reader: BodyReader, major: number, minor: number): StartupPacket {
  const parameters = new Map<string, string>();
  if (major !== 3) {
    reader.rest();
    return { kind: 'startup', major, minor, parameters };
  }
  for (let name = reader.cstring(); name !== ''; name = reader.cstring()) parameters.set(name, reader.cstring());
  return { kind: 'startup', major, minor, parameters };
}
