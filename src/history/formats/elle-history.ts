/**
 * From Jepsen's events (invocations and completions) to a history, for the EDN and the JSON form alike. jepsen-io/history: README.md.
 *
 * `ok` is committed, `fail` aborted; `info`, and an invocation that nothing completes, is of unknown fate. What such a transaction read is not
 * known, although its invocation has reads with the value nil, which elsewhere means the initial state: only its writes count. Times are the
 * positions of the events, as Elle orders them, not `:time`; a completion without invocation has none. A process is a session; an event without
 * one is a session by itself. What is no client, such as the nemesis, is passed over.
 */
import { InputError, type Place } from '../../base/index.ts';
import { CompactHistoryBuilder } from '../compact-builder.ts';
import type { CompactHistory } from '../compact-history.ts';
import type { Status } from '../history.ts';
import { canonicalText, type Value } from '../value.ts';

export interface MicroOperation {
  readonly kind: 'append' | 'r' | 'w';
  readonly key: ElleKey;
  /** `undefined`: there is none. */
  readonly value: Value | undefined;
}

/** Equal texts of different types are different keys. */
export interface ElleKey {
  readonly type: string;
  readonly text: string;
}

export interface ElleEvent {
  readonly type: string;
  /** `undefined`: it has none. */
  readonly process: string | undefined;
  readonly operations: readonly MicroOperation[];
  readonly place: Place;
}

interface Pending {
  readonly event: ElleEvent;
  readonly position: number;
}

const statusOf: Readonly<Record<string, Status>> = { ok: 'committed', fail: 'aborted', info: 'unknown' };

export class ElleHistory {
  readonly #builder = new CompactHistoryBuilder();
  readonly #pending = new Map<string, Pending>();
  /** By type, by text: the ID of the key. */
  readonly #keys = new Map<string, Map<string, number>>();
  readonly #sessions = new Map<string, number>();
  readonly #keyTypes = new Map<string, string>();
  #position = 0;

  /** @throws InputError `history/field` */
  event(event: ElleEvent): void {
    const { type, process, place } = event;
    const position = this.#position;
    this.#position += 1;
    const pending = process === undefined ? undefined : this.#pending.get(process);
    if (type === 'invoke') {
      if (pending !== undefined)
        throw new InputError('history/field', `process ${process} invokes before its operation has ended`, place);
      this.#pending.set(process ?? `at ${position}`, { event, position });
      return;
    }
    const status = Object.hasOwn(statusOf, type) ? statusOf[type] : undefined;
    if (status === undefined)
      throw new InputError('history/field', `a type is invoke, ok, fail or info, not ${JSON.stringify(type)}`, place);
    if (process !== undefined) this.#pending.delete(process);
    this.#add(status === 'committed' || pending === undefined ? event : pending.event, status, position, pending);
  }

  finish(): CompactHistory {
    for (const pending of this.#pending.values()) this.#add(pending.event, 'unknown', this.#position, pending);
    return this.#builder.finish();
  }

  #add({ operations, process, place }: ElleEvent, status: Status, position: number, pending?: Pending): void {
    for (const operation of operations) this.#operation(operation, status, place);
    const times =
      pending === undefined ? {} : { start: pending.position, ...(status === 'unknown' ? {} : { end: position }) };
    const session =
      process === undefined ? this.#builder.session(`at ${pending?.position ?? position}`) : this.#session(process);
    this.#builder.endTransaction(session, { status, ...times, line: place.line });
  }

  #operation({ kind, key: name, value }: MicroOperation, status: Status, place: Place): void {
    // A read without a value says nothing, and `nil` says so only of what has ended well.
    if (kind === 'r' && (value === undefined || status !== 'committed')) return;
    if (value === undefined) throw new InputError('history/field', `${kind} without a value`, place);
    const key = this.#key(name);
    if (kind === 'append') this.#builder.append(key, this.#builder.value(key, value));
    else if (kind === 'w') this.#builder.write(key, this.#builder.value(key, value));
    else if (isEmpty(value)) this.#builder.read(key, this.#builder.nullValue(key));
    else if (isIntegers(value)) this.#builder.listRead(key, value);
    else this.#builder.read(key, this.#builder.value(key, value));
  }

  #key({ type, text }: ElleKey): number {
    let ofType = this.#keys.get(type);
    if (ofType === undefined) this.#keys.set(type, (ofType = new Map()));
    const known = ofType.get(text);
    if (known !== undefined) return known;
    const owner = this.#keyTypes.get(text) ?? type;
    this.#keyTypes.set(text, owner);
    const key = this.#builder.key(owner === type ? text : `${type} ${text}`);
    ofType.set(text, key);
    return key;
  }

  #session(name: string): number {
    const known = this.#sessions.get(name);
    if (known !== undefined) return known;
    const session = this.#builder.session(name);
    this.#sessions.set(name, session);
    return session;
  }
}

/** The empty list is what there is before the first append. */
function isEmpty(value: Value): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isIntegers(value: Value): value is readonly number[] {
  return Array.isArray(value) && value.every((element) => Number.isSafeInteger(element) && !Object.is(element, -0));
}

export function keyOfValue(value: Value): ElleKey {
  return typeof value === 'string' ? { type: 'text', text: value } : { type: typeof value, text: canonicalText(value) };
}

/** @throws InputError `history/field` */
export function microKind(name: string, place: Place): MicroOperation['kind'] {
  switch (name) {
    case 'append':
    case 'r':
    case 'w':
      return name;
    default:
      throw new InputError(
        'history/field',
        `operations of transactions are append, r and w; ${JSON.stringify(name)} is not supported`,
        place,
      );
  }
}
