/**
 * The client's view of an answer. Packets of the command phase do not say what they are: that depends on the command and on the packets
 * before. MySQL Internals, "Command Response". For clients, and for proxies that listen to both sides.
 */
import { WireError } from '../index.ts';
import type { BinaryValue } from './binary-value.ts';
import { utf8 } from './bytes.ts';
import { decodeColumnDefinition, type ColumnDefinition } from './column-definition.ts';
import type { Command } from './command.ts';
import { capabilities, has, serverStatus } from './constants.ts';
import { decodeAuthMoreData, decodeAuthSwitch, type AuthSwitch } from './handshake.ts';
import {
  decodeColumnCount,
  decodeEof,
  decodeError,
  decodeOk,
  decodePrepareOk,
  type EofPacket,
  type ErrorPacket,
  type OkPacket,
  type PrepareOk,
} from './response.ts';
import { binaryTypeOf, decodeBinaryRow, decodeTextRow } from './row.ts';

export type ServerMessage =
  | { readonly kind: 'ok'; readonly ok: OkPacket }
  | { readonly kind: 'error'; readonly error: ErrorPacket }
  | { readonly kind: 'prepared'; readonly prepared: PrepareOk }
  | { readonly kind: 'column-count'; readonly count: number }
  | { readonly kind: 'column'; readonly column: ColumnDefinition }
  /** After definitions, where the client does not know `deprecateEof`. */
  | { readonly kind: 'columns-end'; readonly eof: EofPacket }
  | { readonly kind: 'text-row'; readonly values: readonly (Uint8Array | null)[] }
  | { readonly kind: 'binary-row'; readonly values: readonly BinaryValue[] }
  | { readonly kind: 'rows-end'; readonly eof: EofPacket }
  | { readonly kind: 'statistics'; readonly text: string }
  /** The client sends a file, then an empty packet; then the server says OK. */
  | { readonly kind: 'local-infile'; readonly file: string }
  | { readonly kind: 'auth-switch'; readonly request: AuthSwitch }
  | { readonly kind: 'auth-more-data'; readonly data: Uint8Array };

type State = 'start' | 'login' | 'parameters' | 'columns' | 'columns-end' | 'rows' | 'field-list' | 'done';

const silent: ReadonlySet<Command['kind']> = new Set(['quit', 'stmt-close', 'stmt-send-long-data']);

/** Of the answer to one command, or with `null` to a handshake response. */
export class ResponseReader {
  readonly #command: Command | null;
  readonly #flags: number;
  #state: State;
  #left = 0;
  /** COM_STMT_PREPARE: of columns, which come after the parameters. */
  #columnsLater = 0;
  #isPrepare = false;
  #columns: ColumnDefinition[] = [];

  /** @param columns COM_STMT_FETCH: the columns of its statement, as the execution gave them */
  constructor(command: Command | null, flags: number, columns: readonly ColumnDefinition[] = []) {
    this.#command = command;
    this.#flags = flags;
    this.#state = initialState(command);
    this.#columns = [...columns];
  }

