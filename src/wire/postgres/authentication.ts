/** What servers ask for before a session opens, and what is in the answers. Manual, "Message Formats": Authentication..., SASL... */
import { createHash } from 'node:crypto';
import { WireError } from '../index.ts';
import { BodyReader } from './body-reader.ts';
import { MessageWriter } from './message-writer.ts';

export type AuthenticationRequest =
  | { readonly method: 'ok' }
  | { readonly method: 'cleartext' }
  /** `salt`: 4 bytes. */
  | { readonly method: 'md5'; readonly salt: Uint8Array }
  | { readonly method: 'sasl'; readonly mechanisms: readonly string[] }
  | { readonly method: 'sasl-continue'; readonly data: Uint8Array }
  | { readonly method: 'sasl-final'; readonly data: Uint8Array }
  /** Kerberos, GSSAPI, SSPI: by number. */
  | { readonly method: 'other'; readonly number: number; readonly data: Uint8Array };

const numbers = { ok: 0, cleartext: 3, md5: 5, sasl: 10, 'sasl-continue': 11, 'sasl-final': 12 } as const;

export function encodeAuthentication(writer: MessageWriter, request: AuthenticationRequest): void {
  writer.int32(request.method === 'other' ? request.number : numbers[request.method]);
  switch (request.method) {
    case 'ok':
    case 'cleartext':
      break;
    case 'md5':
      writer.bytes(request.salt);
      break;
    case 'sasl':
      for (const mechanism of request.mechanisms) writer.cstring(mechanism);
      writer.uint8(0);
      break;
    case 'sasl-continue':
    case 'sasl-final':
    case 'other':
      writer.bytes(request.data);
      break;
  }
}

export function decodeAuthentication(reader: BodyReader): AuthenticationRequest {
  const number = reader.int32();
  switch (number) {
    case numbers.ok:
      return { method: 'ok' };
    case numbers.cleartext:
      return { method: 'cleartext' };
    case numbers.md5:
      return { method: 'md5', salt: reader.bytes(4) };
    case numbers.sasl:
      return { method: 'sasl', mechanisms: decodeMechanisms(reader) };
    case numbers['sasl-continue']:
      return { method: 'sasl-continue', data: reader.rest() };
    case numbers['sasl-final']:
      return { method: 'sasl-final', data: reader.rest() };
    default:
      return { method: 'other', number, data: reader.rest() };
  }
}

function decodeMechanisms(reader: BodyReader): string[] {
  const mechanisms: string[] = [];
  for (let name = reader.cstring(); name !== ''; name = reader.cstring()) mechanisms.push(name);
  return mechanisms;
}

/** PasswordMessage: the password, or its MD5 hash. */
export function encodePassword(password: string): Uint8Array {
  const writer = new MessageWriter();
  writer.cstring(password);
  return writer.take();
}

/** @throws WireError */
export function decodePassword(data: Uint8Array): string {
  const reader = readerOf(data);
  const password = reader.cstring();
  reader.end();
  return password;
}

export interface SaslInitialResponse {
  readonly mechanism: string;
  /** The client's first message; `null`: none yet. */
  readonly data: Uint8Array | null;
}

export function encodeSaslInitialResponse(response: SaslInitialResponse): Uint8Array {
  const writer = new MessageWriter();
  writer.cstring(response.mechanism);
  writer.value(response.data);
  return writer.take();
}

/** @throws WireError */
export function decodeSaslInitialResponse(data: Uint8Array): SaslInitialResponse {
  const reader = readerOf(data);
  const response = { mechanism: reader.cstring(), data: reader.value() };
  reader.end();
  return response;
}

/** What a client answers to the `md5` request. Manual, "Password Authentication". */
export function md5Password(password: string, user: string, salt: Uint8Array): string {
  const inner = createHash('md5').update(`${password}${user}`).digest('hex');
  return `md5${createHash('md5').update(inner).update(salt).digest('hex')}`;
}

function readerOf(data: Uint8Array): BodyReader {
  if (data.length === 0) throw new WireError('malformed', 'an empty answer to an authentication request');
  return new BodyReader(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
}
