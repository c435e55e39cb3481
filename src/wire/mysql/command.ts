/** What a client asks for in the command phase: a byte for the command, then its parts. MySQL Internals, "Text Protocol" and "Utility Commands". */
import { WireError } from '../index.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import { capabilities, commandCode, has } from './constants.ts';
import { readAttributes, writeAttributes } from './handshake.ts';

/**
 * SQL is bytes: text, but drivers put raw bytes into `_binary'...'` literals. The parameters of `stmt-execute` can be read only with what
 * the server knows about the statement; `decodeExecution` does.
 */
export type Command =
  | { readonly kind: 'quit' }
  | { readonly kind: 'statistics' }
  | { readonly kind: 'ping' }
  | { readonly kind: 'reset-connection' }
  | { readonly kind: 'init-db'; readonly database: string }
  | { readonly kind: 'query'; readonly sql: Uint8Array }
  | { readonly kind: 'stmt-prepare'; readonly sql: Uint8Array }
  | { readonly kind: 'field-list'; readonly table: string; readonly wildcard: string }
  | { readonly kind: 'process-kill'; readonly connectionId: number }
  | ChangeUser
  | { readonly kind: 'stmt-execute'; readonly statementId: number; readonly body: Uint8Array }
  | LongData
  | { readonly kind: 'stmt-close'; readonly statementId: number }
  | { readonly kind: 'stmt-reset'; readonly statementId: number }
  | { readonly kind: 'stmt-fetch'; readonly statementId: number; readonly rows: number }
  | { readonly kind: 'set-option'; readonly option: number }
  | { readonly kind: 'unknown'; readonly code: number; readonly body: Uint8Array };

export interface ChangeUser {
  readonly kind: 'change-user';
  readonly user: string;
  readonly authResponse: Uint8Array;
  readonly database: string;
  /** `null`: not said. */
  readonly characterSet: number | null;
  /** `''`: not named. */
  readonly authPlugin: string;
  readonly attributes: ReadonlyMap<string, string>;
}

export interface LongData {
  readonly kind: 'stmt-send-long-data';
  readonly statementId: number;
  readonly parameter: number;
  readonly data: Uint8Array;
}

/** MYSQL_OPTION_MULTI_STATEMENTS_*, of COM_SET_OPTION. */
export const multiStatementsOption = { on: 0, off: 1 } as const;

/** `flags`: the capabilities that both sides have. @throws WireError */
export function decodeCommand(payload: Uint8Array, flags: number): Command {
  if (payload.length === 0) throw new WireError('malformed', 'a command without a byte');
  const reader = new ByteReader(payload);
  const code = reader.uint8();
  const command = decodeBody(code, reader, flags);
  reader.end();
  return command;
}

function decodeBody(code: number, reader: ByteReader, flags: number): Command {
  switch (code) {
    case commandCode.quit:
      return { kind: 'quit' };
    case commandCode.statistics:
      return { kind: 'statistics' };
    case commandCode.ping:
      return { kind: 'ping' };
    case commandCode.resetConnection:
      return { kind: 'reset-connection' };
    case commandCode.initDb:
      return { kind: 'init-db', database: Buffer.from(reader.rest()).toString() };
    case commandCode.query:
      return { kind: 'query', sql: reader.rest() };
    case commandCode.stmtPrepare:
      return { kind: 'stmt-prepare', sql: reader.rest() };
    case commandCode.fieldList:
      return { kind: 'field-list', table: reader.zeroEndedText(), wildcard: Buffer.from(reader.rest()).toString() };
    case commandCode.processKill:
      return { kind: 'process-kill', connectionId: reader.uint32() };
    case commandCode.setOption:
      return { kind: 'set-option', option: reader.uint16() };
    case commandCode.changeUser:
      return decodeChangeUser(reader, flags);
    default:
      return decodeStatementCommand(code, reader);
  }
}

