/** What a server answers a command with. MySQL Internals, "Generic Response Packets" and "COM_STMT_PREPARE Response". */
import { WireError } from '../index.ts';
import { ByteReader, ByteWriter, utf8 } from './bytes.ts';
import { capabilities, has, serverStatus } from './constants.ts';

export interface OkPacket {
  readonly affectedRows: bigint;
  /** 64 bits: a negative one has the bits of its two's complement. */
  readonly insertId: bigint;
  /** SERVER_STATUS_*. */
  readonly status: number;
  readonly warnings: number;
  readonly info: string;
  /** What changed in the session, undecoded; only with the capability `sessionTrack` and its status flag. */
  readonly sessionState: Uint8Array;
}

/**
 * `end`: it ends the rows of a result, where the client has `deprecateEof`; then it begins as an EOF packet does. The manual has `info` go to
 * the end of the packet where there is no session tracking; servers send its length all the same, and client libraries read one.
 */
export function encodeOk(ok: OkPacket, flags: number, role: 'answer' | 'end' = 'answer'): Uint8Array {
  const writer = new ByteWriter().uint8(role === 'end' ? 0xfe : 0x00);
  writer
    .lengthEncoded(ok.affectedRows)
    .lengthEncoded(BigInt.asUintN(64, ok.insertId))
    .uint16(ok.status)
    .uint16(ok.warnings);
  const isChanged = hasSessionState(ok.status, flags);
  if (ok.info !== '' || isChanged) writer.lengthEncodedText(ok.info);
  if (isChanged) writer.lengthEncodedBytes(ok.sessionState);
  return writer.finish();
}

export function decodeOk(payload: Uint8Array, flags: number): OkPacket {
  const reader = new ByteReader(payload);
  const first = reader.uint8();
  if (first !== 0x00 && first !== 0xfe) throw new WireError('malformed', `an OK packet begins with ${first}`);
  const affectedRows = reader.lengthEncoded();
  const insertId = reader.lengthEncoded();
  const status = reader.uint16();
  const warnings = reader.uint16();
  const info = reader.left > 0 ? reader.lengthEncodedText() : '';
  const sessionState = hasSessionState(status, flags) ? reader.lengthEncodedBytes() : new Uint8Array();
  reader.end();
  return { affectedRows, insertId, status, warnings, info, sessionState };
}

function hasSessionState(status: number, flags: number): boolean {
  return has(flags, capabilities.sessionTrack) && has(status, serverStatus.sessionStateChanged);
}

export interface ErrorPacket {
  readonly number: number;
  /** SQLSTATE: five characters. */
  readonly state: string;
  readonly message: string;
}

export function encodeError({ number, state, message }: ErrorPacket): Uint8Array {
  return new ByteWriter().uint8(0xff).uint16(number).text('#').text(state).text(message).finish();
}

/** Before the handshake's answer servers leave the SQLSTATE out. */
export function decodeError(payload: Uint8Array): ErrorPacket {
  const reader = new ByteReader(payload);
  if (reader.uint8() !== 0xff) throw new WireError('malformed', 'an error packet does not begin with 255');
  const number = reader.uint16();
  if (reader.peek() !== 0x23) return { number, state: 'HY000', message: utf8(reader.rest()) };
  reader.skip(1);
  return { number, state: utf8(reader.bytes(5)), message: utf8(reader.rest()) };
}

export interface EofPacket {
  readonly warnings: number;
  readonly status: number;
}

export function encodeEof({ warnings, status }: EofPacket): Uint8Array {
  return new ByteWriter().uint8(0xfe).uint16(warnings).uint16(status).finish();
}

export function decodeEof(payload: Uint8Array): EofPacket {
  const reader = new ByteReader(payload);
  if (reader.uint8() !== 0xfe) throw new WireError('malformed', 'an EOF packet does not begin with 254');
  const eof = { warnings: reader.uint16(), status: reader.uint16() };
  reader.end();
  return eof;
}

export interface PrepareOk {
  readonly statementId: number;
  readonly columns: number;
  readonly parameters: number;
  readonly warnings: number;
}

export function encodePrepareOk({ statementId, columns, parameters, warnings }: PrepareOk): Uint8Array {
  const writer = new ByteWriter().uint8(0).uint32(statementId).uint16(columns).uint16(parameters);
  return writer.uint8(0).uint16(warnings).finish();
}

export function decodePrepareOk(payload: Uint8Array): PrepareOk {
  const reader = new ByteReader(payload);
  if (reader.uint8() !== 0) throw new WireError('malformed', 'the answer to a prepare does not begin with 0');
  const statementId = reader.uint32();
  const columns = reader.uint16();
  const parameters = reader.uint16();
  reader.skip(1);
  // A server may add whether column definitions follow, which is asked for by a capability that is never set here.
  return { statementId, columns, parameters, warnings: reader.left >= 2 ? reader.uint16() : 0 };
}

/** The first packet of a result with rows. */
export function encodeColumnCount(columns: number): Uint8Array {
  return new ByteWriter().lengthEncoded(columns).finish();
}

export function decodeColumnCount(payload: Uint8Array): number {
  const reader = new ByteReader(payload);
  const columns = Number(reader.lengthEncoded());
  reader.end();
  return columns;
}