  /** Is there nothing more to come? */
  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** The next packet of the answer. @throws WireError also when nothing should come */
  next(payload: Uint8Array): ServerMessage {
    if (payload.length === 0 && this.#state !== 'rows') throw new WireError('malformed', 'an answer without a byte');
    if (payload[0] === 0xff && this.#state !== 'done') {
      this.#state = 'done';
      return { kind: 'error', error: decodeError(payload) };
    }
    switch (this.#state) {
      case 'start':
        return this.#start(payload);
      case 'login':
        return this.#login(payload);
      case 'parameters':
      case 'columns':
        return this.#definition(payload);
      case 'columns-end':
        return this.#definitionsEnd(payload);
      case 'field-list':
        if (isEof(payload)) return this.#rowsEnd(payload);
        return { kind: 'column', column: decodeColumnDefinition(payload, 'field-list') };
      case 'rows':
        return this.#row(payload);
      case 'done':
        throw new WireError('malformed', 'a packet after the end of an answer');
    }
  }

  #start(payload: Uint8Array): ServerMessage {
    if (this.#command?.kind === 'statistics') {
      this.#state = 'done';
      return { kind: 'statistics', text: utf8(payload) };
    }
    if (this.#command?.kind === 'stmt-prepare') return this.#prepared(payload);
    if (payload[0] === 0x00) return this.#ok(payload);
    if (payload[0] === 0xfb) return { kind: 'local-infile', file: utf8(payload.subarray(1)) };
    const count = decodeColumnCount(payload);
    this.#columns = [];
    this.#left = count;
    this.#state = 'columns';
    return { kind: 'column-count', count };
  }

  #ok(payload: Uint8Array): ServerMessage {
    const ok = decodeOk(payload, this.#flags);
    this.#endOfResult(ok.status);
    return { kind: 'ok', ok };
  }

  #login(payload: Uint8Array): ServerMessage {
    if (payload[0] === 0x00) return this.#ok(payload);
    if (payload[0] === 0x01) return { kind: 'auth-more-data', data: decodeAuthMoreData(payload) };
    return { kind: 'auth-switch', request: decodeAuthSwitch(payload) };
  }

  #prepared(payload: Uint8Array): ServerMessage {
    const prepared = decodePrepareOk(payload);
    this.#isPrepare = true;
    this.#columnsLater = prepared.columns;
    this.#left = prepared.parameters;
    this.#state = 'parameters';
    if (this.#left === 0) this.#nextDefinitions();
    return { kind: 'prepared', prepared };
  }

  #definition(payload: Uint8Array): ServerMessage {
    const column = decodeColumnDefinition(payload);
    if (this.#state === 'columns') this.#columns.push(column);
    this.#left -= 1;
    if (this.#left === 0) {
      if (has(this.#flags, capabilities.deprecateEof)) this.#nextDefinitions();
      else this.#state = 'columns-end';
    }
    return { kind: 'column', column };
  }

  #definitionsEnd(payload: Uint8Array): ServerMessage {
    const eof = decodeEof(payload);
    this.#nextDefinitions();
    return { kind: 'columns-end', eof };
  }

  /** After definitions: others, rows, or nothing. */
  #nextDefinitions(): void {
    this.#left = this.#columnsLater;
    this.#columnsLater = 0;
    if (this.#left > 0) this.#state = 'columns';
    else this.#state = this.#isPrepare ? 'done' : 'rows';
  }

  #row(payload: Uint8Array): ServerMessage {
    if (this.#isEndOfRows(payload)) return this.#rowsEnd(payload);
    const isBinary = this.#command?.kind === 'stmt-execute' || this.#command?.kind === 'stmt-fetch';
    if (isBinary) return { kind: 'binary-row', values: decodeBinaryRow(payload, this.#columns.map(binaryTypeOf)) };
    return { kind: 'text-row', values: decodeTextRow(payload, this.#columns.length) };
  }

  /** A row may begin with 254, too, when its first text is longer than 16 MiB. */
  #isEndOfRows(payload: Uint8Array): boolean {
    return has(this.#flags, capabilities.deprecateEof)
      ? payload[0] === 0xfe && payload.length < 0xff_ffff
      : isEof(payload);
  }

  #rowsEnd(payload: Uint8Array): ServerMessage {
    const eof = isEof(payload) && payload.length === 5 ? decodeEof(payload) : decodeOk(payload, this.#flags);
    this.#endOfResult(eof.status);
    return { kind: 'rows-end', eof: { warnings: eof.warnings, status: eof.status } };
  }

  #endOfResult(status: number): void {
    this.#state = has(status, serverStatus.moreResultsExist) ? 'start' : 'done';
  }
}

function initialState(command: Command | null): State {
  if (command === null || command.kind === 'change-user') return 'login';
  if (silent.has(command.kind)) return 'done';
  if (command.kind === 'field-list') return 'field-list';
  return command.kind === 'stmt-fetch' ? 'rows' : 'start';
}

function isEof(payload: Uint8Array): boolean {
  return payload[0] === 0xfe && payload.length < 9;
}