function decodeStatementCommand(code: number, reader: ByteReader): Command {
  switch (code) {
    case commandCode.stmtExecute:
      return { kind: 'stmt-execute', statementId: reader.uint32(), body: reader.rest() };
    case commandCode.stmtSendLongData:
      return {
        kind: 'stmt-send-long-data',
        statementId: reader.uint32(),
        parameter: reader.uint16(),
        data: reader.rest(),
      };
    case commandCode.stmtClose:
      return { kind: 'stmt-close', statementId: reader.uint32() };
    case commandCode.stmtReset:
      return { kind: 'stmt-reset', statementId: reader.uint32() };
    case commandCode.stmtFetch:
      return { kind: 'stmt-fetch', statementId: reader.uint32(), rows: reader.uint32() };
    default:
      return { kind: 'unknown', code, body: reader.rest() };
  }
}

function decodeChangeUser(reader: ByteReader, flags: number): ChangeUser {
  const user = reader.zeroEndedText();
  const authResponse = has(flags, capabilities.secureConnection)
    ? reader.bytes(reader.uint8())
    : reader.zeroEndedBytes();
  const database = reader.zeroOrPayloadEndedText();
  const characterSet = reader.left >= 2 ? reader.uint16() : null;
  const authPlugin = has(flags, capabilities.pluginAuth) && reader.left > 0 ? reader.zeroOrPayloadEndedText() : '';
  const attributes = new Map<string, string>();
  if (has(flags, capabilities.connectAttributes) && reader.left > 0)
    for (const [name, value] of readAttributes(reader)) attributes.set(name, value);
  return { kind: 'change-user', user, authResponse, database, characterSet, authPlugin, attributes };
}

export function encodeCommand(command: Command, flags: number): Uint8Array {
  const writer = new ByteWriter();
  switch (command.kind) {
    case 'quit':
      return writer.uint8(commandCode.quit).finish();
    case 'statistics':
      return writer.uint8(commandCode.statistics).finish();
    case 'ping':
      return writer.uint8(commandCode.ping).finish();
    case 'reset-connection':
      return writer.uint8(commandCode.resetConnection).finish();
    case 'init-db':
      return writer.uint8(commandCode.initDb).text(command.database).finish();
    case 'query':
      return writer.uint8(commandCode.query).bytes(command.sql).finish();
    case 'stmt-prepare':
      return writer.uint8(commandCode.stmtPrepare).bytes(command.sql).finish();
    case 'field-list':
      return writer.uint8(commandCode.fieldList).zeroEndedText(command.table).text(command.wildcard).finish();
    case 'process-kill':
      return writer.uint8(commandCode.processKill).uint32(command.connectionId).finish();
    case 'set-option':
      return writer.uint8(commandCode.setOption).uint16(command.option).finish();
    case 'change-user':
      return encodeChangeUser(command, flags);
    case 'unknown':
      return writer.uint8(command.code).bytes(command.body).finish();
    default:
      return encodeStatementCommand(command);
  }
}

type StatementCommand = Extract<Command, { readonly statementId: number }>;

function encodeStatementCommand(command: StatementCommand): Uint8Array {
  const writer = new ByteWriter();
  switch (command.kind) {
    case 'stmt-execute':
      return writer.uint8(commandCode.stmtExecute).uint32(command.statementId).bytes(command.body).finish();
    case 'stmt-send-long-data':
      writer.uint8(commandCode.stmtSendLongData).uint32(command.statementId);
      return writer.uint16(command.parameter).bytes(command.data).finish();
    case 'stmt-close':
      return writer.uint8(commandCode.stmtClose).uint32(command.statementId).finish();
    case 'stmt-reset':
      return writer.uint8(commandCode.stmtReset).uint32(command.statementId).finish();
    case 'stmt-fetch':
      return writer.uint8(commandCode.stmtFetch).uint32(command.statementId).uint32(command.rows).finish();
  }
}

function encodeChangeUser(command: ChangeUser, flags: number): Uint8Array {
  const writer = new ByteWriter().uint8(commandCode.changeUser).zeroEndedText(command.user);
  if (has(flags, capabilities.secureConnection)) writer.uint8(command.authResponse.length).bytes(command.authResponse);
  else writer.bytes(command.authResponse).uint8(0);
  writer.zeroEndedText(command.database);
  if (command.characterSet === null) return writer.finish();
  writer.uint16(command.characterSet);
  if (has(flags, capabilities.pluginAuth)) writer.zeroEndedText(command.authPlugin);
  if (has(flags, capabilities.connectAttributes)) writeAttributes(writer, command.attributes);
  return writer.finish();
}
